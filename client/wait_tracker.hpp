// Which of the jobs one waits for have arrived. Pure.
#pragma once

#include <map>
#include <vector>

#include "client/job_row.hpp"
#include "core/types.hpp"

namespace mljobd::client {

enum class WaitFor { running, done };
enum class WaitMode { all, any };

class WaitTracker {
 public:
  WaitTracker(const std::vector<core::JobId>& ids, WaitFor target, WaitMode mode);

  // A state that the bus announced. True if it may have brought a job to its goal: its row is worth a look.
  [[nodiscard]] bool concerns(core::JobId id, std::string_view new_state) const;
  void update(const JobRow& row);
  // A success says all there is to know; of any other end the row tells the code. False if it is another end, or
  // another job.
  bool succeeded(core::JobId id, std::string_view new_state, std::string_view reason);

  [[nodiscard]] bool complete() const;
  [[nodiscard]] std::vector<core::JobId> outstanding() const;
  // Of the jobs that have arrived, the largest. 0 for those that one only wanted running and that did.
  [[nodiscard]] int exit_code() const;

 private:
  struct Entry {
    bool arrived = false;
    int exit_code = 0;
  };
  std::map<core::JobId, Entry> jobs_;
  WaitFor target_;
  WaitMode mode_;
};

}  // namespace mljobd::client
