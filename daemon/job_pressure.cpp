// The manager's part that has to do with pressure: what the guard decided is recorded and told, and parking by hand.
#include <utility>

#include "core/format.hpp"
#include "job_manager.hpp"
#include "log.hpp"
#include "pressure_guard.hpp"
#include "store/pressure_record.hpp"
#include "users.hpp"

namespace mljobd {

std::uint32_t JobManager::pressure_level() const { return guard_->level(); }

core::PressureState JobManager::stored_pressure_state() const {
  const auto text = store_.load_text(pressure_state_name);
  if (text && text->empty()) return {};
  const auto state = text ? store::decode_pressure_state(*text, machine_.boot_id)
                          : core::Expected<core::PressureState>(tl::unexpected(text.error()));
  if (state) return *state;
  log::warning("what the pressure policy had done is not known: " + state.error().message);
  return {};
}

void JobManager::record(const core::PressureDecisions& decisions) {
  for (const auto& decision : decisions) {
    const auto* job = find(decision.job);
    const std::string state(job != nullptr ? core::to_word(job->state) : "");
    events_.push_back({.time = decision.when,
                       .job = job != nullptr ? decision.job : 0,
                       .kind = "decision",
                       .old_state = state,
                       .new_state = state,
                       .reason = std::string(core::to_word(decision.action)),
                       .message = core::describe(decision),
                       .details = store::encode_details(core::to_values(decision))});
  }
  decisions_.insert(decisions_.end(), decisions.begin(), decisions.end());
  pressure_state_ = store::encode_pressure_state(guard_->state(), machine_.boot_id);
  schedule_flush();
}

// At the end of its attempt, when nothing lives in it any more, a job has used nothing that a picture should show.
void JobManager::record_samples(const core::PressureSnapshot& look) {
  const auto scale = settings_.pressure.time_scale_percent;
  if (samples_.due(look.now.boot, scale)) {
    for (const auto& seen : look.jobs) {
      const auto* job = find(seen.id);
      if (job == nullptr || !seen.memory.populated) continue;
      samples_.add(seen.id, core::sample_of(look.now.real, job->attempt.number, seen.memory));
    }
  }
  samples_.write_when_due(look.now.boot, scale);
}

void JobManager::admission_changed() {
  replan_ = true;
  schedule_flush();
}

void JobManager::announce_decisions() {
  for (const auto& decision : std::exchange(decisions_, {})) {
    log::decision(decision.job, core::to_word(decision.action), core::describe(decision));
    observer_->decided(decision);
    if (const auto* level = std::get_if<core::LevelChanged>(&decision.action)) {
      observer_->pressure_changed(level->to, core::to_values(decision));
    }
  }
}

void JobManager::park(const Caller& caller, core::JobId id, Done done) {
  const auto job = owned(caller, id);
  if (!job) return done(tl::unexpected(job.error()));
  const auto* parked = std::get_if<core::Parked>(&(*job)->state);
  if (parked == nullptr && guard_->swap_free() == 0) {
    return done(
        core::failure(core::ErrorCode::no_capacity,
                      "there is no free swap that job " + std::to_string(id) +
                          " could be parked in; `jobctl freeze` stops it and leaves its memory where it is, and "
                          "`jobctl doctor` says how to add swap"));
  }
  const core::ParkBegun event{.by_hand = true, .reason = "by " + user_label(caller.uid)};
  done(transition(**job, event));
}

void JobManager::unpark(const Caller& caller, core::JobId id, Done done) {
  const auto job = owned_and_ready(caller, id, core::UnparkDone{});
  if (!job) return done(tl::unexpected(job.error()));
  guard_->unpark(**job, std::move(done));
}

}  // namespace mljobd
