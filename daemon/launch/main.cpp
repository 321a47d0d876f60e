// mljob-launch: opens the files that a job's output goes to, then becomes the job's program.
//
//   mljob-launch [--encoded] [--open-mode append|truncate] [--output PATH] [--error PATH] [--ignore-signal NUMBER]
//                -- PROGRAM [ARGUMENT…]
//
// With --encoded, "=XX" in what follows stands for the byte XX (two hexadecimal digits): for what PID 1 would not hand
// on as it is.
// It runs as the job's user, because PID 1 would open these files as root: StandardOutput=append:PATH writes wherever
// a link that the user put there points to. It stands between every such job and its program, so it loads nothing that
// is needed only when it fails.
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <syslog.h>
#include <unistd.h>

namespace {

// systemd's own (systemd.exec(5), "Process Exit Codes"): what reads them there reads them here.
enum ExitCode { exit_usage = 2, exit_exec = 203, exit_stdout = 209, exit_stderr = 222 };

struct Request {
  bool truncate = false;
  const char* output = nullptr;
  const char* error = nullptr;
  int ignored_signal = 0;    // 0 = none
  char** program = nullptr;  // ends with a null pointer
};

int hexadecimal_digit(char character) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const auto place = character != '\0' ? digits.find(character) : std::string_view::npos;
  return place != std::string_view::npos ? static_cast<int>(place) : -1;
}

// In place, for it only gets shorter. False where "=" is not followed by two digits.
bool decode(char* argument) {
  char* end = argument;
  for (const char* next = argument; *next != '\0'; ++next) {
    if (*next != '=') {
      *end++ = *next;
      continue;
    }
    const int high = hexadecimal_digit(next[1]);
    const int low = high >= 0 ? hexadecimal_digit(next[2]) : -1;
    if (low < 0) return false;
    *end++ = static_cast<char>(high * 16 + low);
    next += 2;
  }
  *end = '\0';
  return true;
}

// False when the arguments are not as above.
bool parse(int count, char** arguments, Request& request) {
  int index = 1;
  if (count > 1 && std::strcmp(arguments[1], "--encoded") == 0) {
    for (index = 2; index < count; ++index) {
      if (!decode(arguments[index])) return false;
    }
    index = 2;
  }
  for (; index + 1 < count && std::strcmp(arguments[index], "--") != 0; index += 2) {
    const std::string_view option = arguments[index];
    if (option == "--open-mode") {
      request.truncate = std::strcmp(arguments[index + 1], "truncate") == 0;
    } else if (option == "--output") {
      request.output = arguments[index + 1];
    } else if (option == "--error") {
      request.error = arguments[index + 1];
    } else if (option == "--ignore-signal") {
      request.ignored_signal = std::atoi(arguments[index + 1]);  // NOLINT(cert-err34-c): 0 is refused below
      if (request.ignored_signal < 1 || request.ignored_signal > SIGRTMAX) return false;
    } else {
      return false;
    }
  }
  if (index + 1 >= count) return false;
  request.program = arguments + index + 1;
  return true;
}

// A record like the one of PID 1 when it cannot execute a program (SD_MESSAGE_SPAWN_FAILED), so that the cause of
// death is found in the same place. Without libsystemd or the journal the job's log has to do.
void record_failure(const char* step, const char* program, int number) {
  void* library = ::dlopen("libsystemd.so.0", RTLD_NOW);
  if (library == nullptr) return;
  using SendFunction = int (*)(const iovec*, int);
  const auto send = reinterpret_cast<SendFunction>(::dlsym(library, "sd_journal_sendv"));
  if (send == nullptr) return;
  // The journal may come to look at this process when it has gone; the invocation still tells whose record it is.
  const char* invocation = std::getenv("INVOCATION_ID");  // NOLINT(concurrency-mt-unsafe): there is one thread
  std::array<std::string, 6> fields{
      "MESSAGE_ID=641257651c1b4ec9a8624d7a40a9e1e7",
      std::string("MESSAGE=Failed at step ") + step + " spawning " + program + ": " + std::strerror(number),
      std::string("EXECUTABLE=") + program,
      "ERRNO=" + std::to_string(number),
      "PRIORITY=" + std::to_string(LOG_ERR),
      std::string("INVOCATION_ID=") + (invocation != nullptr ? invocation : "")};
  std::array<iovec, fields.size()> record{};
  for (std::size_t index = 0; index < fields.size(); ++index) {
    record[index] = {.iov_base = fields[index].data(), .iov_len = fields[index].size()};
  }
  send(record.data(), static_cast<int>(record.size()));
}

int fail_to_open(const char* path, const char* what, const Request& request, const char* step, ExitCode code) {
  const int number = errno;
  std::fprintf(stderr, "mljob-launch: cannot open %s for the job's %s: %s\n", path, what, std::strerror(number));
  record_failure(step, request.program[0], number);
  return code;
}

// As a shell's ">>" would, with the rights and the umask of the user; -1 and errno on failure. One that is emptied is
// appended to all the same: output and error may be one file.
int open_to_append(const char* path, bool truncate) {
  constexpr mode_t less_umask = 0666;
  return ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_CLOEXEC | (truncate ? O_TRUNC : 0), less_umask);
}

}  // namespace

int main(int count, char** arguments) {
  Request request;
  if (!parse(count, arguments, request)) {
    std::fputs(
        "usage: mljob-launch [--encoded] [--open-mode MODE] [--output PATH] [--error PATH] [--ignore-signal NUMBER] -- "
        "PROGRAM "
        "[ARGUMENT...]\n",
        stderr);
    return exit_usage;
  }
  const int output = request.output != nullptr ? open_to_append(request.output, request.truncate) : -1;
  if (request.output != nullptr && output < 0) {
    return fail_to_open(request.output, "output", request, "STDOUT", exit_stdout);
  }
  const int error = request.error != nullptr ? open_to_append(request.error, request.truncate) : output;
  if (request.error != nullptr && error < 0) {
    return fail_to_open(request.error, "error output", request, "STDERR", exit_stderr);
  }
  if (request.ignored_signal != 0) std::signal(request.ignored_signal, SIG_IGN);
  // The present one is the job's log, where whoever looks for a reason looks first.
  const int log = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (output >= 0) ::dup2(output, STDOUT_FILENO);
  if (error >= 0) ::dup2(error, STDERR_FILENO);
  ::execvp(request.program[0], request.program);
  const int number = errno;
  ::dprintf(log, "mljob-launch: cannot run %s: %s\n", request.program[0], std::strerror(number));
  record_failure("EXEC", request.program[0], number);
  return exit_exec;
}
