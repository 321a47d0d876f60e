#include "pressure_simulator.hpp"

#include <algorithm>
#include <set>

#include "scheduler_workload.hpp"

namespace mljobd::core::pressure_fixture {
namespace {

using Condition = PressureJob::Condition;

constexpr Microseconds tick = milliseconds(100);
constexpr Microseconds longest_night = std::chrono::hours(3);
constexpr Bytes ram = 2048 * mebibyte;
constexpr Bytes system_memory = 150 * mebibyte;
constexpr Bytes slice_limit = ram - 256 * mebibyte;
constexpr Bytes swap_speed = 17 * mebibyte;  // per tick, as seen in the VM
constexpr Bytes admission_margin = slice_limit * 13 / 100;

Microseconds part(Microseconds time, double share) {
  return Microseconds(static_cast<std::int64_t>(static_cast<double>(time.count()) * share));
}

struct Running {
  enum class Phase { waiting, alive, dying, done };
  Phase phase = Phase::waiting;
  Condition condition = Condition::running;
  NightJob plan{};
  Microseconds progress{0};
  Microseconds cpu_time{0};
  Bytes anon = 0;
  Bytes swap = 0;
  Bytes high = unlimited;
  std::uint64_t high_events = 0;
  Bytes known_need = 0;  // what it had when it was killed
  BootTime started{};
  StallTotals stalls{};
  Microseconds dies_at{0};
  Microseconds done_at{0};
};

class Machine {
 public:
  Machine(const Night& night, const PressureSettings& settings) : night_(night), policy_(settings) {
    for (const auto& plan : night.jobs) jobs_.emplace_back().plan = plan;
  }

  NightReport run();

 private:
  [[nodiscard]] Bytes used() const;
  [[nodiscard]] Bytes swapped() const;
  [[nodiscard]] Bytes free_memory() const;
  [[nodiscard]] double speed() const;
  void live(Running& job);
  void swap_in(Running& job);
  void move_out(Running& job);
  void admit();
  void look();
  [[nodiscard]] PressureSnapshot snapshot() const;
  [[nodiscard]] PressureJob view(JobId id, const Running& job) const;
  void check(const PressureSnapshot& snapshot, const Decision& decision);
  void act(const Decision& decision);
  [[nodiscard]] bool all_done() const;
  void violate(const std::string& what) {
    if (!report_.violation) report_.violation = "at " + std::to_string(now_.count() / 1000) + " ms: " + what;
  }

