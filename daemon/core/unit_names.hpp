// The names of a job's units. They are a function of class, id and attempt, so that a daemon that lost its
// memory of a start finds the units again. A dash nests slices, hence class names have none.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/job.hpp"

namespace mljobd::core {

inline constexpr std::string_view root_slice = "mljob.slice";

[[nodiscard]] std::string class_slice(std::string_view class_name);          // mljob-train.slice
[[nodiscard]] std::string job_slice(std::string_view class_name, JobId id);  // mljob-train-42.slice
[[nodiscard]] std::string job_slice(const Job& job);
[[nodiscard]] std::string job_unit(JobId id, std::uint32_t attempt, JobKind kind);  // mljob-42-1.service or .scope
[[nodiscard]] std::string job_unit(const Job& job);

// The cgroup below the root of the hierarchy: mljob.slice/mljob-train.slice/mljob-train-42.slice
// (under `systemd --user` the caller puts the manager's own cgroup in front).
[[nodiscard]] std::string job_slice_cgroup(const Job& job);
[[nodiscard]] std::string class_slice_cgroup(std::string_view class_name);

struct UnitOfJob {
  JobId id = 0;
  std::uint32_t attempt = 0;
  bool scope = false;
  bool operator==(const UnitOfJob&) const = default;
};
struct SliceOfJob {
  std::string class_name{};
  JobId id = 0;
  bool operator==(const SliceOfJob&) const = default;
};
// Empty when the name is not one that the functions above make.
[[nodiscard]] std::optional<UnitOfJob> parse_job_unit(std::string_view unit);
[[nodiscard]] std::optional<SliceOfJob> parse_job_slice(std::string_view unit);

}  // namespace mljobd::core
