// What the manager answers about the machine and about how to use it.
#include <thread>

#include <catch2/catch.hpp>

#include "house.hpp"

using namespace mljobd::test;

namespace {

using Variants = std::map<std::string, sdbus::Variant>;
using Texts = std::vector<std::string>;

class Questions {
 public:
  explicit Questions(House& house)
      : connection_(house.bus.connect()), manager_(sdbus::createProxy(*connection_, "org.mljobd1", "/org/mljobd1")) {}

  Variants resources() {
    Variants answer;
    manager_->callMethod("GetResources").onInterface("org.mljobd1.Manager").storeResultsTo(answer);
    return answer;
  }
  Variants advice(const Variants& request) {
    Variants answer;
    manager_->callMethod("Advise").onInterface("org.mljobd1.Manager").withArguments(request).storeResultsTo(answer);
    return answer;
  }
  // The name and the message of the error.
  std::string refusal(const Variants& request) {
    try {
      advice(request);
    } catch (const sdbus::Error& error) {
      return error.getName() + ": " + error.getMessage();
    }
    return "none";
  }

 private:
  std::unique_ptr<sdbus::IConnection> connection_;
  std::unique_ptr<sdbus::IProxy> manager_;
};

std::uint32_t number(const Variants& answer, const std::string& key) { return answer.at(key).get<std::uint32_t>(); }

Variants jobs(std::uint32_t count) { return {{"jobs", sdbus::Variant(count)}}; }

}  // namespace

TEST_CASE("the machine's cores and memory add up") {
  House house;
  house.start_daemon();
  Questions questions(house);
  const auto resources = questions.resources();
  const auto cores = number(resources, "cores");
  CHECK(cores >= 1);
  CHECK(number(resources, "logical_cpus") >= cores);
  CHECK(number(resources, "logical_cpus") <= std::thread::hardware_concurrency());
  CHECK(number(resources, "cores_for_jobs") == cores - 1);
  CHECK(number(resources, "cores_free") == cores - 1);
  CHECK(number(resources, "cores_reserved") == 0);
  CHECK(number(resources, "numa_nodes") >= 1);
  CHECK_FALSE(resources.at("shared_cpus").get<std::string>().empty());
  CHECK(resources.at("memory_free").get<std::uint64_t>() == resources.at("memory_jobs").get<std::uint64_t>());
  CHECK(resources.at("memory_total").get<std::uint64_t>() > resources.at("memory_jobs").get<std::uint64_t>());
}

TEST_CASE("advice for a machine follows its own cores") {
  House house;
  house.start_daemon();
  Questions questions(house);
  const auto cores = number(questions.resources(), "cores");
  const auto one = questions.advice({});
  CHECK(number(one, "num_workers") == std::max(cores, 2U) - 1);
  CHECK(number(one, "jobs") == 1);
  CHECK(number(one, "job") == 0);
  CHECK(number(questions.advice(jobs(2)), "num_workers") == std::max(cores / 2, 1U));
  const auto in_memory = questions.advice({{"path", sdbus::Variant(std::string("/dev/shm"))}});
  CHECK_FALSE(in_memory.at("storage").get<std::string>().empty());
  const auto evidence = one.at("evidence").get<Texts>();
  REQUIRE_FALSE(evidence.empty());
  CHECK(one.at("effects").get<Texts>().size() == evidence.size());
  CHECK(one.at("commands").get<Texts>().size() == evidence.size());
}

TEST_CASE("advice for a job is about that job") {
  House house;
  house.start_daemon();
  const auto id = house.running_job();
  Questions questions(house);
  const auto advice = questions.advice({{"job", sdbus::Variant(id)}});
  CHECK(number(advice, "job") == id);
  CHECK(number(advice, "num_workers") >= 1);
  CHECK_THAT(advice.at("evidence").get<Texts>().at(0), Catch::EndsWith("too short to judge"));
}

TEST_CASE("questions that make no sense are refused in words") {
  House house;
  house.start_daemon();
  Questions questions(house);
  const std::string invalid = "org.mljobd1.Error.InvalidSpec: ";
  CHECK_THAT(questions.refusal({{"job", sdbus::Variant(std::uint32_t{99})}}),
             Catch::StartsWith("org.mljobd1.Error.NoSuchJob: there is no job 99"));
  CHECK_THAT(questions.refusal(jobs(0)), Catch::StartsWith(invalid + "jobs is the number"));
  CHECK_THAT(questions.refusal(jobs(10001)), Catch::StartsWith(invalid + "jobs is the number"));
  CHECK_THAT(questions.refusal({{"job", sdbus::Variant(1U)}, {"jobs", sdbus::Variant(1U)}}),
             Catch::StartsWith(invalid + "\"job\" asks about one job"));
  CHECK_THAT(questions.refusal({{"path", sdbus::Variant(std::string("data"))}}),
             Catch::StartsWith(invalid + "\"path\" takes an absolute path"));
  CHECK_THAT(questions.refusal({{"path", sdbus::Variant("/" + std::string(4096, 'x'))}}),
             Catch::StartsWith(invalid + "\"path\" takes"));
  CHECK_THAT(questions.refusal({{"cores", sdbus::Variant(1U)}}), Catch::StartsWith(invalid + "\"cores\" is not a key"));
}
