// What a throttle, park or kill brought: looked at again after a second, five and fifteen.
#include <algorithm>
#include <utility>

#include "core/pressure_policy.hpp"

namespace mljobd::core {
namespace {

constexpr std::size_t most_effects = 64;  // a step may throttle eight jobs, ten times a second

}  // namespace

void PressurePolicy::watch_effects() {
  for (const auto& decision : turn_.decisions) {
    const bool frees = std::holds_alternative<Throttle>(decision.action) ||
                       std::holds_alternative<Park>(decision.action) || std::holds_alternative<Kill>(decision.action);
    const auto* kill = std::get_if<Kill>(&decision.action);
    // A grace that was cut short is told of as the end that came of it.
    if (kill != nullptr) {
      std::erase_if(effects_, [&](const Effect& effect) {
        return effect.job == decision.job && effect.freed.of == to_word(decision.action);
      });
    }
    if (!frees || decision.dry_run || effects_.size() >= most_effects) continue;
    const auto grace = kill != nullptr ? kill->checkpoint_grace.value_or(Microseconds{0}) : Microseconds{0};
    effects_.push_back({.job = decision.job,
                        .job_name = decision.job_name,
                        .since = now() + grace,
                        .available_before = turn_.signs.available,
                        .freed = {.decision = decision.id, .of = to_word(decision.action)}});
  }
}

void PressurePolicy::measure_effects() {
  const auto available = static_cast<std::int64_t>(turn_.signs.available);
  for (auto& effect : effects_) {
    const auto passed = now() - effect.since;
    const auto freed = available - static_cast<std::int64_t>(effect.available_before);
    for (; effect.next < settings_.effect_times.size(); ++effect.next) {
      const auto time = settings_.effect_times[effect.next];
      if (passed < time) break;
      // Suspended, or starved: what it was at about that moment is not known any more.
      if (passed <= time + time / 2) effect.freed.after[effect.next] = freed;
    }
    if (effect.next == settings_.effect_times.size()) tell(effect);
  }
  std::erase_if(effects_, [this](const Effect& effect) { return effect.next == settings_.effect_times.size(); });
}

void PressurePolicy::tell(const Effect& effect) {
  const auto& after = effect.freed.after;
  const bool known = std::any_of(after.begin(), after.end(), [](const auto& freed) { return freed.has_value(); });
  if (!known) return;
  auto& decision = decide(nullptr, PressureRule::none, effect.freed);
  decision.job = effect.job;
  decision.job_name = effect.job_name;
}

}  // namespace mljobd::core