  const Night& night_;
  std::vector<Running> jobs_;
  PressurePolicy policy_;
  NightReport report_{};
  Microseconds now_{0};
  Microseconds next_look_{0};
  Microseconds last_admission_{-seconds(10)};
  std::optional<Microseconds> last_kill_{};
  std::set<std::uint64_t> episodes_with_victim_{};
};

Bytes Machine::swapped() const {
  Bytes sum = 0;
  for (const auto& job : jobs_) sum += job.swap;
  return sum;
}

Bytes Machine::used() const {
  Bytes sum = 0;
  for (const auto& job : jobs_) sum += job.anon;
  return sum;
}

Bytes Machine::free_memory() const {
  const Bytes taken = system_memory + used() + swapped() / 100 * night_.swap_cost_percent;
  return std::min(ram > taken ? ram - taken : 0, slice_limit > used() ? slice_limit - used() : 0);
}

// Short memory makes everybody slow before anything fails.
double Machine::speed() const {
  const double full_speed = 0.04 * static_cast<double>(slice_limit);
  return std::clamp(static_cast<double>(free_memory()) / full_speed, 0.1, 1.0);
}

void Machine::swap_in(Running& job) {
  const Bytes back = std::min({job.swap, swap_speed, job.high > job.anon ? job.high - job.anon : 0});
  job.swap -= back;
  job.anon += back;
}

void Machine::live(Running& job) {
  const double share = job.swap > 0 ? speed() / 2 : speed();
  swap_in(job);
  const Microseconds step = part(tick, share);
  const auto wanted =
      std::min<Bytes>(job.plan.peak, job.plan.growth * static_cast<Bytes>((job.progress + step).count()) / 1000000);
  const Bytes held = job.anon + job.swap;
  if (wanted > held && job.anon + (wanted - held) > job.high) {
    ++job.high_events;
    job.stalls.some += tick;
    job.stalls.full += tick;
    return;
  }
  if (wanted > held) job.anon += wanted - held;
  job.progress += step;
  job.cpu_time += step;
  job.stalls.some += part(tick, (1 - share) / 4);
  job.stalls.full += part(tick, (1 - share) / 8);
  if (job.progress >= job.plan.work) {
    job.phase = Running::Phase::done;
    job.anon = job.swap = 0;
    job.done_at = now_;
  }
}

void Machine::move_out(Running& job) {
  const Bytes room = night_.swap - swapped();
  const Bytes moved = std::min({job.anon, swap_speed, room});
  job.anon -= moved;
  job.swap += moved;
  if (job.anon == 0) job.condition = Condition::parked;
}

// Claims say nothing here, so whoever comes is let in; who was killed only when what it had fits with a margin.
void Machine::admit() {
  if (policy_.admission_stopped() || now_ - last_admission_ < seconds(2)) return;
  for (auto& job : jobs_) {
    if (job.phase != Running::Phase::waiting || job.plan.begins > now_) continue;
    const Bytes taken = policy_.promised_memory() + admission_margin;
    if (job.known_need > 0 && free_memory() < job.known_need + taken) continue;
    job.phase = Running::Phase::alive;
    job.condition = Condition::running;
    job.started = at(now_).boot;
    last_admission_ = now_;
    return;
  }
}

PressureJob Machine::view(JobId id, const Running& job) const {
  PressureJob view = pressure_fixture::job(id, job.plan.rank, job.anon);
  view.started = job.started;
  view.condition = job.phase == Running::Phase::dying ? Condition::stopping : job.condition;
  view.memory.swap = job.swap;
  view.memory.high = job.high;
  view.memory.high_events = job.high_events;
  view.memory.cpu_time = job.cpu_time;
  view.memory.memory_stalls = job.stalls;
  return view;
}

PressureSnapshot Machine::snapshot() const {
  PressureSnapshot snapshot{.now = at(now_),
                            .machine = {.total = ram, .swap_total = night_.swap, .swap_free = night_.swap - swapped()}};
  const Bytes taken = system_memory + used() + swapped() / 100 * night_.swap_cost_percent;
  snapshot.machine.available = ram > taken ? ram - taken : 0;
  snapshot.machine.scanned_pages = static_cast<std::uint64_t>(now_.count());
  snapshot.jobs_slice = holding(used());
  snapshot.jobs_slice->max = slice_limit;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const auto phase = jobs_[i].phase;
    if (phase != Running::Phase::alive && phase != Running::Phase::dying) continue;
    snapshot.jobs.push_back(view(static_cast<JobId>(i + 1), jobs_[i]));
  }
  return snapshot;
}

void Machine::check(const PressureSnapshot& snapshot, const Decision& decision) {
  if (decision.dry_run) return;
  const bool kills = std::holds_alternative<Kill>(decision.action);
  const bool parks = std::holds_alternative<Park>(decision.action);
  const bool throttles = std::holds_alternative<Throttle>(decision.action);
  if (!kills && !parks && !throttles) return;
  const auto said = describe(decision);
  for (const auto& job : snapshot.jobs) {
    if (job.id == decision.job && top_job(snapshot.jobs) == job.id) violate("the top job: " + said);
  }
  if (decision.job == 1) violate("the training: " + said);
  if (throttles) return;
  if (!episodes_with_victim_.insert(decision.episode).second) violate("a second victim of an episode: " + said);
  if (!kills) return;
  const auto one_dies = [](const Running& job) { return job.phase == Running::Phase::dying; };
  if (std::any_of(jobs_.begin(), jobs_.end(), one_dies)) violate("a second victim before the first is gone: " + said);
  const bool emergency = free_memory() < slice_limit / 100;
  if (last_kill_ && now_ - *last_kill_ < seconds(15) && !emergency) violate("no cool-down: " + said);
  last_kill_ = now_;
}

void Machine::act(const Decision& decision) {
  if (decision.job == 0 || decision.dry_run) return;
  Running& job = jobs_[decision.job - 1];
  if (const auto* throttle = std::get_if<Throttle>(&decision.action)) job.high = throttle->memory_high;
  if (const auto* undo = std::get_if<Unthrottle>(&decision.action)) job.high = undo->memory_high;
  if (std::holds_alternative<Park>(decision.action)) {
    job.condition = Condition::parking;
    ++report_.parks;
  }
  if (std::holds_alternative<Unpark>(decision.action)) job.condition = Condition::running;
  if (std::holds_alternative<Kill>(decision.action)) {
    job.phase = Running::Phase::dying;
    job.known_need = std::max(job.known_need, job.anon + job.swap);
    job.dies_at = now_ + milliseconds(400);
    report_.lost_work += job.progress;
    ++report_.kills;
  }
}

void Machine::look() {
  const auto seen = snapshot();
  for (const auto& decision : policy_.step(seen)) {
    check(seen, decision);
    act(decision);
  }
  next_look_ = now_ + policy_.next_step_after().value_or(seconds(1));
}

bool Machine::all_done() const {
  return std::all_of(jobs_.begin(), jobs_.end(), [](const Running& job) { return job.phase == Running::Phase::done; });
}

NightReport Machine::run() {
  for (; !all_done() && !report_.violation; now_ += tick) {
    if (now_ > longest_night) {
      violate("not all jobs are done");
      break;
    }
    admit();
    for (auto& job : jobs_) {
      if (job.phase == Running::Phase::dying && job.dies_at <= now_) {
        job = Running{.plan = job.plan, .known_need = job.known_need};
      } else if (job.phase == Running::Phase::alive && job.condition == Condition::running) {
        live(job);
      } else if (job.phase == Running::Phase::alive && job.condition == Condition::parking) {
        move_out(job);
      }
    }
    if (free_memory() == 0) violate("the kernel had to kill");
    if (now_ >= next_look_) look();
  }
  report_.train_took = jobs_.front().done_at;
  report_.took = now_;
  return report_;
}

}  // namespace

