// From argv to a verb with its arguments, and what all verbs' parsers have in common.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/terminal.hpp"

// Its header is large: only who adds options needs it.
namespace CLI {
class App;
}

namespace mljobd::client {

struct Invocation {
  std::string verb{};
  std::vector<std::string> arguments{};  // what follows the verb
  bool user = false;                     // --user: the daemon of `systemd --user`
  ColourChoice colour = ColourChoice::automatic;
};

// What stands before the verb. `problem` is the sentence for a usage error; help and version are asked for as verbs.
struct ParsedCommandLine {
  Invocation invocation{};
  std::string problem{};
};
[[nodiscard]] ParsedCommandLine parse_command_line(const std::vector<std::string>& arguments);

// The parser of one verb, with the options that all of them take. `example` is shown below the help.
class VerbParser {
 public:
  VerbParser(Invocation& invocation, const std::string& description, const std::string& example);
  ~VerbParser();
  VerbParser(const VerbParser&) = delete;
  VerbParser& operator=(const VerbParser&) = delete;

  [[nodiscard]] CLI::App& app() { return *app_; }

  // The verb takes a command: the first word that is neither an option nor the value of one begins it, and from there
  // on nothing is an option of jobctl's.
  void take_command(std::vector<std::string>& command) { command_ = &command; }

  // After parse(): "--" stood before the command.
  [[nodiscard]] bool behind_dashes() const { return behind_dashes_; }

  // Empty: go on. Else the code to exit with, after help or the usage error was printed.
  [[nodiscard]] std::optional<int> parse();

 private:
  [[nodiscard]] std::size_t command_start() const;
  [[nodiscard]] std::string help() const;

  Invocation& invocation_;
  std::unique_ptr<CLI::App> app_;
  std::string colour_{};
  std::vector<std::string>* command_ = nullptr;
  bool behind_dashes_ = false;
};

}  // namespace mljobd::client
