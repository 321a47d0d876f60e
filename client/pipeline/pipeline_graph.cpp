#include "client/pipeline/pipeline_graph.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "client/values.hpp"
#include "core/text.hpp"

namespace mljobd::client {
namespace {

using Positions = std::map<std::string_view, std::size_t>;  // of stages, by name; views into the stages
using Edges = std::vector<std::vector<std::size_t>>;        // what each stage waits for

core::StringPairs dependencies_of(const Stage& stage) { return value_or<core::StringPairs>(stage.spec, "after", {}); }

bool is_job_id(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Positions positions_of(const std::vector<Stage>& stages, std::vector<Complaint>& complaints) {
  Positions positions;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].name.empty()) continue;  // complained about already
    const auto [first, added] = positions.try_emplace(stages[i].name, i);
    if (added) continue;
    complaints.push_back({stages[i].line, "the name " + core::quoted(stages[i].name) +
                                              " is taken by the stage in line " +
                                              std::to_string(stages[first->second].line)});
  }
  return positions;
}

Edges edges_of(const std::vector<Stage>& stages, const Positions& positions, std::vector<Complaint>& complaints) {
  std::vector<std::string_view> names;
  for (const auto& [name, position] : positions) names.push_back(name);
  Edges edges(stages.size());
  for (std::size_t i = 0; i < stages.size(); ++i) {
    for (const auto& [kind, job] : dependencies_of(stages[i])) {
      if (const auto found = positions.find(job); found != positions.end()) {
        edges[i].push_back(found->second);
      } else if (!is_job_id(job)) {
        const auto meant = core::nearest_word(job, names);
        complaints.push_back(
            {stages[i].line, "the stage " + core::quoted(stages[i].name) + " waits for " + core::quoted(job) +
                                 ", which is no stage" +
                                 (meant.empty() ? "" : ": did you mean '" + std::string(meant) + "'?")});
      }
    }
  }
  return edges;
}

// Depth first without recursion: a thousand stages in a row are allowed.
class Walk {
 public:
  explicit Walk(const Edges& edges) : edges_(edges), marks_(edges.size(), Mark::fresh) {}

  // From the first stage that is met twice on one way, back to it; empty: there is no circle.
  std::vector<std::size_t> find_circle() {
    for (std::size_t start = 0; start < edges_.size(); ++start) {
      if (auto circle = walk_from(start); !circle.empty()) return circle;
    }
    return {};
  }

  // Each behind all that it waits for.
  [[nodiscard]] const std::vector<std::size_t>& finished() const { return finished_; }

 private:
  enum class Mark { fresh, on_the_way, finished };
  struct Step {
    std::size_t stage = 0;
    std::size_t next = 0;
  };

  std::vector<std::size_t> walk_from(std::size_t start) {
    if (marks_[start] != Mark::fresh) return {};
    std::vector<Step> way{{.stage = start}};
    marks_[start] = Mark::on_the_way;
    while (!way.empty()) {
      auto& step = way.back();
      if (step.next == edges_[step.stage].size()) {
        marks_[step.stage] = Mark::finished;
        finished_.push_back(step.stage);
        way.pop_back();
        continue;
      }
      const std::size_t target = edges_[step.stage][step.next++];
      if (marks_[target] == Mark::on_the_way) return circle_from(way, target);
      if (marks_[target] == Mark::fresh) {
        marks_[target] = Mark::on_the_way;
        way.push_back({.stage = target});
      }
    }
    return {};
  }

  static std::vector<std::size_t> circle_from(const std::vector<Step>& way, std::size_t target) {
    std::vector<std::size_t> circle;
    auto step = std::find_if(way.begin(), way.end(), [&](const Step& s) { return s.stage == target; });
    for (; step != way.end(); ++step) circle.push_back(step->stage);
    circle.push_back(target);
    return circle;
  }

  const Edges& edges_;
  std::vector<Mark> marks_;
  std::vector<std::size_t> finished_{};
};

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
  const auto positions = positions_of(stages, complaints);
  const auto edges = edges_of(stages, positions, complaints);
  const auto circle = Walk(edges).find_circle();
  if (circle.empty()) return complaints;
  std::string names;
  for (const auto stage : circle) names.append(names.empty() ? "" : " -> ").append(stages[stage].name);
  complaints.push_back(
      {stages[circle.front()].line, "these stages wait for each other and none could start: " + names});
  return complaints;
}

std::string plan_text(const Pipeline& pipeline) {
  std::vector<Complaint> complaints;
  const auto edges = edges_of(pipeline.stages, positions_of(pipeline.stages, complaints), complaints);
  Walk walk(edges);
  static_cast<void>(walk.find_circle());
  std::string text;
  for (const auto position : walk.finished()) {
    const auto& stage = pipeline.stages[position];
    text.append(stage.name).append(": ").append(what_it_waits_for(stage)).append("\n");
  }
  return text;
}

}  // namespace mljobd::client
