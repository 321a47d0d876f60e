// The JSON documents of the pressure policy: what it has done to jobs, and the details of a decision.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/pressure_policy.hpp"
#include "core/value.hpp"

namespace mljobd::store {

// With the boot that its times belong to.
[[nodiscard]] std::string encode_pressure_state(const core::PressureState& state, const std::string& boot_id);
// Empty when it is of another boot, in which nobody is throttled or parked. Errors: storage.
[[nodiscard]] core::Expected<core::PressureState> decode_pressure_state(std::string_view text,
                                                                        const std::string& boot_id);

// Of one event; what is longer is left out, for a history must not grow by it.
inline constexpr std::size_t longest_details = 16384;
[[nodiscard]] std::string encode_details(const core::ValueMap& values);

}  // namespace mljobd::store
