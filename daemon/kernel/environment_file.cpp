#include "kernel/environment_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

#include "kernel/files.hpp"

namespace mljobd::kernel {
namespace {

// Not isalpha: a key is not a matter of the locale.
bool is_letter(char letter) {
  return (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z') || letter == '_';
}
bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

bool is_key(std::string_view key) {
  return !key.empty() && !is_digit(key.front()) &&
         std::all_of(key.begin(), key.end(), [](char letter) { return is_letter(letter) || is_digit(letter); });
}

// What utf8_is_valid() of systemd takes as a character: no surrogates, no noncharacters.
bool is_character(std::uint32_t code) {
  const bool surrogate = (code & 0xFFFFF800U) == 0xD800U;
  const bool noncharacter = (code >= 0xFDD0U && code <= 0xFDEFU) || (code & 0xFFFEU) == 0xFFFEU;
  return code < 0x110000U && !surrogate && !noncharacter;
}

// The length of the character that `text` begins with; 0 if it is not one.
std::size_t character_length(std::string_view text) {
  const auto byte_at = [text](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const std::uint32_t first = byte_at(0);
  if (first < 0x80U) return 1;
  const std::size_t length = first < 0xC0U ? 0 : first < 0xE0U ? 2 : first < 0xF0U ? 3 : first < 0xF8U ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  std::uint32_t code = first & (0x7FU >> length);
  for (std::size_t index = 1; index < length; ++index) {
    if ((byte_at(index) & 0xC0U) != 0x80U) return 0;
    code = (code << 6U) | (byte_at(index) & 0x3FU);
  }
  constexpr std::uint32_t smallest[] = {0, 0, 0x80U, 0x800U, 0x10000U};  // below: a longer form than needed
  return code >= smallest[length] && is_character(code) ? length : 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// Inside double quotes everything stands for itself but these four, newline and carriage return included
// (systemd's src/basic/env-file.c; outside of quotes they would end the line).
std::string quoted(std::string_view value) {
  std::string text = "\"";
  for (const char letter : value) {
    if (letter == '"' || letter == '\\' || letter == '$' || letter == '`') text += '\\';
    text += letter;
  }
  return text + '"';
}

std::string file_name(const std::string& directory, core::JobId job, std::uint32_t attempt) {
  return directory + "/" + std::to_string(job) + "-" + std::to_string(attempt) + ".env";
}

FileExpected<void> write_all(int fd, const std::string& path, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno != EINTR) return file_failure("write", path, errno);
    content.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  return {};
}

// Under a new name first: PID 1 never reads half a file, and what somebody else left under the name is not followed.
FileExpected<void> replace_file(const std::string& path, std::string_view content) {
  const std::string temporary = path + ".new";
  ::unlink(temporary.c_str());
  constexpr unsigned owner_only = 0600;
  const auto fd = open_at(AT_FDCWD, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, owner_only);
  if (!fd) return tl::unexpected(fd.error());
  auto done = write_all(fd->get(), temporary, content);
  if (done && ::rename(temporary.c_str(), path.c_str()) != 0) done = file_failure("create", path, errno);
  if (!done) ::unlink(temporary.c_str());
  return done;
}

}  // namespace

core::Expected<std::string> format_environment(const std::vector<std::string>& environment) {
  std::string text;
  for (const std::string_view entry : environment) {
    const std::size_t separator = entry.find('=');
    const std::string_view key = entry.substr(0, std::min(separator, entry.size()));
    if (separator == std::string_view::npos || !is_key(key)) {
      return core::failure(core::ErrorCode::invalid_spec,
                           "an entry of the environment must be KEY=value with letters, digits and underscores in KEY");
    }
    const std::string_view value = entry.substr(separator + 1);
    if (value.find('\0') != std::string_view::npos || !is_utf8(value)) {
      return core::failure(core::ErrorCode::invalid_spec,
                           "the value of the environment variable " + std::string(key) + " is not UTF-8 text");
    }
    text.append(key).append("=").append(quoted(value)).append("\n");
  }
  return text;
}

core::Expected<std::string> write_environment_file(const std::string& directory, core::JobId job, std::uint32_t attempt,
                                                   const std::vector<std::string>& environment) {
  const auto text = format_environment(environment);
  if (!text) return tl::unexpected(text.error());
  if (const auto made = make_directory(directory); !made) return tl::unexpected<core::Error>(made.error());
  std::string path = file_name(directory, job, attempt);
  if (const auto replaced = replace_file(path, *text); !replaced) return tl::unexpected<core::Error>(replaced.error());
  return path;
}

void remove_environment_file(const std::string& directory, core::JobId job, std::uint32_t attempt) {
  ::unlink(file_name(directory, job, attempt).c_str());
}

}  // namespace mljobd::kernel
