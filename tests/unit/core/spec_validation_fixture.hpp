// A machine and specifications for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "core/spec_validation.hpp"

namespace mljobd::core::test {

using Texts = std::vector<std::string>;
constexpr Bytes gibi = Bytes{1} << 30;

struct Machine {
  Settings settings = default_settings();
  JobKind kind = JobKind::batch;
  bool privileged = false;

  [[nodiscard]] ValidationContext context() const {
    return {.settings = settings,
            .kind = kind,
            .privileged = privileged,
            .total_memory = 16 * gibi,
            .jobs_memory_max = 14 * gibi,
            .cpus = {0, 1, 2, 3, 4, 5, 6, 7, 10},
            .cores_for_jobs = 3,
            .find_jobs = [](const std::string& reference) -> Expected<std::vector<JobId>> {
              if (reference == "41") return std::vector<JobId>{41};
              if (reference == "prepare") return std::vector<JobId>{7, 8};
              if (reference == "huge") return std::vector<JobId>(600, 9);
              return failure(ErrorCode::no_such_job, "there is no job " + reference);
            }};
  }
  [[nodiscard]] Expected<JobSpec> validate(const ValueMap& spec) const { return validate_spec(spec, context()); }
};

inline ValueMap minimal() { return {{"command", Texts{"/usr/bin/python3", "train.py"}}, {"workdir", "/home/alice"}}; }

inline ValueMap with(std::string key, Value value) {
  auto spec = minimal();
  spec.insert_or_assign(std::move(key), std::move(value));
  return spec;
}

inline std::string message_of(const auto& result) { return result ? std::string("no error") : result.error().message; }

inline void check_refused(const Expected<JobSpec>& result, const std::string& part,
                          ErrorCode code = ErrorCode::invalid_spec) {
  REQUIRE_FALSE(result);
  CHECK(result.error().code == code);
  CHECK_THAT(result.error().message, Catch::Contains(part));
}

inline std::uint64_t microseconds(std::chrono::microseconds duration) {
  return static_cast<std::uint64_t>(duration.count());
}

}  // namespace mljobd::core::test
