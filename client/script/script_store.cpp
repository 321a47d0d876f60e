#include "client/script/script_store.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/output.hpp"
#include "client/selection.hpp"
#include "client/unique_fd.hpp"
#include "client/values.hpp"

namespace mljobd::client {
namespace {

namespace fs = std::filesystem;

// FNV-1a. Two texts of one hash are told apart by comparing, so that it need not be a strong one.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001B3U;
  }
  return hash;
}

std::string hexadecimal(std::uint64_t number) {
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(number));
  return digits.data();
}

bool holds(const fs::path& file, std::string_view content) {
  std::error_code error;
  if (fs::file_size(file, error) != content.size() || error) return false;
  std::ifstream stream(file, std::ios::binary);
  return std::equal(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>(), content.begin(),
                    content.end());
}

// Another script of the same name and hash, rather than none or this one.
bool is_taken(const fs::path& file, std::string_view content) {
  std::error_code error;
  return fs::exists(file, error) && !holds(file, content);
}

Failure cannot_keep(const fs::path& file, int number) {
  return {.message = "the copy of the script that would run, " + file.string() +
                     ", cannot be written: " + std::strerror(number) +
                     "; name another place in XDG_STATE_HOME, or submit it behind -- to run it where it lies"};
}

// Both the private folders and those of the XDG specification above them, which asks for 0700 too.
bool make_private_folders(const fs::path& folder) {
  std::error_code error;
  for (fs::path made; const auto& part : folder) {
    made /= part;
    if (::mkdir(made.c_str(), S_IRWXU) != 0 && errno != EEXIST && !fs::is_directory(made, error)) return false;
  }
  return true;
}

bool write_all_of(int fd, std::string_view content) {
  return write_all(fd, content) && ::fchmod(fd, S_IRUSR | S_IXUSR) == 0 && ::fsync(fd) == 0;
}

// Whoever runs the file sees all of it or none: it comes into its place whole.
bool write_file(const fs::path& file, std::string_view content) {
  std::string temporary = file.parent_path() / ".new-XXXXXX";
  const UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.valid()) return false;
  if (write_all_of(fd.get(), content) && ::rename(temporary.c_str(), file.c_str()) == 0) return true;
  const int number = errno;
  ::unlink(temporary.c_str());
  errno = number;
  return false;
}

bool is_copy(const fs::path& folder) {
  const std::string name = folder.filename();
  return name.size() >= 16 && name.find_first_not_of("0123456789abcdef") >= 16;
}

}  // namespace

Outcome<ScriptStore> ScriptStore::of_user(Bus bus) {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
    return fs::path(value != nullptr && *value == '/' ? value : "");
  };
  fs::path state = variable("XDG_STATE_HOME");
  if (state.empty() && !variable("HOME").empty()) state = variable("HOME") / ".local" / "state";
  if (state.empty()) {
    return fail(exit_code::failed,
                "there is no place for the copy of the script that would run: set HOME or "
                "XDG_STATE_HOME to an absolute path, or submit it behind -- to run it where it lies");
  }
  return ScriptStore(state / "mljobd" / "scripts" / (bus == Bus::system ? "system" : "user"));
}

fs::path ScriptStore::folder_of(const Script& script) const {
  const std::string hash = hexadecimal(hash_of(script.content));
  fs::path folder = directory_ / hash;
  for (int count = 1; is_taken(folder / script.name, script.content); ++count) {
    folder = directory_ / (hash + "-" + std::to_string(count));
  }
  return folder;
}

fs::path ScriptStore::path_of(const Script& script) const { return folder_of(script) / script.name; }

Outcome<fs::path> ScriptStore::keep(const Script& script) const {
  const fs::path folder = folder_of(script);
  fs::path file = folder / script.name;
  if (!make_private_folders(folder)) return tl::unexpected(cannot_keep(file, errno));
  std::error_code error;
  if (!fs::exists(file, error) && !write_file(file, script.content)) return tl::unexpected(cannot_keep(file, errno));
  // Two times of now: the folder was used.
  if (::utimensat(AT_FDCWD, folder.c_str(), nullptr, 0) != 0) return tl::unexpected(cannot_keep(file, errno));
  return file;
}

std::vector<fs::path> ScriptStore::unused_since(core::RealTime moment) const {
  constexpr std::size_t most = 1000;
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator entry(directory_, error), end; !error && entry != end && folders.size() < most;
       entry.increment(error)) {
    struct stat status{};
    if (!is_copy(entry->path()) || ::lstat(entry->path().c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) continue;
    const auto used = std::chrono::seconds(status.st_mtim.tv_sec);
    if (core::RealTime(used) < moment) folders.push_back(entry->path());
  }
  return folders;
}

void ScriptStore::remove(const std::vector<fs::path>& folders) const {
  for (const auto& folder : folders) {
    std::error_code error;
    fs::remove_all(folder, error);
  }
}

void tidy(const ScriptStore& store, ManagerClient& client, core::RealTime now) {
  core::RealTime used_before = now - script_age;
  if (store.unused_since(used_before).empty()) return;
  constexpr std::uint32_t most = 10000;  // what the daemon lists at a time
  const auto rows = client.list_jobs({{"owner", core::Value(std::uint32_t{::geteuid()})},
                                      {"state", core::Value(unfinished_states())},
                                      {"limit", core::Value(most)},
                                      {"fields", core::Value(std::vector<std::string>{"submit_time"})}});
  if (!rows || rows->size() >= most) return;
  for (const auto& row : *rows) {
    const auto submitted = core::Microseconds(value_or<core::Microseconds::rep>(row, "submit_time", 0));
    // The copy was used a little before the daemon gave the job its time.
    used_before = std::min(used_before, core::RealTime(submitted) - std::chrono::hours(1));
  }
  store.remove(store.unused_since(used_before));
}

}  // namespace mljobd::client
