// What the settings mean: layers, ranges, and mistakes that are named with their line.
#include "core/settings.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "config/config.hpp"
#include "core/format.hpp"

namespace mljobd::config {
namespace {

core::Settings parsed(const std::string& text, core::Settings base = core::default_settings()) {
  auto settings = parse_settings(text, "config.json", std::move(base));
  if (!settings) FAIL(settings.error().message);
  return *std::move(settings);
}

std::string refused(const std::string& text) {
  const auto settings = parse_settings(text, "config.json", core::default_settings());
  if (settings) return "accepted";
  CHECK(settings.error().code == core::ErrorCode::invalid_config);
  return settings.error().message;
}

const core::JobClass& class_named(const core::Settings& settings, const std::string& name) {
  const auto* found = core::find_class(settings, name);
  if (found == nullptr) FAIL("no class " << name);
  return *found;
}

std::vector<std::string> class_names(const core::Settings& settings) {
  std::vector<std::string> names;
  for (const auto& entry : settings.classes) names.push_back(entry.name);
  return names;
}

TEST_CASE("an empty document changes nothing") {
  CHECK(parsed("{}") == core::default_settings());
  CHECK(parsed("// nothing\n{ /* at all */ }\n") == core::default_settings());
}

TEST_CASE("every value can be set") {
  const auto settings = parsed(R"({
    "default_class": "nightly",
    "classes": [{"name": "nightly", "cpu_weight": 10000, "io_weight": 1, "rank": -5, "max_running": 2,
                 "oom_score_adjust": 1000, "default_memory": "4G", "maximum_memory": "4G"}],
    "host_memory_reserve": "512M",
    "log_limit": "16M",
    "default_stop_timeout": "90s",
    "history": {"age": "30d", "jobs": 5},
    "quotas": {"queued_jobs": 7, "unfinished_jobs_total": 8}
  })");
  CHECK(settings.default_class == "nightly");
  CHECK(class_named(settings, "nightly") == core::JobClass{.name = "nightly",
                                                           .cpu_weight = 10000,
                                                           .io_weight = 1,
                                                           .rank = -5,
                                                           .max_running = 2,
                                                           .oom_score_adjust = 1000,
                                                           .default_memory = 4ULL << 30U,
                                                           .maximum_memory = 4ULL << 30U});
  CHECK(settings.host_memory_reserve == 512ULL << 20U);
  CHECK(settings.log_limit == 16ULL << 20U);
  CHECK(settings.default_stop_timeout == std::chrono::seconds(90));
  CHECK(settings.history_age == std::chrono::hours(24 * 30));
  CHECK(settings.history_jobs == 5);
  CHECK(settings.quotas == core::Quotas{.queued_jobs = 7, .unfinished_jobs_total = 8});
}

TEST_CASE("a layer changes only what it names") {
  core::Settings base = core::default_settings();
  base.history_jobs = 11;
  base.quotas.queued_jobs = 12;
  const auto settings = parsed(R"({"history": {"age": "1d"}, "quotas": {"unfinished_jobs_total": 99}})", base);
  CHECK(settings.history_jobs == 11);
  CHECK(settings.quotas == core::Quotas{.queued_jobs = 12, .unfinished_jobs_total = 99});
}

TEST_CASE("classes are merged by name, keep their order, and can be removed") {
  const auto settings = parsed(R"({"default_class": "train", "classes": [
    {"name": "validate", "max_running": 1}, {"name": "nightly"}, {"name": "batch", "remove": true},
    {"name": "train", "remove": false}]})");
  CHECK(class_names(settings) == std::vector<std::string>{"train", "validate", "nightly"});
  auto expected = class_named(core::default_settings(), "validate");
  expected.max_running = 1;
  CHECK(class_named(settings, "validate") == expected);
  CHECK(class_named(settings, "nightly") == core::JobClass{.name = "nightly"});
  CHECK(class_named(settings, "train") == class_named(core::default_settings(), "train"));
}

TEST_CASE("null takes a limit away that an earlier layer gave") {
  core::Settings base = core::default_settings();
  base.host_memory_reserve = 1ULL << 30U;
  base.classes[0].default_memory = 1ULL << 30U;
  base.classes[0].maximum_memory = 1ULL << 30U;
  const auto settings = parsed(R"({"host_memory_reserve": null,
      "classes": [{"name": "train", "default_memory": null, "maximum_memory": null}]})",
                               base);
  CHECK(settings == core::default_settings());
}

