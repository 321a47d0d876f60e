// Files and their order, and files that must not be believed.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include <catch2/catch.hpp>
#include <stdlib.h>
#include <sys/stat.h>

#include "config/config.hpp"
#include "core/settings.hpp"

namespace mljobd::config {
namespace {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "mljobd-config-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
    std::filesystem::create_directory(path_ + "/conf.d");
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string path(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] ConfigSources sources() const { return {.file = path("config.json"), .directory = path("conf.d")}; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::trunc) << text;
    std::filesystem::permissions(path(name), std::filesystem::perms(0644));
  }
  [[nodiscard]] core::Settings load() const {
    auto settings = load_settings(sources());
    if (!settings) FAIL(settings.error().message);
    return *std::move(settings);
  }
  [[nodiscard]] std::string refused() const {
    const auto settings = load_settings(sources());
    if (settings) return "accepted";
    CHECK(settings.error().code == core::ErrorCode::invalid_config);
    return settings.error().message;
  }

 private:
  std::string path_;
};

TEST_CASE("without files the defaults hold") {
  CHECK(load_settings({}) == core::default_settings());
  CHECK(load_settings({.file = "/nonexistent/config.json", .directory = "/nonexistent/conf.d"}) ==
        core::default_settings());
  const Folder folder;
  CHECK(folder.load() == core::default_settings());
}

core::PressureSettings other_than_default_pressure() {
  core::PressureSettings other;
  other.mode = core::PressureMode::off;
  for (auto* share : {&other.watch_below, &other.throttle_below, &other.park_below, &other.kill_below,
                      &other.emergency_below, &other.help_at_least, &other.unpark_margin}) {
    *share = {99, 99ULL << 30U};
  }
  for (auto* percent :
       {&other.throttle_stall_percent, &other.park_stall_percent, &other.kill_stall_percent, &other.group_stall_percent,
        &other.top_speed_percent, &other.top_refaults_per_second, &other.calm_stall_percent, &other.calm_margin_percent,
        &other.throttle_room_percent, &other.park_swap_percent, &other.time_scale_percent}) {
    *percent = 99;
  }
  for (auto* time : {&other.forecast_time, &other.throttle_stall_time, &other.park_stall_time, &other.kill_stall_time,
                     &other.group_stall_time, &other.top_speed_time, &other.calm_time, &other.throttle_interval,
                     &other.throttle_time, &other.park_effect_time, &other.unpark_interval, &other.kill_pending_time,
                     &other.memory_back_time, &other.cool_down_time, &other.longest_checkpoint_grace, &other.young_time,
                     &other.sample_interval, &other.pressed_sample_interval}) {
    *time = std::chrono::seconds(42);
  }
  other.longest_park_time = std::chrono::hours(1);
  return other;
}

core::GrowthSettings other_than_default_growth() {
  core::GrowthSettings other{
      .minimum_slope = 1, .minimum_slope_percent = 42, .minimum_rise = 1, .minimum_rise_percent = 42, .jump_z = 42};
  for (auto* time : {&other.sample, &other.bucket, &other.warmup, &other.longest_warmup, &other.warning,
                     &other.critical, &other.shown}) {
    *time = std::chrono::seconds(42);
  }
  other.p_value = 0.1;
  other.time_scale_percent = 42;
  return other;
}

TEST_CASE("the configuration that is shipped says what the defaults are") {
  const auto settings = load_settings({.file = MLJOBD_SHIPPED_CONFIG, .directory = ""});
  if (!settings) FAIL(settings.error().message);
  CHECK(*settings == core::default_settings());
  // Over anything else it leads back to them, so every default is written in it.
  core::Settings other = core::default_settings();
  other.default_class = "train";
  other.host_memory_reserve = 1ULL << 30U;
  other.log_limit = 1ULL << 20U;
  other.default_stop_timeout = std::chrono::seconds(1);
  other.history_age = std::chrono::hours(1);
  other.history_jobs = 1;
  other.quotas = {.queued_jobs = 1, .unfinished_jobs_total = 1};
  other.pressure = other_than_default_pressure();
  other.growth = other_than_default_growth();
  for (auto& job_class : other.classes) {
    job_class.cpu_weight = job_class.io_weight = 1;
    job_class.rank = 1;
    job_class.oom_score_adjust = 1;
  }
  std::ifstream file(MLJOBD_SHIPPED_CONFIG);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  CHECK(parse_settings(text, "config.json", other) == core::default_settings());
}

