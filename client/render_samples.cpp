#include "client/render_samples.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "client/render_text.hpp"
#include "client/values.hpp"
#include "core/format.hpp"

namespace mljobd::client {
namespace {

std::uint64_t number(const core::ValueMap& row, std::string_view key) { return value_or<std::uint64_t>(row, key, 0); }

// Of a total, in percent of the time between the two; empty where the kernel does not tell.
std::string rate(const core::ValueMap* before, const core::ValueMap& row, std::string_view key) {
  if (before == nullptr || !row.contains(key) || number(*before, "attempt") != number(row, "attempt")) return "-";
  const auto time = static_cast<double>(number(row, "time")) - static_cast<double>(number(*before, "time"));
  const auto used = static_cast<double>(number(row, key)) - static_cast<double>(number(*before, key));
  if (time <= 0 || used < 0) return "-";
  return std::to_string(std::lround(used / time * 100)) + "%";
}

TableCell size(const core::ValueMap& row, std::string_view key) { return {core::format_bytes(number(row, key))}; }

}  // namespace

std::vector<core::ValueMap> sample_rows(const core::SampleColumns& columns, std::size_t limit) {
  std::optional<std::size_t> length;
  for (const auto& [key, column] : columns) length = std::min(length.value_or(column.size()), column.size());
  std::vector<core::ValueMap> rows;
  const std::size_t end = length.value_or(0);
  for (std::size_t i = end - std::min(end, limit); i < end; ++i) {
    auto& row = rows.emplace_back();
    for (const auto& [key, column] : columns) row.emplace(key, column[i]);
  }
  return rows;
}

Outcome<std::string> render_samples(const core::SampleColumns& columns, std::size_t limit, const TableStyle& style) {
  const std::vector<TableColumn> titles{{"TIME"},          {"ATT", true},   {"MEM", true},
                                        {"ANON", true},    {"SWAP", true},  {"CPU", true},
                                        {"MEMWAIT", true}, {"STALL", true}, {"IOWAIT", true}};
  const auto rows = sample_rows(columns, limit < SIZE_MAX ? limit + 1 : limit);
  std::vector<std::vector<TableCell>> cells;
  for (std::size_t i = rows.size() - std::min(rows.size(), limit); i < rows.size(); ++i) {
    const auto* before = i > 0 ? &rows[i - 1] : nullptr;
    const auto& row = rows[i];
    cells.push_back({{format_time(number(row, "time"))},
                     {std::to_string(number(row, "attempt"))},
                     size(row, "memory_current"),
                     size(row, "memory_anon_shmem"),
                     size(row, "swap_current"),
                     {rate(before, row, "cpu_time")},
                     {rate(before, row, "memory_waiting")},
                     {rate(before, row, "memory_stalled")},
                     {rate(before, row, "io_waiting")}});
  }
  return render_table(titles, cells, style);
}

}  // namespace mljobd::client
