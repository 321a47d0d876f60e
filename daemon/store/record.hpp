// The JSON documents that a job is stored as. The mutable part is small and written with every change of state; the
// specification is written once; its environment, often the bulk, is a document of its own that lists do not read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/job.hpp"
#include "core/types.hpp"

namespace mljobd::store {

[[nodiscard]] std::string encode_record(const core::Job& job);                       // owner_name, state, attempt
[[nodiscard]] std::string encode_specification(const core::JobSpec& specification);  // without the environment
[[nodiscard]] std::string encode_environment(const core::JobSpec& specification);

// Unknown keys are ignored (a newer minor version wrote them), missing ones leave what is there.
// Errors: storage, the message a reason without a subject.
[[nodiscard]] core::Expected<void> decode_record(std::string_view text, core::Job& job);
[[nodiscard]] core::Expected<void> decode_specification(std::string_view text, core::JobSpec& specification);
[[nodiscard]] core::Expected<void> decode_environment(std::string_view text, core::JobSpec& specification);

}  // namespace mljobd::store
