#include "client/render_advice.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

#include "client/render_text.hpp"
#include "client/terminal.hpp"
#include "client/values.hpp"

namespace mljobd::client {
namespace {

std::string number(const core::ValueMap& advice, std::string_view key) {
  return std::to_string(value_or<std::uint64_t>(advice, key, 0));
}

// Empty where a list is shorter: an older or newer daemon may leave one out.
std::string entry(const std::vector<std::string>& list, std::size_t index) {
  return index < list.size() ? harmless(list[index]) : std::string();
}

std::string subject(const core::ValueMap& advice) {
  const auto job = value_or<std::uint64_t>(advice, "job", 0);
  if (job != 0) return "job " + std::to_string(job);
  const auto jobs = value_or<std::uint64_t>(advice, "jobs", 1);
  return jobs == 1 ? "one training on this machine" : "each of " + std::to_string(jobs) + " trainings on this machine";
}

std::string storage(const core::ValueMap& advice) {
  const auto device = text_or_empty(advice, "storage_device");
  return harmless(text_or_empty(advice, "storage")) + (device.empty() ? "" : " (" + harmless(device) + ")");
}

}  // namespace

std::string render_advice(const core::ValueMap& advice, bool colour) {
  std::string text = "For " + subject(advice) + ":\n";
  text += "  num_workers  " + paint(number(advice, "num_workers"), Colour::bold, colour) + "\n";
  text += "  threads      " + number(advice, "threads") + "\n";
  text += "  cores        " + number(advice, "cores") + " physical, " + number(advice, "cpus") + " logical\n";
  text += "  storage      " + storage(advice) + "\n";
  const auto evidence = texts_or_empty(advice, "evidence");
  const auto effects = texts_or_empty(advice, "effects");
  const auto commands = texts_or_empty(advice, "commands");
  for (std::size_t index = 0; index < evidence.size(); ++index) {
    text += "\nSeen: " + entry(evidence, index) + ".\n";
    if (const auto effect = entry(effects, index); !effect.empty()) text += "So:   " + effect + ".\n";
    if (const auto command = entry(commands, index); !command.empty()) {
      text += "Try:  " + paint(command, Colour::bold, colour) + "\n";
    }
  }
  return text;
}

}  // namespace mljobd::client
