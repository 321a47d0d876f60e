// systemd's own jobs that somebody waits for. The signal that one has ended may be dispatched before the reply that
// names it, so endings are kept while a reply is outstanding.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/types.hpp"

namespace mljobd::systemd {

enum class UnitJobKind { start, stop };

class UnitJobs {
 public:
  using Done = std::function<void(core::Expected<std::string>)>;
  struct Waiting {
    UnitJobKind kind = UnitJobKind::start;
    std::string unit{};
    Done done{};
  };

  void call_sent() { ++calls_; }
  // The call was answered, with an error or by a job that is expected now.
  void call_answered();
  // The result, where the job has ended already; else it will come from ended().
  [[nodiscard]] std::optional<std::string> expect(const std::string& path, Waiting waiting);
  // The reply was lost, so that only the unit is known.
  void expect_any(Waiting waiting);
  // Everybody who waited for this job: two stops of one unit share a job.
  [[nodiscard]] std::vector<Waiting> ended(const std::string& path, const std::string& unit, const std::string& result);

  [[nodiscard]] bool idle() const { return calls_ == 0 && waiting_.empty() && waiting_by_unit_.empty(); }
  // Jobs that are waited for by their path.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> paths_and_units() const;

 private:
  // More endings than that between a call and its reply are other people's.
  static constexpr std::size_t kept_endings = 1024;

  std::size_t calls_ = 0;
  std::multimap<std::string, Waiting> waiting_;  // by path
  std::multimap<std::string, Waiting> waiting_by_unit_;
  std::deque<std::pair<std::string, std::string>> endings_;
};

}  // namespace mljobd::systemd
