// What is done when memory runs short: the least important job is slowed down, parked in swap, or ended.
//
// Pure: looks at memory go in with their time, decisions come out in the order in which they are to be done. The caller
// persists state() before it acts, re-resolves the job's cgroup, and tells what came of it through report(). Nothing is
// assumed done because it was asked for: a park counts when the job is seen `parked`, a kill when it is seen empty.
//
// An episode begins when the level leaves 0, and anew for each victim after one whose memory is back: it has at most
// one, unless that cannot be killed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/memory_trace.hpp"
#include "core/pressure_decision.hpp"
#include "core/pressure_level.hpp"
#include "core/pressure_settings.hpp"
#include "core/pressure_snapshot.hpp"
#include "core/victim_selection.hpp"

namespace mljobd::core {

using PressureDecisions = std::vector<Decision>;

// What must survive the daemon, or a job stays slowed down for ever. That a job is parked is the job's own state; here
// is only since when. The times mean something within one boot, and after it nobody is throttled or parked.
struct PressureState {
  struct Throttled {
    JobId id = 0;
    Bytes memory_high_before = unlimited;
    bool operator==(const Throttled&) const = default;
  };
  struct Parked {
    JobId id = 0;
    BootTime since{};
    bool operator==(const Parked&) const = default;
  };

  std::vector<Throttled> throttled{};    // by id
  std::vector<Parked> parked{};          // by id
  std::optional<BootTime> cool_until{};  // no other victim before, but in an emergency
  std::uint64_t episode = 0;

  bool operator==(const PressureState&) const = default;
};

// What came of an action that could not be done, or of a park that is over.
struct ActionOutcome {
  enum class What { throttle, unthrottle, park, unpark, kill, release_high };
  JobId id = 0;
  What what = What::park;
  bool done = false;
};

class PressurePolicy {
 public:
  explicit PressurePolicy(const PressureSettings& settings, const PressureState& state = {});

  // Each look is later than the one before. A longer gap than three intervals discards the windows.
  [[nodiscard]] PressureDecisions step(const PressureSnapshot& snapshot);
  void report(const ActionOutcome& outcome);
  void forget(JobId id);                         // it ended, or its attempt did
  [[nodiscard]] bool throttles(JobId id) const;  // not where it only would

  [[nodiscard]] std::uint32_t level() const { return keeper_.level(); }
  // From level 1 on, and while the memory of a victim is not back. Never in a mode that does not act.
  [[nodiscard]] bool admission_stopped() const;
  // Of what is available, what woken jobs will yet read back from swap: not to be given to anybody else. As at the last
  // step.
  [[nodiscard]] Bytes promised_memory() const { return promised_; }
  // Until the next look; empty: nothing to look at before a job starts.
  [[nodiscard]] std::optional<Microseconds> next_step_after() const;
  [[nodiscard]] PressureState state() const;

 private:
  struct Throttling {
    BootTime since{};
    Bytes memory_high_before = unlimited;
    Bytes current_at = 0;
    bool pretended = false;  // dry run
  };
  // What is remembered of a job.
  struct Track {
    explicit Track(Microseconds longest_window) : trace(longest_window) {}

    JobTrace trace;
    std::optional<BootTime> started{};
    double usual_cpu_rate = 0;  // while memory is there; 0 = not known
    std::optional<Throttling> throttling{};
    std::optional<Throttling> undone{};  // the last one, should undoing it fail
    std::optional<BootTime> not_throttled_before{};
    std::optional<BootTime> not_parked_before{};
    std::optional<BootTime> not_killed_before{};
    std::optional<BootTime> unparked{};
    std::optional<BootTime> stopping_since{};
    std::optional<BootTime> parked_since{};
    bool told_stuck = false;    // at its own memory.high
    bool told_no_room = false;  // parked on an idle machine
    bool seen = false;          // in the present look
  };
  struct PendingKill {
    JobId id = 0;
    BootTime since{};
    BootTime deadline{};
    std::optional<BootTime> gone{};
    Bytes size = 0;
    Bytes resident = 0;  // when last waited for
    Bytes available_before = 0;
    bool in_grace = false;
    std::uint32_t extensions = 0;
  };
  struct PendingPark {
    JobId id = 0;
    BootTime since{};
    BootTime progress{};
    Bytes resident = 0;
    Bytes available_before = 0;
    bool failed = false;
    bool reported_failed = false;
  };

  // An action whose effect is still to be measured.
  struct Effect {
    JobId job = 0;
    std::string job_name{};
    BootTime since{};
    Bytes available_before = 0;
    std::size_t next = 0;  // of effect_times
    Freed freed{};
  };

