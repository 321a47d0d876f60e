#include "scheduler_workload.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <string_view>

namespace mljobd::core::simulation {
namespace {

constexpr Bytes gibi = Bytes{1} << 30;
constexpr std::array<std::string_view, 3> class_names{"train", "validate", "batch"};
constexpr std::array<std::string_view, 3> group_names{"array 1", "array 2", "train of alice"};

using std::chrono::seconds;

void draw_needs(WaitingJob& job, Random& random, const Workload& workload) {
  const auto memory = workload.memory / gibi;
  if (!random.one_in(4)) job.memory_claim = (1 + random.below(random.one_in(3) ? memory : 1 + memory / 4)) * gibi;
  if (random.one_in(3)) job.cores = 1 + random.below32(random.one_in(3) ? workload.cores : 2);
  if (random.one_in(40)) job.memory_claim = workload.memory + 1;  // it can never run here
  if (random.one_in(40)) job.cores = workload.cores + 1;
  if (random.one_in(6)) {
    job.group = group_names[random.below(group_names.size())];
    job.group_limit = job.group == group_names.back() ? 1 : 2;
  }
}

void draw_gates(SimulatedJob& simulated, Random& random, std::size_t index) {
  auto& job = simulated.job;
  if (random.one_in(8)) job.begin = epoch + seconds(random.below(60));
  if (random.one_in(12)) simulated.released = random.one_in(4) ? for_ever : seconds(random.below(60));
  if (!random.one_in(4) || index == 0) return;
  for (std::uint64_t i = 0; i <= random.below(2); ++i) {
    const auto other = static_cast<JobId>(1 + random.below(random.one_in(30) ? 1000 : index));
    simulated.after.push_back({static_cast<DependencyKind>(random.below(4)), other});
  }
}

SimulatedJob random_job(Random& random, const Workload& workload, std::size_t index, bool priorities) {
  SimulatedJob simulated;
  auto& job = simulated.job;
  job.id = static_cast<JobId>(index + 1);
  job.owner = 1000 + random.below32(3);
  job.class_name = class_names[random.below(class_names.size())];
  if (priorities) job.priority = static_cast<std::int32_t>(random.below(3)) - 1;
  draw_needs(job, random, workload);
  draw_gates(simulated, random, index);
  simulated.arrives = seconds(random.below(40));
  simulated.runs_for = seconds(1 + random.below(20));
  if (random.one_in(2)) job.time_limit = simulated.runs_for + seconds(random.below(10));
  if (random.one_in(5)) simulated.result = JobResult::failed;
  return simulated;
}

// Jobs arrive in the order of their ids, as they do at a daemon that counts them.
void sort_arrivals(Workload& workload) {
  std::vector<Microseconds> times;
  times.reserve(workload.jobs.size());
  for (const auto& job : workload.jobs) times.push_back(job.arrives);
  std::sort(times.begin(), times.end());
  for (std::size_t i = 0; i < times.size(); ++i) workload.jobs[i].arrives = times[i];
}

// Most are small, a few are very large: P(x > least * k) = 1 / k^shape.
double pareto(Random& random, double least, double shape, double most) {
  return std::min(most, least * std::pow(random.fraction(), -1 / shape));
}

SimulatedJob traced_job(Random& random, const Workload& workload, std::size_t index) {
  SimulatedJob simulated;
  auto& job = simulated.job;
  job.id = static_cast<JobId>(index + 1);
  // The first users submit most of the jobs.
  job.owner = 1000 + static_cast<UserId>(std::min(7.0, pareto(random, 1, 1, 8) - 1));
  job.class_name = class_names[std::min<std::size_t>(2, random.below(20))];
  job.priority = random.one_in(10) ? 10 : 0;
  const auto largest = static_cast<double>(workload.memory) / gibi / 2;
  job.memory_claim = static_cast<Bytes>(pareto(random, 4, 1, largest)) * gibi;
  if (random.one_in(3)) job.cores = static_cast<std::uint32_t>(pareto(random, 1, 1.5, workload.cores / 2.0));
  simulated.runs_for = seconds(static_cast<std::int64_t>(pareto(random, 240, 1, 12 * 3600)));
  if (!random.one_in(4)) job.time_limit = simulated.runs_for * (10 + static_cast<int>(random.below(20))) / 10;
  if (random.one_in(12)) simulated.result = JobResult::failed;
  if (random.one_in(10) && index > 0) {
    simulated.after.push_back({random.one_in(3) ? DependencyKind::ok : DependencyKind::any,
                               static_cast<JobId>(index - random.below(std::min<std::size_t>(index, 50)))});
  }
  return simulated;
}

}  // namespace

Workload random_workload(std::uint64_t seed) {
  Random random(seed);
  Workload workload{.seed = seed,
                    .classes = {},
                    .memory = (4 + random.below(13)) * gibi,
                    .cores = 1 + random.below32(6),
                    .start_limit = random.one_in(3) ? 1U : 1000U,
                    .jobs = {}};
  for (const auto name : class_names) {
    workload.classes.push_back(JobClass{.name = std::string(name), .max_running = random.below32(4)});
  }
  const bool priorities = random.one_in(2);
  const std::size_t count = 4 + random.below(16);
  for (std::size_t i = 0; i < count; ++i) workload.jobs.push_back(random_job(random, workload, i, priorities));
  sort_arrivals(workload);
  return workload;
}

Workload trace(std::uint64_t seed, std::size_t jobs) {
  Random random(seed);
  Workload workload{.seed = seed, .classes = {}, .memory = 512 * gibi, .cores = 31, .start_limit = 16, .jobs = {}};
  for (const auto name : class_names) workload.classes.push_back(JobClass{.name = std::string(name)});
  workload.classes[0].max_running = 4;
  workload.classes[1].max_running = 6;
  Microseconds now{0};
  for (std::size_t left_in_burst = 0; workload.jobs.size() < jobs; --left_in_burst) {
    if (left_in_burst == 0) {
      left_in_burst = static_cast<std::size_t>(pareto(random, 2, 1, 400));
      now += seconds(random.below(1200));
    }
    workload.jobs.push_back(traced_job(random, workload, workload.jobs.size()));
    workload.jobs.back().arrives = now;
  }
  return workload;
}

std::string describe(const Workload& workload) {
  std::ostringstream text;
  const auto in_seconds = [](Microseconds time) { return std::chrono::duration_cast<seconds>(time).count(); };
  text << "seed " << workload.seed << ": " << workload.memory / gibi << "G, " << workload.cores << " cores, "
       << workload.start_limit << " starts a plan";
  for (const auto& job_class : workload.classes) text << ", " << job_class.name << " " << job_class.max_running;
  for (const auto& [job, arrives, runs_for, released, result, after] : workload.jobs) {
    text << "\n  " << job.id << ": user " << job.owner << " " << job.class_name << " priority " << job.priority << ", "
         << job.memory_claim / gibi << "G, " << job.cores << " cores, arrives " << in_seconds(arrives) << "s, runs "
         << in_seconds(runs_for) << "s, " << to_word(result);
    if (job.time_limit) text << ", limit " << in_seconds(*job.time_limit) << "s";
    if (job.begin) text << ", begins " << in_seconds(*job.begin - epoch) << "s";
    if (released == for_ever) text << ", held for ever";
    if (released > Microseconds(0) && released != for_ever) text << ", held until " << in_seconds(released) << "s";
    if (job.group_limit > 0) text << ", " << job.group_limit << " of " << job.group;
    for (const auto& dependency : after) text << ", after " << to_word(dependency.kind) << " " << dependency.job;
  }
  return text.str();
}

}  // namespace mljobd::core::simulation