TEST_CASE("drop-ins follow the file in the order of their bytes") {
  const Folder folder;
  folder.write("config.json", R"({"history": {"jobs": 1}, "log_limit": "2M"})");
  folder.write("conf.d/B.json", R"({"history": {"jobs": 2}, "quotas": {"queued_jobs": 2}})");
  folder.write("conf.d/a.json", R"({"history": {"jobs": 3}})");
  folder.write("conf.d/10.json",
               R"({"history": {"jobs": 4}, "quotas": {"queued_jobs": 4, "unfinished_jobs_total": 4}})");
  const auto settings = folder.load();
  CHECK(settings.history_jobs == 3);
  CHECK(settings.quotas == core::Quotas{.queued_jobs = 2, .unfinished_jobs_total = 4});
  CHECK(settings.log_limit == 2ULL << 20U);
}

TEST_CASE("only visible *.json files are drop-ins") {
  const Folder folder;
  folder.write("conf.d/a.json.dpkg-old", "not read");
  folder.write("conf.d/.a.json", "not read");
  folder.write("conf.d/README", "not read");
  CHECK(folder.load() == core::default_settings());
}

TEST_CASE("a class that one layer adds can be the default of the next") {
  const Folder folder;
  folder.write("config.json", R"({"classes": [{"name": "nightly"}]})");
  folder.write("conf.d/a.json", R"({"default_class": "nightly"})");
  CHECK(folder.load().default_class == "nightly");
}

TEST_CASE("a mistake is named with the file that it is in") {
  const Folder folder;
  folder.write("config.json", "{}");
  folder.write("conf.d/a.json", "{\n\"log_limit\": 1}");
  CHECK(folder.refused().starts_with(folder.path("conf.d/a.json") + ":2: log_limit: "));
}

TEST_CASE("files that others can write, and what is no file, are refused") {
  const Folder folder;
  SECTION("a file that everybody may write") {
    folder.write("config.json", "{}");
    std::filesystem::permissions(folder.path("config.json"), std::filesystem::perms(0646));
    CHECK(folder.refused().starts_with(folder.path("config.json") + ": everybody may write to it"));
  }
  SECTION("a folder that everybody may write") {
    std::filesystem::permissions(folder.path("conf.d"), std::filesystem::perms(0777));
    CHECK(folder.refused().starts_with(folder.path("conf.d") + ": everybody may write to it"));
  }
  SECTION("a folder in place of a file") {
    std::filesystem::create_directory(folder.path("config.json"));
    CHECK(folder.refused() == folder.path("config.json") + ": is not a regular file");
  }
  SECTION("a pipe, without waiting for its writer") {
    REQUIRE(mkfifo(folder.path("conf.d/a.json").c_str(), 0600) == 0);
    CHECK(folder.refused() == folder.path("conf.d/a.json") + ": is not a regular file");
  }
  SECTION("a file in place of the folder") {
    std::filesystem::remove(folder.path("conf.d"));
    folder.write("conf.d", "{}");
    CHECK(folder.refused().starts_with(folder.path("conf.d") + ": cannot be read"));
  }
  SECTION("a file of more than a mebibyte") {
    folder.write("config.json", "{}" + std::string(max_file_size, ' '));
    CHECK(folder.refused() == folder.path("config.json") + ":1: larger than 1048576 bytes");
  }
}

}  // namespace
}  // namespace mljobd::config
