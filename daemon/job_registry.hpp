// The jobs in memory, by what is asked for all the time: their state, their owner, their key.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/job.hpp"
#include "core/types.hpp"

namespace mljobd {

class JobRegistry {
 public:
  core::Job& add(core::Job job);
  // After the job's state has changed.
  void reindex(core::Job& job);
  void erase(core::JobId id);

  [[nodiscard]] core::Job* find(core::JobId id);
  [[nodiscard]] const core::Job* find(core::JobId id) const;
  [[nodiscard]] core::Job& at(core::JobId id) { return jobs_.at(id); }
  [[nodiscard]] const core::Job& at(core::JobId id) const { return jobs_.at(id); }
  [[nodiscard]] const std::map<core::JobId, core::Job>& all() const { return jobs_; }

  using View = std::map<core::JobId, core::Job*>;

  [[nodiscard]] const View& waiting() const { return waiting_; }
  [[nodiscard]] const View& active() const { return active_; }  // core::has_units
  [[nodiscard]] std::uint32_t waiting_of(core::UserId owner) const;
  [[nodiscard]] std::optional<core::JobId> with_key(core::UserId owner, const std::string& key) const;
  // Unfinished ones, by id.
  [[nodiscard]] std::vector<core::JobId> unfinished_named(core::UserId owner, const std::string& name) const;

 private:
  using OwnerAndKey = std::pair<core::UserId, std::string>;

  void forget_place(const core::Job& job);

  std::map<core::JobId, core::Job> jobs_;
  View waiting_;
  View active_;
  std::map<core::UserId, std::uint32_t> waiting_of_;
  std::map<OwnerAndKey, core::JobId> keys_;
};

}  // namespace mljobd
