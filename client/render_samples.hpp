// What a job used while it ran, as rows and as a table. Pure: no I/O.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "client/failure.hpp"
#include "client/table.hpp"
#include "core/sample_ring.hpp"
#include "core/value.hpp"

namespace mljobd::client {

// The columns of GetSamples, turned; the last `limit` samples. Of columns that differ in length the ends that not all
// have are left out.
[[nodiscard]] std::vector<core::ValueMap> sample_rows(const core::SampleColumns& columns, std::size_t limit);

// With rates where the daemon has totals: each is of the time since the sample before, and none for the first of an
// attempt. The rates of the first row shown need the one before it, hence all columns.
[[nodiscard]] Outcome<std::string> render_samples(const core::SampleColumns& columns, std::size_t limit,
                                                  const TableStyle& style);

}  // namespace mljobd::client