TEST_CASE("mistakes are named with file, line and reason") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"{\n\"default_class\": \"nope\"}", "2: default_class: there is no class 'nope'"},
      {"{\n\n\"log_limits\": \"1G\"}", "3: unknown key 'log_limits': did you mean 'log_limit'?"},
      {"{\"zzzzzzzzzzzz\": 1}",
       "1: unknown key 'zzzzzzzzzzzz'; known are default_class, classes, host_memory_reserve, log_limit, "
       "default_stop_timeout, growth, history, quotas, pressure"},
      {"{\"quotas\": {\n\"queued\": 1}}",
       "2: quotas: unknown key 'queued'; known are queued_jobs, unfinished_jobs_total"},
      {"{\"quotas\":\n 7\n}", "2: quotas: an object was expected, this is a whole number"},
      {"{\"log_limit\": 7}", "1: log_limit: a size in quotes, as in \"512M\", was expected, this is a whole number"},
      {"{\"default_stop_timeout\": 30}",
       "1: default_stop_timeout: a duration in quotes, as in \"30s\", was expected, this is a whole number"},
      {"{\"default_stop_timeout\":\n\n\"25h\"}",
       "3: default_stop_timeout: '25h' is out of range: 1s to 1d00h are allowed"},
      {"{\"log_limit\": \"unlimited\"}",
       "1: log_limit: 'unlimited' is out of range: " + core::format_bytes(1ULL << 20U) + " to " +
           core::format_bytes(1ULL << 50U) + " are allowed"},
      {"{\"history\": {\"jobs\": 1.5}}", "1: history: jobs: a whole number was expected, this is a fraction"},
      {"{\"history\": {\"jobs\": -1}}", "1: history: jobs: -1 is out of range: 0 to 1000000 are allowed"},
      {"{\"history\": {\"jobs\": 18446744073709551615}}",
       "1: history: jobs: 9223372036854775807 is out of range: 0 to 1000000 are allowed"},
      {"{\"classes\": {}}", "1: classes: a list was expected, this is an object"},
      {"{\"classes\": [\n7]}", "2: classes: an object was expected, this is a whole number"},
      {"{\"classes\": [\n{}]}", "2: classes: a class without a name: give it one, as in {\"name\": \"train\", …}"},
      {"{\"classes\": [{\"name\": 5}]}", "1: classes: name: a text was expected, this is a whole number"},
      {"{\"classes\": [{\"name\": \"a\"},\n{\"name\": \"a\"}]}",
       "2: classes: class 'a' is given twice, first in line 1"},
      {"{\"classes\": [{\"name\": \"train\",\n\"cpu_weight\": 0}]}",
       "2: classes: class 'train': cpu_weight: 0 is out of range: 1 to 10000 are allowed"},
      {"{\"classes\": [{\"name\": \"train\", \"oom_score_adjust\": 0}]}",
       "1: classes: class 'train': oom_score_adjust: 0 is out of range: 1 to 1000 are allowed"},
      {"{\"classes\": [{\"name\": \"train\", \"cpu_wieght\": 5}]}",
       "1: classes: class 'train': unknown key 'cpu_wieght': did you mean 'cpu_weight'?"},
      {"{\"classes\": [{\"name\": \"x\", \"remove\": true}]}",
       "1: classes: class 'x': there is no such class to remove"},
      {"{\"classes\": [{\"name\": \"train\", \"remove\": true, \"rank\": 1}]}",
       "1: classes: class 'train': a class that is removed has no other keys than name and remove"},
      {"{\"classes\": [{\"name\": \"train\", \"remove\": 1}]}",
       "1: classes: class 'train': remove: true or false was expected, this is a whole number"},
      {"{\n\"classes\":\n[{\"name\": \"batch\", \"remove\": true}]}", "2: default_class: there is no class 'batch'"},
      {"{\"classes\": [{\"name\": \"train\", \"default_memory\": \"2G\", \"maximum_memory\": \"1G\"}]}",
       "1: classes: class 'train': default_memory is larger than maximum_memory"},
      {"{\"classes\": [{\"name\": \"train\", \"remove\": true}, {\"name\": \"validate\", \"remove\": true},"
       " {\"name\": \"batch\", \"remove\": true}]}",
       "1: classes: no class is left: at least one is needed"},
      {"[]", "1: an object was expected, this is a list"},
      {"\n7", "2: an object was expected, this is a whole number"},
  };
  for (const auto& [text, message] : cases) {
    CAPTURE(text);
    CHECK(refused(text) == "config.json:" + message);
  }
}

TEST_CASE("the reason that a size or duration is refused for is the one its parser gives") {
  CHECK(refused(R"({"log_limit": "5%"})").starts_with("config.json:1: log_limit: "));
  CHECK(refused(R"({"history": {"age": "soon"}})").starts_with("config.json:1: history: age: "));
  CHECK(refused(R"({"history": {"age": "soon"}})").find("soon") != std::string::npos);
}

TEST_CASE("class names are what fits into a slice name") {
  for (const std::string name : {"a", "train", "a_1", "abcdefghijklmnopqrstuvwxyz_01234"}) {
    CAPTURE(name);
    CHECK(class_names(parsed("{\"classes\": [{\"name\": \"" + name + "\"}]}")).back().size() >= 1);
    CHECK(core::find_class(parsed("{\"classes\": [{\"name\": \"" + name + "\"}]}"), name) != nullptr);
  }
  for (const std::string name :
       {"", "A", "_a", "1a", "a-b", "a.b", "ä", "a b", "a\\n", "abcdefghijklmnopqrstuvwxyz_012345"}) {
    CAPTURE(name);
    CHECK(refused("{\"classes\": [{\"name\": \"" + name + "\"}]}").find("is not a name for a class") !=
          std::string::npos);
  }
}

TEST_CASE("there are at most so many classes") {
  const auto with_classes = [](std::size_t count) {
    std::string text = "{\"classes\": [";
    for (std::size_t i = 0; i < count; ++i) {
      text += (i == 0 ? "{\"name\": \"c" : ", {\"name\": \"c") + std::to_string(i) + "\"}";
    }
    return text + "]}";
  };
  CHECK(parsed(with_classes(max_classes - 3)).classes.size() == max_classes);
  CHECK(refused(with_classes(max_classes - 2)) ==
        "config.json:1: classes: 33 classes are too many: at most 32 are allowed");
}

}  // namespace
}  // namespace mljobd::config
