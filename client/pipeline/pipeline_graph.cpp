#include "client/pipeline/pipeline_graph.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "client/values.hpp"
#include "core/job_graph.hpp"
#include "core/text.hpp"

namespace mljobd::client {
namespace {

core::StringPairs dependencies_of(const Stage& stage) { return value_or<core::StringPairs>(stage.spec, "after", {}); }

bool is_job_id(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Views into the stages.
std::vector<core::NamedDependencies> graph_of(const std::vector<Stage>& stages) {
  std::vector<core::NamedDependencies> graph;
  for (const auto& stage : stages) graph.push_back({.name = stage.name, .after = core::names_after(stage.spec)});
  return graph;
}

void find_unknown_stages(const std::vector<Stage>& stages, const std::vector<core::NamedDependencies>& graph,
                         std::vector<Complaint>& complaints) {
  std::set<std::string_view> known;
  for (const auto& stage : graph) {
    if (!stage.name.empty()) known.insert(stage.name);  // one without a name is complained about already
  }
  const std::vector<std::string_view> names(known.begin(), known.end());
  for (std::size_t i = 0; i < stages.size(); ++i) {
    for (const auto job : graph[i].after) {
      if (known.contains(job) || is_job_id(job)) continue;
      const auto meant = core::nearest_word(job, names);
      complaints.push_back({stages[i].line, "the stage " + core::quoted(stages[i].name) + " waits for " +
                                                core::quoted(job) + ", which is no stage" +
                                                (meant.empty() ? "" : ": did you mean '" + std::string(meant) + "'?")});
    }
  }
}

std::string what_it_waits_for(const Stage& stage) {
  std::string text;
  for (const auto& [kind, job] : dependencies_of(stage)) {
    constexpr auto word = [](std::string_view k) -> std::string_view {
      if (k == "ok") return " has ended well";
      if (k == "any") return " has ended";
      return k == "notok" ? " has failed" : " has started";
    };
    text.append(text.empty() ? "" : ", ").append(job).append(word(kind));
  }
  return text.empty() ? "when there is room" : "when " + text;
}

}  // namespace

std::vector<Complaint> check_graph(const std::vector<Stage>& stages) {
  std::vector<Complaint> complaints;
  const auto graph = graph_of(stages);
  find_unknown_stages(stages, graph, complaints);
  for (auto& mistake : core::check_graph(graph)) {
    if (mistake.other) mistake.message += "; the other is in line " + std::to_string(stages[*mistake.other].line);
    complaints.push_back({stages[mistake.job].line, std::move(mistake.message)});
  }
  return complaints;
}

std::string plan_text(const Pipeline& pipeline) {
  std::string text;
  for (const auto position : core::running_order(graph_of(pipeline.stages))) {
    const auto& stage = pipeline.stages[position];
    text.append(stage.name).append(": ").append(what_it_waits_for(stage)).append("\n");
  }
  return text;
}

}  // namespace mljobd::client
