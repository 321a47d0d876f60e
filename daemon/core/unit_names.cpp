#include "core/unit_names.hpp"

#include <charconv>

namespace mljobd::core {
namespace {

constexpr std::string_view prefix = "mljob-";

bool consume(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

std::optional<std::uint32_t> consume_number(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  // A leading zero would give two names to one job.
  if (error != std::errc{} || number == 0 || text.front() == '0') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

std::string class_slice(std::string_view class_name) { return std::string(prefix).append(class_name).append(".slice"); }

std::string job_slice(std::string_view class_name, JobId id) {
  return std::string(prefix).append(class_name).append("-").append(std::to_string(id)).append(".slice");
}

std::string job_slice(const Job& job) { return job_slice(job.spec.class_name, job.id); }

std::string job_unit(JobId id, std::uint32_t attempt, JobKind kind) {
  return std::string(prefix) + std::to_string(id) + "-" + std::to_string(attempt) +
         (kind == JobKind::batch ? ".service" : ".scope");
}

std::string job_unit(const Job& job) { return job_unit(job.id, job.attempt.number, job.spec.kind); }

std::string class_slice_cgroup(std::string_view class_name) {
  return std::string(root_slice) + "/" + class_slice(class_name);
}

std::string job_slice_cgroup(const Job& job) { return class_slice_cgroup(job.spec.class_name) + "/" + job_slice(job); }

std::optional<UnitOfJob> parse_job_unit(std::string_view unit) {
  if (!consume(unit, prefix)) return std::nullopt;
  const auto id = consume_number(unit);
  if (!id || !consume(unit, "-")) return std::nullopt;
  const auto attempt = consume_number(unit);
  if (!attempt || (unit != ".service" && unit != ".scope")) return std::nullopt;
  return UnitOfJob{.id = *id, .attempt = *attempt, .scope = unit == ".scope"};
}

std::optional<SliceOfJob> parse_job_slice(std::string_view unit) {
  if (!consume(unit, prefix)) return std::nullopt;
  const auto dash = unit.find('-');
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  std::string class_name(unit.substr(0, dash));
  unit.remove_prefix(dash + 1);
  const auto id = consume_number(unit);
  if (!id || unit != ".slice") return std::nullopt;
  return SliceOfJob{.class_name = std::move(class_name), .id = *id};
}

}  // namespace mljobd::core
