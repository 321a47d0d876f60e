#include <csignal>

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>

#include "client/arguments.hpp"
#include "client/environment.hpp"
#include "client/manager_client.hpp"
#include "client/selection.hpp"
#include "client/signals.hpp"
#include "client/spec_options.hpp"
#include "client/terminal.hpp"

using namespace mljobd::client;
using mljobd::core::JobId;

namespace {

struct Submit {
  SpecOptions options{};
  std::vector<std::string> command{};
  bool wait = false;
  std::optional<int> code{};
};

// Parses as `jobctl submit` does.
void parse(Submit& submit, std::vector<std::string> arguments) {
  Invocation invocation{.verb = "submit", .arguments = std::move(arguments)};
  VerbParser parser(invocation, "", "");
  parser.app().add_flag("--wait,-w", submit.wait);
  add_spec_options(parser.app(), SpecUse::submit, submit.options);
  parser.take_command(submit.command);
  submit.code = parser.parse();
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("options of the command are not options of jobctl") {
  Submit submit;
  SECTION("the first bare word begins the command") {
    parse(submit, {"--mem", "4G", "-w", "train.py", "--mem", "9G", "-w"});
    CHECK(submit.command == Words{"train.py", "--mem", "9G", "-w"});
    CHECK(submit.options.texts.at("mem") == "4G");
  }
  SECTION("so does a double dash, which is not part of it") {
    parse(submit, {"-wJ", "name", "--mem=4G", "--", "-x", "--", "y"});
    CHECK(submit.command == Words{"-x", "--", "y"});
    CHECK(submit.options.texts.at("name") == "name");
  }
  SECTION("repeated options take one value each") {
    parse(submit, {"--label", "a=b", "--label=c=d", "-p", "TasksMax=5", "-w", "train"});
    CHECK(submit.command == Words{"train"});
    CHECK(submit.options.labels == Words{"a=b", "c=d"});
  }
  REQUIRE_FALSE(submit.code);
  CHECK(submit.wait);
}

TEST_CASE("the words of a command stay as they are") {
  // CLI11 would split "[1,2]" into two words and drop nothing of it quietly.
  Submit submit;
  parse(submit, {"--", "python3", "[1,2]", "", "{a}", "it's", "a b"});
  CHECK(submit.command == Words{"python3", "[1,2]", "", "{a}", "it's", "a b"});
}

TEST_CASE("usage errors end with 2") {
  Submit submit;
  parse(submit, GENERATE(Words{"--gpus", "2", "train"}, Words{"--mem"}, Words{"--color", "pink", "train"}));
  CHECK(submit.code == 2);
}

TEST_CASE("negative numbers are values") {
  Submit submit;
  parse(submit, {"--priority", "-5", "train"});
  REQUIRE_FALSE(submit.code);
  CHECK(submit.options.texts.at("priority") == "-5");
}

TEST_CASE("general options may stand before the verb") {
  const auto parsed = parse_command_line({"--user", "--color=never", "list", "--all"});
  CHECK(parsed.problem.empty());
  CHECK(parsed.invocation.user);
  CHECK(parsed.invocation.colour == ColourChoice::never);
  CHECK(parsed.invocation.verb == "list");
  CHECK(parsed.invocation.arguments == Words{"--all"});
  CHECK_FALSE(parse_command_line({"--mem", "4G"}).problem.empty());
  CHECK(parse_command_line({}).invocation.verb.empty());
}

TEST_CASE("the flag decides on colour, then NO_COLOR, then CLICOLOR_FORCE, then the terminal") {
  const TerminalFacts terminal{.is_terminal = true, .term = "xterm"};
  CHECK(use_colour(ColourChoice::automatic, terminal));
  CHECK_FALSE(use_colour(ColourChoice::never, terminal));
  CHECK_FALSE(use_colour(ColourChoice::automatic, {.is_terminal = true, .term = "dumb"}));
  CHECK_FALSE(use_colour(ColourChoice::automatic, {.is_terminal = false, .term = "xterm"}));
  CHECK(use_colour(ColourChoice::automatic, {.clicolor_force = "1"}));
  CHECK_FALSE(use_colour(ColourChoice::automatic, {.is_terminal = true, .clicolor_force = "0", .term = "dumb"}));
  CHECK_FALSE(use_colour(ColourChoice::automatic, {.no_color = "1", .clicolor_force = "1"}));
  CHECK(use_colour(ColourChoice::always, {.no_color = "1"}));
}

TEST_CASE("the environment that goes along") {
  const Words own{"PATH=/bin", "HOME=/root", "_=/bin/x", "SHLVL=2", "MLJOB_ID=7", "A=b=c", "BAD=\xff"};
  SECTION("all of it by default, less what is the caller's own") {
    const auto selected = select_environment({}, own);
    REQUIRE(selected);
    CHECK(selected->variables == Words{"A=b=c", "HOME=/root", "PATH=/bin"});
    CHECK(selected->left_out == Words{"BAD"});
  }
  SECTION("nothing") {
    REQUIRE(select_environment({"NONE"}, own));
    CHECK(select_environment({"NONE"}, own)->variables.empty());
  }
  SECTION("some, and new ones") {
    const auto selected = select_environment({"PATH,NEW=1", "EMPTY="}, own);
    REQUIRE(selected);
    CHECK(selected->variables == Words{"EMPTY=", "NEW=1", "PATH=/bin"});
  }
  SECTION("a later one wins") {
    CHECK(select_environment({"ALL,HOME=/tmp"}, own)->variables == Words{"A=b=c", "HOME=/tmp", "PATH=/bin"});
  }
  SECTION("one that is not set is a mistake") {
    const auto selected = select_environment({"TYPO"}, own);
    REQUIRE_FALSE(selected);
    CHECK(selected.error().exit_code == 2);
    CHECK_THAT(selected.error().message, Catch::Contains("TYPO"));
  }
  SECTION("the largest is named for who must leave something out") {
    CHECK(largest_variable({"A=b", "LONG=" + std::string(2043, 'x')}) == "LONG (2K)");
  }
}

TEST_CASE("signals by name and number") {
  CHECK(signal_from("USR1") == SIGUSR1);
  CHECK(signal_from("sigterm") == SIGTERM);
  CHECK(signal_from("9") == SIGKILL);
  CHECK_FALSE(signal_from("0"));
  CHECK_FALSE(signal_from("65"));
  CHECK_FALSE(signal_from("USR"));
  CHECK_FALSE(signal_from(""));
}

TEST_CASE("states in words and in letters") {
  CHECK(state_words({"R", "queued"}) == Words{"running", "queued"});
  CHECK(state_words({"F"}) == Words{"failed", "signalled"});
  CHECK(state_words({"S"}) == Words{"frozen", "parked"});
  CHECK(state_words({"parked"}) == Words{"parked"});
  CHECK(state_words({"sleeping"}).error().exit_code == 2);
}

TEST_CASE("a name stands for one job") {
  const auto row = [](JobId id, const char* state) { return JobRow{.id = id, .state = state}; };
  const std::vector<JobRow> rows{row(9, "finished"), row(8, "running"), row(7, "queued"), row(3, "finished")};
  CHECK(choose_by_name("x", rows, Purpose::look)->id == 9);
  const auto several = choose_by_name("x", rows, Purpose::act);
  REQUIRE_FALSE(several);
  CHECK_THAT(several.error().message, Catch::Contains("8 7"));
  CHECK(choose_by_name("x", {rows[0], rows[1]}, Purpose::act)->id == 8);
  CHECK(choose_by_name("x", {rows[0], rows[3]}, Purpose::act)->id == 9);
  CHECK(choose_by_name("x", {}, Purpose::look).error().exit_code == 4);
}

TEST_CASE("a name that only the jobs of an array carry stands for the array") {
  const auto element = [](JobId id, JobId array) { return JobRow{.id = id, .state = "queued", .array_id = array}; };
  CHECK(choose_by_name("x", {element(9, 7), element(8, 7), element(7, 7)}, Purpose::act)->array_id == 7);
  const auto several = choose_by_name("x", {element(9, 8), element(8, 8), element(7, 6), element(6, 6)}, Purpose::act);
  REQUIRE_FALSE(several);
  CHECK_THAT(several.error().message, Catch::EndsWith("2 unfinished jobs; say which: 8 6"));
}

TEST_CASE("a job of an array is written with its index") {
  CHECK(array_element_from("42_3") == ArrayElement{.array = 42, .index = 3});
  CHECK(array_element_from("42_0") == ArrayElement{.array = 42, .index = 0});
  for (const auto* word : {"42", "42_", "_3", "0_3", "42_3_1", "42_x", "a_3", "42_-1", "42_99999999999", ""}) {
    CAPTURE(word);
    CHECK_FALSE(array_element_from(word));
  }
  CHECK(label_of({.id = 45, .array_id = 42, .array_index = 3}) == "42_3");
  CHECK(label_of({.id = 45}) == "45");
}

TEST_CASE("what a bus error means to a person") {
  const auto failure = [](const char* name) { return failure_from_bus_error(name, "said", Bus::system); };
  CHECK(failure("org.mljobd1.Error.NoSuchJob") == Failure{.exit_code = 4, .message = "said"});
  CHECK(failure("org.mljobd1.Error.InvalidState").exit_code == 3);
  CHECK(failure("org.mljobd1.Error.InvalidSpec").exit_code == 2);
  CHECK(failure("org.mljobd1.Error.NoCapacity").exit_code == 125);
  const auto gone = failure("org.freedesktop.DBus.Error.ServiceUnknown");
  CHECK(gone.daemon_gone);
  CHECK_THAT(gone.message, Catch::Contains("sudo systemctl start mljobd"));
  CHECK_THAT(failure_from_bus_error("org.freedesktop.DBus.Error.ServiceUnknown", "", Bus::session).message,
             Catch::Contains("systemctl --user start mljobd"));
  CHECK(failure("org.freedesktop.DBus.Error.NoReply").daemon_gone);
  CHECK(failure("org.freedesktop.DBus.Error.UnknownObject").exit_code == 4);
  CHECK_FALSE(failure("org.freedesktop.DBus.Error.AccessDenied").daemon_gone);
}