Night random_night(Shape shape, std::uint64_t seed, Bytes swap, std::uint32_t swap_cost_percent) {
  simulation::Random random(seed);
  const auto between = [&](Bytes low, Bytes high) { return low + random.below(high - low + 1); };
  const bool many = shape == Shape::many;
  const bool rapid = shape == Shape::rapid;
  const auto other = [&](std::int32_t rank) {
    return NightJob{.rank = rank,
                    .peak = between(many ? 200 : 500, many ? 350 : 850) * mebibyte,
                    .growth = between(rapid ? 60 : 2, rapid ? 200 : 60) * mebibyte,
                    .work = seconds(between(60, 200)),
                    .begins = seconds(between(0, 60))};
  };
  Night night{.swap = swap, .swap_cost_percent = swap_cost_percent};
  night.jobs.push_back({.rank = train_rank, .peak = 900 * mebibyte, .growth = 200 * mebibyte, .work = minutes(6)});
  for (int pair = 0; pair < (many ? 4 : 1); ++pair) {
    night.jobs.push_back(other(validate_rank));
    night.jobs.push_back(other(many ? batch_rank : validate_rank));
  }
  if (!many) night.jobs.push_back(other(batch_rank));
  return night;
}

NightReport simulate(const Night& night, const PressureSettings& settings) { return Machine(night, settings).run(); }

}  // namespace mljobd::core::pressure_fixture
