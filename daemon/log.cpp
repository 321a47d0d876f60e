#include "log.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

namespace mljobd::log {
namespace {

bool to_journal = false;

spdlog::logger& console() {
  static spdlog::logger logger("mljobd", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  return logger;
}

// systemd sets JOURNAL_STREAM to the device and inode of the stream it connected standard error to.
bool standard_error_is_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  if (stream == nullptr) return false;
  struct stat status{};
  if (fstat(STDERR_FILENO, &status) != 0) return false;
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino) == stream;
}

void write(int priority, spdlog::level::level_enum level, std::string_view message) {
  if (!to_journal) return console().log(level, spdlog::string_view_t(message.data(), message.size()));
  sd_journal_send("PRIORITY=%i", priority, "MESSAGE=%.*s", static_cast<int>(message.size()), message.data(), nullptr);
}

}  // namespace

void open() {
  to_journal = standard_error_is_journal();
  console().set_pattern("%l: %v");
}

void info(std::string_view message) { write(LOG_INFO, spdlog::level::info, message); }
void warning(std::string_view message) { write(LOG_WARNING, spdlog::level::warn, message); }
void error(std::string_view message) { write(LOG_ERR, spdlog::level::err, message); }

void job(std::uint32_t id, std::string_view message) {
  if (!to_journal) return console().info("job {}: {}", id, message);
  sd_journal_send("PRIORITY=%i", LOG_INFO, "MLJOBD_JOB_ID=%u", id, "MESSAGE_ID=%s", message_id_job_state.data(),
                  "MESSAGE=job %u: %.*s", id, static_cast<int>(message.size()), message.data(), nullptr);
}

void decision(std::uint32_t id, std::string_view action, std::string_view message) {
  if (!to_journal) return console().info("{}", message);
  sd_journal_send("PRIORITY=%i", LOG_NOTICE, "MLJOBD_JOB_ID=%u", id, "MLJOBD_ACTION=%.*s",
                  static_cast<int>(action.size()), action.data(), "MESSAGE_ID=%s", message_id_decision.data(),
                  "MESSAGE=%.*s", static_cast<int>(message.size()), message.data(), nullptr);
}

void growth(const Growth& seen) {
  const auto text = "job " + std::to_string(seen.job) + ": " + std::string(seen.message);
  const int priority = seen.urgent ? LOG_WARNING : LOG_NOTICE;
  if (!to_journal) return write(priority, seen.urgent ? spdlog::level::warn : spdlog::level::info, text);
  // sd_journal_send stops at the first null: without a time the list ends there.
  const auto time = seen.time_to_limit.value_or(core::Microseconds{0}).count();
  sd_journal_send("PRIORITY=%i", priority, "MLJOBD_JOB_ID=%u", seen.job, "MLJOBD_GROWTH=%.*s",
                  static_cast<int>(seen.word.size()), seen.word.data(), "MESSAGE_ID=%s", message_id_growth.data(),
                  "MESSAGE=%s", text.c_str(), "MLJOBD_BYTES_PER_HOUR=%lld", static_cast<long long>(seen.bytes_per_hour),
                  seen.time_to_limit ? "MLJOBD_TIME_TO_LIMIT_USEC=%lld" : nullptr, static_cast<long long>(time),
                  nullptr);
}

}  // namespace mljobd::log
