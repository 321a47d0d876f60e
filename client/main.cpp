#include <exception>
#include <string>
#include <vector>

#include <unistd.h>

#include "client/exit_codes.hpp"
#include "client/output.hpp"
#include "client/verbs.hpp"

namespace {

using namespace mljobd::client;

int run(const std::vector<std::string>& arguments) {
  auto parsed = parse_command_line(arguments);
  if (!parsed.problem.empty()) return report({.exit_code = exit_code::usage, .message = parsed.problem});
  if (parsed.invocation.verb == "help") return print(overview());
  if (parsed.invocation.verb.empty()) {
    write_all(STDERR_FILENO, overview());
    return exit_code::usage;
  }
  const Verb* verb = find_verb(parsed.invocation.verb);
  if (verb == nullptr) {
    return report({.exit_code = exit_code::usage,
                   .message = "there is no verb \"" + parsed.invocation.verb + "\"; `jobctl --help` lists them"});
  }
  return verb->run(parsed.invocation);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  } catch (const std::exception& error) {
    return report({.exit_code = exit_code::failed, .message = error.what()});
  }
}
