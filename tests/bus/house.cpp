#include "house.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <sys/wait.h>

#include "core/unit_names.hpp"

namespace mljobd::test {
namespace {

constexpr const char* service_name = "org.mljobd1";
constexpr const char* manager_interface = "org.mljobd1.Manager";
constexpr auto call_timeout = std::chrono::seconds(30);

constexpr const char* class_name = "train";

using Dictionary = std::map<std::string, sdbus::Variant>;

bool is_slice(const std::string& unit) { return unit.ends_with(".slice"); }

}  // namespace

std::string unit_of(std::uint32_t id) { return core::job_unit(id, 1, core::JobKind::batch); }

FakeUnit exited_unit(std::int32_t code) {
  if (code == 0) return {.sub = "exited", .main_code = CLD_EXITED};
  return {.active = "failed", .sub = "failed", .result = "exit-code", .main_code = CLD_EXITED, .main_status = code};
}

std::string JobRow::summary() const {
  return result.empty() ? state : state + " " + result + " " + std::to_string(exit_code);
}

House::House() : connection_(bus.connect()) {
  manager_ = sdbus::createProxy(*connection_, service_name, "/org/mljobd1");
  bus_proxy_ = sdbus::createProxy(*connection_, "org.freedesktop.DBus", "/org/freedesktop/DBus");
  systemd_returns();
}

void House::systemd_returns() {
  systemd = std::make_unique<FakeManager>(loop, bus);
  systemd->on_start = [this](const std::string& unit) { return is_slice(unit) ? start_unit(unit) : on_start(unit); };
  systemd->on_stop = [this](const std::string& unit) { return is_slice(unit) ? on_stop_slice(unit) : on_stop(unit); };
  for (const auto& [name, state] : units_) systemd->set_unit(name, state);
}

void House::systemd_leaves() {
  units_ = systemd->units();
  systemd.reset();
}

bool House::daemon_owns_name() {
  bool owned = false;
  bus_proxy_->callMethod("NameHasOwner")
      .onInterface("org.freedesktop.DBus")
      .withTimeout(call_timeout)
      .withArguments(std::string(service_name))
      .storeResultsTo(owned);
  return owned;
}

void House::start_daemon() {
  daemon = std::make_unique<DaemonProcess>(bus.address(), directory.path());
  const bool up = reaches([this] { return daemon_owns_name() || daemon->exit_status(); });
  INFO(daemon->output());
  REQUIRE(up);
  REQUIRE_FALSE(daemon->exit_status());
}

void House::kill_daemon() {
  daemon->kill_now();
  REQUIRE(reaches([this] { return !daemon_owns_name(); }));
}

void House::restart_daemon() {
  kill_daemon();
  start_daemon();
}

static House::Dictionary specification(const House::Dictionary& keys) {
  House::Dictionary spec = keys;
  spec.insert({{"class", std::string(class_name)},
               {"command", std::vector<std::string>{"/usr/bin/python3", "train.py"}},
               {"workdir", std::string("/")}});
  return spec;
}

sdbus::Variant text_pairs(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::vector<sdbus::Struct<std::string, std::string>> structs;
  for (const auto& [first, second] : pairs) structs.emplace_back(first, second);
  return structs;
}

std::vector<std::uint32_t> House::submit_pipeline(const std::vector<Dictionary>& stages) {
  std::vector<Dictionary> specs;
  for (const auto& stage : stages) specs.push_back(specification(stage));
  std::vector<sdbus::Struct<std::uint32_t, sdbus::ObjectPath>> jobs;
  manager_->callMethod("SubmitPipeline")
      .onInterface(manager_interface)
      .withTimeout(call_timeout)
      .withArguments(specs, Dictionary{})
      .storeResultsTo(jobs);
  std::vector<std::uint32_t> ids;
  for (const auto& job : jobs) ids.push_back(job.get<0>());
  return ids;
}

std::vector<House::Dictionary> House::preview(const std::vector<Dictionary>& stages) {
  std::vector<Dictionary> specs;
  for (const auto& stage : stages) specs.push_back(specification(stage));
  std::vector<Dictionary> plan;
  manager_->callMethod("Preview")
      .onInterface(manager_interface)
      .withTimeout(call_timeout)
      .withArguments(specs, Dictionary{})
      .storeResultsTo(plan);
  return plan;
}

std::uint32_t House::submit(const Dictionary& keys) {
  std::uint32_t id = 0;
  sdbus::ObjectPath path;
  manager_->callMethod("Submit")
      .onInterface(manager_interface)
      .withTimeout(call_timeout)
      .withArguments(specification(keys), Dictionary{})
      .storeResultsTo(id, path);
  return id;
}

std::uint32_t House::running_job(const Dictionary& keys) {
  const auto id = submit(keys);
  REQUIRE(reaches(id, "running"));
  return id;
}

std::string House::cancel(std::uint32_t id) { return outcome_of("Cancel", id); }

std::string House::requeue(std::uint32_t id) { return outcome_of("Requeue", id); }

std::string House::outcome_of(const std::string& method, std::uint32_t id) {
  std::vector<Dictionary> outcome;
  manager_->callMethod(method)
      .onInterface(manager_interface)
      .withTimeout(call_timeout)
      .withArguments(std::vector<std::uint32_t>{id}, Dictionary{})
      .storeResultsTo(outcome);
  const auto error = outcome.at(0).find("error");
  return error == outcome.at(0).end() ? "" : error->second.get<std::string>();
}

JobRow House::row(std::uint32_t id) {
  std::vector<Dictionary> rows;
  manager_->callMethod("ListJobs")
      .onInterface(manager_interface)
      .withTimeout(call_timeout)
      .withArguments(Dictionary{{"ids", std::vector<std::uint32_t>{id}}})
      .storeResultsTo(rows);
  const Dictionary& found = rows.at(0);
  const auto text = [](const Dictionary& from, const char* key) {
    const auto entry = from.find(key);
    return entry == from.end() ? std::string() : entry->second.get<std::string>();
  };
  const auto cause = found.at("cause").get<Dictionary>();
  std::optional<std::uint32_t> index;
  if (const auto entry = found.find("array_index"); entry != found.end()) index = entry->second.get<std::uint32_t>();
  return {.state = text(found, "state"),
          .result = text(found, "result"),
          .cause = text(cause, "what"),
          .advice = text(cause, "advice"),
          .unit = text(found, "unit"),
          .exit_code = found.at("exit_code").get<std::int32_t>(),
          .attempt = found.at("attempt").get<std::uint32_t>(),
          .reason = text(found, "reason"),
          .array_index = index};
}

std::vector<House::Dictionary> House::list(const Dictionary& filter) {
  std::vector<Dictionary> rows;
  manager_->callMethod("ListJobs")
      .onInterface(manager_interface)
      .withTimeout(call_timeout)
      .withArguments(filter)
      .storeResultsTo(rows);
  return rows;
}

House::Dictionary House::forecast(std::uint32_t id) {
  const auto job = sdbus::createProxy(*connection_, service_name, "/org/mljobd1/job/" + std::to_string(id));
  return job->getProperty("Forecast").onInterface("org.mljobd1.Job").get<Dictionary>();
}

std::vector<std::pair<std::string, std::string>> House::events(std::uint32_t id, const std::string& kind) {
  std::vector<Dictionary> rows;
  manager_->callMethod("ListEvents")
      .onInterface(manager_interface)
      .withTimeout(call_timeout)
      .withArguments(Dictionary{{"job", id}})
      .storeResultsTo(rows);
  std::vector<std::pair<std::string, std::string>> found;
  for (const auto& row : rows) {
    if (row.at("kind").get<std::string>() != kind) continue;
    found.emplace_back(row.at("reason").get<std::string>(), row.at("message").get<std::string>());
  }
  return found;
}

void House::configure(const std::string& json) const {
  const auto folder = directory.path() + "/configuration";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/config.json") << json;
}

bool House::reaches(std::uint32_t id, const std::string& summary) {
  const bool reached = reaches([&] { return row(id).summary() == summary; });
  if (!reached) UNSCOPED_INFO("job " << id << " is \"" << row(id).summary() << "\"; mljobd: " << daemon->output());
  return reached;
}

std::ptrdiff_t House::called(const std::string& call) const {
  return std::count(systemd->calls.begin(), systemd->calls.end(), call);
}

bool House::is_called(const std::string& call) {
  return reaches([&] { return called(call) > 0; });
}

std::string House::new_job_path() { return "/org/freedesktop/systemd1/job/" + std::to_string(++jobs_); }

// The request for a job's service creates the job's slice as well, which outlives it.
std::string House::start_unit(const std::string& unit) {
  const auto path = new_job_path();
  if (const auto job = core::parse_job_unit(unit)) {
    systemd->set_unit(core::job_slice(class_name, job->id), {.sub = "active"});
  }
  systemd->after_answer([this, unit, path] {
    systemd->set_unit(unit, is_slice(unit) ? FakeUnit{.sub = "active"} : FakeUnit{});
    systemd->announce(unit);
    systemd->job_removed(path, unit, "done");
  });
  return path;
}

// A service that was stopped is forgotten at once, as PID 1 forgets what nobody needs.
std::string House::stop_unit(const std::string& unit) {
  const auto found = systemd->units().find(unit);
  const bool known = found != systemd->units().end() && found->second.load == "loaded";
  if (!is_slice(unit) && !known) {
    throw sdbus::Error("org.freedesktop.systemd1.NoSuchUnit", "Unit " + unit + " not loaded.");
  }
  const auto path = new_job_path();
  systemd->after_answer([this, unit, path, known] {
    if (known && !is_slice(unit)) {
      systemd->set_unit(unit, {.active = "inactive", .sub = "dead", .main_code = CLD_KILLED, .main_status = SIGTERM});
      systemd->announce(unit);
    }
    systemd->job_removed(path, unit, "done");
    forget_unit(unit);
    if (const auto slice = core::parse_job_slice(unit)) forget_services(slice->id);
  });
  return path;
}

void House::forget_unit(const std::string& unit) {
  systemd->set_unit(unit, unknown_unit());
  systemd->unit_removed(unit);
}

void House::forget_services(std::uint32_t id) {
  const auto units = systemd->units();
  for (const auto& [name, state] : units) {
    const auto parsed = core::parse_job_unit(name);
    if (parsed && parsed->id == id && state.load == "loaded") forget_unit(name);
  }
}

void House::exits(const std::string& unit, std::int32_t code) {
  systemd->set_unit(unit, exited_unit(code));
  systemd->announce(unit);
}

}  // namespace mljobd::test