  // The present look; empty between two.
  struct Turn {
    const PressureSnapshot* snapshot = nullptr;
    std::optional<JobId> top{};
    PressureSigns signs{};
    LevelBounds bounds{};
    PressureDecisions decisions{};
  };

  // What is seen (pressure_signs.cpp).
  void observe();
  void observe(const PressureJob& job);
  [[nodiscard]] bool gap_since_last() const;
  void clear_windows();
  [[nodiscard]] PressureSigns read_signs() const;
  void read_job_signs(const PressureJob& job, PressureSigns& signs) const;
  void read_top_signs(const PressureJob& job, PressureSigns& signs) const;
  [[nodiscard]] bool somebody_wakes(BootTime time) const;
  void learn_speed();
  void change_level();
  [[nodiscard]] bool at_own_limit(const PressureJob& job) const;
  [[nodiscard]] Bytes throttled_high(const PressureJob& job) const;
  [[nodiscard]] bool held_by_own_high(const PressureJob& job) const;  // ours would not stop it any sooner
  [[nodiscard]] bool grows(const PressureJob& job) const;
  [[nodiscard]] std::vector<Contender> contenders() const;

  // What gives way (pressure_relief.cpp).
  void resume_grace();
  void settle_kill();
  void wait_for_killed(const PressureJob& job);
  void killed(const PressureJob* job);
  void settle_park();
  void park_failed();
  void throttle();
  bool throttle_one(bool growers_only);
  void relieve();
  [[nodiscard]] bool must_wait() const;
  bool park();
  [[nodiscard]] std::optional<PressureRule> reason_to_kill() const;
  void kill(PressureRule rule);
  Decision& kill_job(const PressureJob& job, PressureRule rule);
  [[nodiscard]] std::optional<Microseconds> affordable_grace(const PressureJob& job) const;
  void tell_nobody_helps();
  void begin_victim();

  // What that brought (pressure_effect.cpp).
  void watch_effects();
  void measure_effects();
  void tell(const Effect& effect);

  // What is given back (pressure_return.cpp).
  void unthrottle_all(PressureRule rule);
  void unthrottle(JobId id, Track& track, PressureRule rule);
  void release_stuck();
  void release_own_high(const PressureJob& job, Track& track);
  [[nodiscard]] bool is_stuck_at_own_high(const PressureJob& job, const Track& track) const;
  void unpark();
  bool unpark_failed_park();
  bool end_overdue_park(const PressureJob& job);
  [[nodiscard]] std::optional<PressureRule> reason_to_unpark(const PressureJob& job) const;
  void unpark_job(const PressureJob& job, PressureRule rule);
  void tell_no_room();
  [[nodiscard]] Bytes memory_to_be_read_back() const;
  [[nodiscard]] Bytes room_for_parked() const;
  [[nodiscard]] bool nothing_runs() const;

  [[nodiscard]] const PressureJob* find(JobId id) const;
  Track& track(JobId id);
  [[nodiscard]] const Track& track(JobId id) const { return tracks_.at(id); }  // of a job of this look
  [[nodiscard]] BootTime now() const { return turn_.snapshot->now.boot; }
  [[nodiscard]] VictimQuestion question(Measure measure) const;
  [[nodiscard]] bool emergency() const;
  [[nodiscard]] bool acts() const { return settings_.mode == PressureMode::act; }
  Decision& decide(const PressureJob* job, PressureRule rule, PressureAction action);
  void show_candidates(Decision& decision, const VictimQuestion& question, const std::vector<Contender>& list,
                       const PressureJob* chosen) const;

  PressureSettings settings_;  // times scaled
  LevelKeeper keeper_;
  MachineTrace machine_;
  std::map<JobId, Track> tracks_{};
  std::optional<PendingKill> killing_{};
  std::optional<PendingPark> parking_{};
  std::vector<Effect> effects_{};
  std::optional<BootTime> cool_until_{};
  std::optional<BootTime> settle_until_{};  // what a park freed is counted first
  std::optional<BootTime> park_impossible_since_{};
  std::optional<BootTime> last_throttle_{};
  std::optional<BootTime> last_unpark_{};
  std::optional<BootTime> last_step_{};
  Microseconds expected_gap_{0};
  std::uint64_t episode_ = 0;
  std::uint64_t last_id_ = 0;
  bool had_victim_ = false;         // in this episode
  bool told_nobody_helps_ = false;  // likewise
  bool has_jobs_ = false;
  std::optional<Microseconds> exhausted_in_{};  // at the last look
  Bytes promised_ = 0;                          // likewise
  Turn turn_{};
};

}  // namespace mljobd::core
