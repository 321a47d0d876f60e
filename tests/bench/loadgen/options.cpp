#include "options.hpp"

#include <cstdlib>

#include <CLI/CLI.hpp>

namespace mljobd::load {
namespace {

// "100M/s" is a size like any other once the "/s" is gone.
std::string without_per_second(std::string text) {
  if (text.ends_with("/s")) text.resize(text.size() - 2);
  return text;
}

void add_memory_options(CLI::App& app, Options& options) {
  const CLI::AsSizeValue size(false);
  app.add_option("--memory", options.memory, "Keep this much memory resident, filled with incompressible bytes")
      ->transform(size);
  // CLI11 applies transformations from the last to the first.
  app.add_option("--ramp", options.ramp, "Grow to it at this speed (\"100M/s\") instead of at once")
      ->transform(size)
      ->transform(CLI::Validator(
          [](std::string& text) {
            text = without_per_second(text);
            return std::string();
          },
          "SIZE/s"));
  app.add_flag("--forever", options.ramp_forever, "Do not stop growing at --memory")->needs("--ramp");
  app.add_option("--shm", options.shm, "Hold this much in a file in /dev/shm")->transform(size);
  app.add_option("--file-read", options.file_to_read, "Read this file once, for the page cache");
}

void add_work_options(CLI::App& app, Options& options) {
  constexpr std::uint32_t most_threads = 1024;
  app.add_option("--threads", options.threads, "Threads that share the work")->check(CLI::Range(1U, most_threads));
  app.add_option("--steps", options.steps, "Do this many steps");
  app.add_option("--seconds", options.seconds, "Go on for this long")->check(CLI::NonNegativeNumber);
  app.add_option("--work", options.work, "Iterations of each thread in one step")->capture_default_str();
  app.add_option(
      "--spin-us", options.spin_us,
      "A thread that is done with a step spins for the others so long before it sleeps, as those of OpenMP do");
  app.add_option("--step-ms", options.step_ms, "A step starts no sooner than this after the one before");
  app.add_flag("--progress", options.progress, "Print \"step K\" after each");
  app.add_option("--report", options.report, "Append the summary of the steps, one line of JSON, to this file too");
}

void add_behaviour_options(CLI::App& app, Options& options) {
  const CLI::AsSizeValue size(false);
  constexpr int largest_code = 255;
  app.add_flag("--fork-daemon", options.fork_daemon, "Leave a process behind in a session of its own");
  app.add_flag("--zombie", options.zombie, "Keep a child that ended and is not waited for");
  app.add_flag("--ignore-term", options.ignore_term, "Ignore SIGTERM");
  app.add_option("--print", options.print, "Print this many bytes in lines of 100")->transform(size);
  app.add_option("--carriage-returns", options.carriage_returns, "Redraw a progress bar this often");
  app.add_option("--exit", options.exit_code, "Exit with this code")->check(CLI::Range(0, largest_code));
}

}  // namespace

Options parse_options(int count, const char* const* arguments) {
  Options options;
  CLI::App app("A deterministic load: the same arguments do the same work on every machine", "mljob-load");
  add_memory_options(app, options);
  add_work_options(app, options);
  add_behaviour_options(app, options);
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    constexpr int usage_error = 2;
    std::exit(app.exit(error) == 0 ? 0 : usage_error);  // NOLINT(concurrency-mt-unsafe): before any thread
  }
  return options;
}

}  // namespace mljobd::load
