#include "client/script/slurm_options.hpp"

#include <algorithm>
#include <utility>

#include "client/script/slurm_option_table.hpp"
#include "core/text.hpp"

namespace mljobd::client {
namespace {

template <class T>
using Checked = tl::expected<T, Complaint>;

class WordReader {
 public:
  WordReader(std::span<const std::string> words, std::size_t line) : words_(words), line_(line) {}

  Checked<SlurmWords> read() {
    while (at_ < words_.size() && words_[at_].starts_with('-') && words_[at_] != "-") {
      const std::string_view word = words_[at_++];
      if (word == "--") break;
      const auto taken = word.starts_with("--") ? take_long(word.substr(2)) : take_letters(word.substr(1));
      if (!taken) return tl::unexpected(taken.error());
    }
    for (const auto& word : words_.subspan(at_)) result_.rest.push_back(word);
    return std::move(result_);
  }

 private:
  [[nodiscard]] tl::unexpected<Complaint> complain(std::string reason) const {
    return tl::unexpected(Complaint{.line = line_, .reason = std::move(reason)});
  }

  Checked<void> take_long(std::string_view word) {
    const auto equals = word.find('=');
    const auto name = word.substr(0, equals);
    const auto option = find_long(name);
    if (!option) return tl::unexpected(option.error());
    const auto value = equals == std::string_view::npos ? std::nullopt : std::optional(word.substr(equals + 1));
    if (value && (*option)->value == SlurmValue::none) {
      return complain("--" + std::string((*option)->name) + " takes no value, but is given " + core::quoted(*value));
    }
    return use(**option, "--" + std::string((*option)->name), value);
  }

  // "-Hc4": letters without values, and at most one with a value at the end.
  Checked<void> take_letters(std::string_view letters) {
    for (; !letters.empty(); letters.remove_prefix(1)) {
      const auto table = slurm_option_table();
      const auto option = std::find_if(table.begin(), table.end(),
                                       [&](const SlurmOption& entry) { return entry.letter == letters.front(); });
      if (option == table.end() || letters.front() == '\0') {
        return complain("there is no option " + core::quoted("-" + std::string(letters.substr(0, 1))));
      }
      const bool ends = option->value != SlurmValue::none;
      const auto value = ends && letters.size() > 1 ? std::optional(letters.substr(1)) : std::nullopt;
      const auto used = use(*option, "-" + std::string(1, option->letter), value);
      if (!used || ends) return used;
    }
    return {};
  }

  Checked<void> use(const SlurmOption& option, const std::string& spelled, std::optional<std::string_view> value) {
    if (!value && option.value == SlurmValue::required) {
      if (at_ == words_.size()) return complain(spelled + " needs a value");
      value = words_[at_++];
    }
    result_.uses.push_back({.option = &option, .line = line_, .value = std::string(value.value_or(""))});
    return {};
  }

  [[nodiscard]] Checked<const SlurmOption*> find_long(std::string_view name) const {
    std::vector<const SlurmOption*> candidates;
    for (const auto& option : slurm_option_table()) {
      if (option.name == name) return &option;
      if (!name.empty() && option.name.starts_with(name)) candidates.push_back(&option);
    }
    if (candidates.size() == 1) return candidates.front();
    const std::string shown = core::quoted("--" + std::string(name));
    if (candidates.size() > 1) {
      std::string list;
      for (const auto* option : candidates) list.append(list.empty() ? "--" : ", --").append(option->name);
      return complain(shown + " could be any of " + list);
    }
    std::vector<std::string_view> names;
    for (const auto& option : slurm_option_table()) names.push_back(option.name);
    const auto meant = core::nearest_word(name, names);
    return complain("there is no option " + shown +
                    (meant.empty() ? "" : ": did you mean --" + std::string(meant) + "?"));
  }

  std::span<const std::string> words_;
  std::size_t line_;
  std::size_t at_ = 0;
  SlurmWords result_{};
};

}  // namespace

tl::expected<SlurmWords, Complaint> parse_slurm_words(std::span<const std::string> words, std::size_t line) {
  return WordReader(words, line).read();
}

}  // namespace mljobd::client
