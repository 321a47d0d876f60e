// mljob-load: a load that does the same work wherever it runs, for the scenarios and the comparisons.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include "behaviour.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "work.hpp"

namespace {

using namespace mljobd::load;

void misbehave(const Options& options) {
  if (options.ignore_term) ignore_termination();
  if (options.zombie) leave_zombie();
  if (options.fork_daemon) leave_daemon();
}

void report(const std::string& line, const std::string& path) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
  if (path.empty()) return;
  std::FILE* file = std::fopen(path.c_str(), "ae");
  const bool written = file != nullptr && std::fprintf(file, "%s\n", line.c_str()) > 0;
  if (file == nullptr || std::fclose(file) != 0 || !written) throw std::runtime_error("cannot write " + path);
}

int run(const Options& options) {
  misbehave(options);
  print_lines(options.print);
  draw_progress(options.carriage_returns);
  if (!options.file_to_read.empty()) read_whole_file(options.file_to_read);
  const SharedMemory shared(options.shm);
  // Endless within any machine of today: the address space costs nothing until it is touched.
  constexpr std::uint64_t endless = std::uint64_t{1} << 43U;
  ResidentMemory memory(options.ramp_forever ? endless : options.memory);
  grow_to_bound(memory, options);
  const Summary summary = run_steps(memory, options);
  if (options.steps || options.seconds || !options.report.empty()) {
    report(to_json(summary, memory.size()), options.report);
  }
  return options.exit_code;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(parse_options(count, arguments));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mljob-load: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
