#include "core/signal_names.hpp"

#include <csignal>
#include <string_view>

namespace mljobd::core {
namespace {

struct NamedSignal {
  int number;
  std::string_view name;
};

constexpr NamedSignal signals[] = {
    {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},       {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"},
    {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},       {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"},
    {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},     {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},
    {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"},     {SIGSYS, "SIGSYS"},   {SIGSTOP, "SIGSTOP"}, {SIGCONT, "SIGCONT"},
    {SIGPROF, "SIGPROF"}, {SIGVTALRM, "SIGVTALRM"},
};

}  // namespace

std::string signal_name(std::uint32_t signal) {
  for (const auto& [number, name] : signals) {
    if (static_cast<std::uint32_t>(number) == signal) return std::string(name);
  }
  return "signal " + std::to_string(signal);
}

}  // namespace mljobd::core
