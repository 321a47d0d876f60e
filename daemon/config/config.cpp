#include "config/config.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/document.hpp"
#include "config/settings_layer.hpp"

namespace mljobd::config {
namespace {

using core::Expected;
using core::Settings;

constexpr std::size_t max_files = 256;

tl::unexpected<core::Error> refusal(const std::string& path, const std::string& reason) {
  return core::failure(core::ErrorCode::invalid_config, path + ": " + reason);
}

tl::unexpected<core::Error> system_refusal(const std::string& path, int error_number) {
  return refusal(path, "cannot be read: " + std::generic_category().message(error_number));
}

class File {
 public:
  // Does not wait for a writer, should the path be a pipe.
  explicit File(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  // At most max_file_size + 1 bytes, which is one too many; unset with errno on failure.
  [[nodiscard]] std::optional<std::string> read_bounded() const {
    std::string text(max_file_size + 1, '\0');
    std::size_t length = 0;
    while (length < text.size()) {
      const auto count = read(descriptor_, text.data() + length, text.size() - length);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return std::nullopt;
      if (count == 0) break;
      length += static_cast<std::size_t>(count);
    }
    text.resize(length);
    return text;
  }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

std::optional<std::string> distrust(const struct stat& status) {
  if ((status.st_mode & S_IWOTH) == 0) return std::nullopt;
  return "everybody may write to it, and so to what the daemon does as root: chmod o-w";
}

// Unset when there is no such file.
Expected<std::optional<std::string>> read_file(const std::string& path) {
  const File file(path);
  if (!file.is_open()) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    return system_refusal(path, errno);
  }
  struct stat status{};
  if (fstat(file.descriptor(), &status) != 0) return system_refusal(path, errno);
  if (!S_ISREG(status.st_mode)) return refusal(path, "is not a regular file");
  if (const auto reason = distrust(status)) return refusal(path, *reason);
  auto text = file.read_bounded();
  if (!text) return system_refusal(path, errno);
  return text;
}

// The *.json of the folder in the order of their bytes; hidden ones belong to editors.
Expected<std::vector<std::string>> drop_ins(const std::string& directory) {
  std::vector<std::string> paths;
  struct stat status{};
  if (directory.empty() || (stat(directory.c_str(), &status) != 0 && (errno == ENOENT || errno == ENOTDIR)))
    return paths;
  if (const auto reason = distrust(status)) return refusal(directory, *reason);
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with('.') || !name.ends_with(".json")) continue;
    if (paths.size() == max_files) {
      return refusal(directory, "more than " + std::to_string(max_files) + " files: merge some");
    }
    paths.push_back(entry->path().string());
  }
  if (error) return refusal(directory, "cannot be read: " + error.message());
  std::sort(paths.begin(), paths.end());
  return paths;
}

Expected<Settings> load_layer(const std::string& path, Settings base) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  if (!*text) return base;
  return parse_settings(**text, path, std::move(base));
}

}  // namespace

Expected<Settings> parse_settings(std::string_view text, const std::string& file_name, Settings base) {
  const auto located = [&](const Problem& found) {
    return core::Error{core::ErrorCode::invalid_config,
                       file_name + ":" + std::to_string(found.line) + ": " + found.reason};
  };
  if (text.size() > max_file_size) {
    return tl::unexpected(located({1, "larger than " + std::to_string(max_file_size) + " bytes"}));
  }
  return parse_document(text)
      .and_then([&](const Node& document) { return apply_layer(document, std::move(base)); })
      .map_error(located);
}

Expected<Settings> load_settings(const ConfigSources& sources) {
  auto settings = load_layer(sources.file, core::default_settings());
  if (!settings) return settings;
  const auto paths = drop_ins(sources.directory);
  if (!paths) return tl::unexpected(paths.error());
  for (const auto& path : *paths) {
    settings = load_layer(path, *std::move(settings));
    if (!settings) return settings;
  }
  return settings;
}

}  // namespace mljobd::config
