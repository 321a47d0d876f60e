#include "client/arguments.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "client/exit_codes.hpp"
#include "client/output.hpp"

namespace mljobd::client {
namespace {

bool takes_value(const CLI::Option* option) { return option != nullptr && option->get_items_expected_min() > 0; }

// Whether the word after this option belongs to it.
bool consumes_next(const CLI::App& app, const std::string& word) {
  if (word.starts_with("--")) return word.find('=') == std::string::npos && takes_value(app.get_option_no_throw(word));
  for (std::size_t at = 1; at < word.size(); ++at) {
    const std::string name{'-', word[at]};
    if (takes_value(app.get_option_no_throw(name))) return at + 1 == word.size();
  }
  return false;
}

}  // namespace

ParsedCommandLine parse_command_line(const std::vector<std::string>& arguments) {
  ParsedCommandLine parsed;
  auto& invocation = parsed.invocation;
  auto word = arguments.begin();
  for (; word != arguments.end() && word->starts_with('-'); ++word) {
    if (*word == "--user") {
      invocation.user = true;
    } else if (word->starts_with("--color=") || word->starts_with("--colour=")) {
      const auto choice = colour_choice_from(word->substr(word->find('=') + 1));
      if (!choice) parsed.problem = *word + ": one of auto, always, never";
      invocation.colour = choice.value_or(ColourChoice::automatic);
    } else if (*word == "--help" || *word == "-h") {
      invocation.verb = "help";
      return parsed;
    } else if (*word == "--version" || *word == "-V") {
      invocation.verb = "version";
      return parsed;
    } else {
      parsed.problem = *word + ": no such option before the verb; see jobctl --help";
    }
  }
  if (word == arguments.end()) return parsed;
  invocation.verb = *word++;
  invocation.arguments.assign(word, arguments.end());
  return parsed;
}

VerbParser::VerbParser(Invocation& invocation, const std::string& description, const std::string& example)
    : invocation_(invocation), app_(std::make_unique<CLI::App>(description, "jobctl " + invocation.verb)) {
  app_->footer("Example:\n  " + example);
  app_->set_help_flag("-h,--help", "print this help");
  app_->add_flag("--user", invocation_.user, "talk to the daemon of your own systemd --user")->group("General");
  app_->add_option("--color,--colour", colour_, "auto, always or never")->type_name("WHEN")->group("General");
}

VerbParser::~VerbParser() = default;

std::size_t VerbParser::command_start() const {
  const auto& words = invocation_.arguments;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (words[at] == "--" || !words[at].starts_with('-') || words[at] == "-") return at;
    if (consumes_next(*app_, words[at])) ++at;
  }
  return words.size();
}

std::string VerbParser::help() const {
  std::string text = app_->help();
  constexpr std::string_view options = "[OPTIONS]";
  const auto usage = text.find(options);
  // The parser never sees the command, so its usage line does not show it.
  if (command_ != nullptr && usage != std::string::npos) {
    text.insert(usage + options.size(), " [--] COMMAND [ARGUMENTS]");
  }
  return text;
}

std::optional<int> VerbParser::parse() {
  auto words = invocation_.arguments;
  if (command_ != nullptr) {
    // CLI11 never sees the command: it would take "[a,b]" for a list of two words.
    const auto start = words.begin() + static_cast<std::ptrdiff_t>(std::min(command_start(), words.size()));
    behind_dashes_ = start != words.end() && *start == "--";
    command_->assign(behind_dashes_ ? start + 1 : start, words.end());
    words.erase(start, words.end());
  }
  std::reverse(words.begin(), words.end());
  try {
    app_->parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return print(help());
  } catch (const CLI::ParseError& error) {
    warn(std::string(error.what()) + "\nTry: jobctl " + invocation_.verb + " --help");
    return exit_code::usage;
  }
  if (colour_.empty()) return std::nullopt;
  const auto choice = colour_choice_from(colour_);
  if (!choice) {
    warn("--color: one of auto, always, never");
    return exit_code::usage;
  }
  invocation_.colour = *choice;
  return std::nullopt;
}

}  // namespace mljobd::client
