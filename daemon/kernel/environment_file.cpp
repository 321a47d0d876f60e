#include "kernel/environment_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

#include "core/text.hpp"
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

// U+FDD0 to U+FDEF and the last two of every plane are well-formed, but utf8_is_valid() of systemd refuses them.
// The text is well-formed.
bool has_noncharacter(std::string_view text) {
  for (std::size_t index = 0; index < text.size(); ++index) {
    const auto byte = [text, index](std::size_t offset) { return static_cast<unsigned char>(text[index + offset]); };
    const bool in_arabic_block = byte(0) == 0xEF && byte(1) == 0xB7 && byte(2) >= 0x90 && byte(2) <= 0xAF;
    const bool ends_first_plane = byte(0) == 0xEF && byte(1) == 0xBF && byte(2) >= 0xBE;
    const bool ends_plane = byte(0) >= 0xF0 && (byte(1) & 0x0FU) == 0x0F && byte(2) == 0xBF && byte(3) >= 0xBE;
    if (in_arabic_block || ends_first_plane || ends_plane) return true;
  }
  return false;
}

bool is_acceptable(std::string_view value) {
  return value.find('\0') == std::string_view::npos && core::is_valid_utf8(value) && !has_noncharacter(value);
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
    if (!is_acceptable(value)) {
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
