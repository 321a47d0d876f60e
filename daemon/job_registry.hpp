// The jobs in memory, by what is asked for all the time: their state, their owner, their key.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
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
  void reindex(const core::Job& job);
  void erase(core::JobId id);

  [[nodiscard]] core::Job* find(core::JobId id);
  [[nodiscard]] const core::Job* find(core::JobId id) const;
  [[nodiscard]] core::Job& at(core::JobId id) { return jobs_.at(id); }
  [[nodiscard]] const std::map<core::JobId, core::Job>& all() const { return jobs_; }

  [[nodiscard]] const std::set<core::JobId>& waiting() const { return waiting_; }
  [[nodiscard]] const std::set<core::JobId>& active() const { return active_; }  // core::has_units
  [[nodiscard]] std::uint32_t waiting_of(core::UserId owner) const;
  [[nodiscard]] std::optional<core::JobId> with_key(core::UserId owner, const std::string& key) const;
  // Unfinished ones, by id.
  [[nodiscard]] std::vector<core::JobId> unfinished_named(core::UserId owner, const std::string& name) const;

 private:
  using OwnerAndKey = std::pair<core::UserId, std::string>;

  void forget_place(const core::Job& job);

  std::map<core::JobId, core::Job> jobs_;
  std::set<core::JobId> waiting_;
  std::set<core::JobId> active_;
  std::map<core::UserId, std::uint32_t> waiting_of_;
  std::map<OwnerAndKey, core::JobId> keys_;
};

}  // namespace mljobd
