#include "core/job_graph.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "core/text.hpp"

namespace mljobd::core {
namespace {

// Depth first along "runs after". What is on the path and met again closes a circle.
class GraphSearch {
 public:
  explicit GraphSearch(std::span<const NamedDependencies> jobs) : jobs_(jobs), visits_(jobs.size(), Visit::none) {
    index_.reserve(jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (!jobs[i].name.empty()) index_.try_emplace(jobs[i].name, i);
    }
  }

  // The circle's members, each running after the next; empty when there is none.
  std::vector<std::size_t> find_circle() {
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (visits_[i] == Visit::none) enter(i);
      while (!path_.empty()) {
        if (const auto closing = step()) return circle_from(*closing);
      }
    }
    return {};
  }

  // Those that were left, each behind all that it waits for.
  [[nodiscard]] const std::vector<std::size_t>& order() const { return order_; }

 private:
  enum class Visit { none, on_path, done };
  struct Step {
    std::size_t job = 0;
    std::size_t next_edge = 0;
  };

  void enter(std::size_t job) {
    visits_[job] = Visit::on_path;
    path_.push_back({.job = job});
  }

  // One edge further; the member of the path that it leads back to, if it does.
  std::optional<std::size_t> step() {
    Step& current = path_.back();
    const auto& after = jobs_[current.job].after;
    if (current.next_edge == after.size()) {
      visits_[current.job] = Visit::done;
      order_.push_back(current.job);
      path_.pop_back();
      return std::nullopt;
    }
    const auto target = index_.find(after[current.next_edge++]);
    if (target == index_.end() || visits_[target->second] == Visit::done) return std::nullopt;
    if (visits_[target->second] == Visit::on_path) return target->second;
    enter(target->second);
    return std::nullopt;
  }

  [[nodiscard]] std::vector<std::size_t> circle_from(std::size_t job) const {
    const auto begin = std::find_if(path_.begin(), path_.end(), [job](const Step& step) { return step.job == job; });
    std::vector<std::size_t> circle;
    std::transform(begin, path_.end(), std::back_inserter(circle), [](const Step& step) { return step.job; });
    return circle;
  }

  std::span<const NamedDependencies> jobs_;
  std::vector<Visit> visits_;
  std::unordered_map<std::string_view, std::size_t> index_;
  std::vector<Step> path_;
  std::vector<std::size_t> order_;
};

void find_double_names(std::span<const NamedDependencies> jobs, std::vector<GraphMistake>& mistakes) {
  std::unordered_map<std::string_view, std::size_t> seen;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].name.empty()) continue;
    const auto [first, added] = seen.try_emplace(jobs[i].name, i);
    if (added) continue;
    mistakes.push_back({.job = i,
                        .other = first->second,
                        .message = "two stages are called " + quoted(jobs[i].name) + ": rename one"});
  }
}

std::string circle_text(std::span<const NamedDependencies> jobs, const std::vector<std::size_t>& circle) {
  constexpr std::size_t named_members = 8;
  constexpr std::size_t longest_name = 64;
  std::string text;
  for (std::size_t i = 0; i < std::min(circle.size(), named_members); ++i) {
    text += printable(jobs[circle[i]].name, longest_name) + " -> ";
  }
  if (circle.size() > named_members) text += "(" + std::to_string(circle.size() - named_members) + " more) -> ";
  return text + printable(jobs[circle.front()].name, longest_name);
}

}  // namespace

std::vector<std::string_view> names_after(const ValueMap& spec) {
  std::vector<std::string_view> names;
  const auto found = spec.find("after");
  const auto* const pairs = found == spec.end() ? nullptr : std::get_if<StringPairs>(&found->second.storage);
  if (pairs == nullptr) return names;
  for (const auto& [kind, name] : *pairs) names.emplace_back(name);
  return names;
}

std::vector<GraphMistake> check_graph(std::span<const NamedDependencies> jobs) {
  std::vector<GraphMistake> mistakes;
  find_double_names(jobs, mistakes);
  auto circle = GraphSearch(jobs).find_circle();
  if (circle.empty()) return mistakes;
  // Found against the direction of running; begun with the member that was written first.
  std::reverse(circle.begin(), circle.end());
  std::rotate(circle.begin(), std::min_element(circle.begin(), circle.end()), circle.end());
  mistakes.push_back(
      {.job = circle.front(),
       .message = "stages wait for each other in a circle: " + circle_text(jobs, circle) + "; take one `after` out"});
  return mistakes;
}

std::vector<std::size_t> running_order(std::span<const NamedDependencies> jobs) {
  GraphSearch search(jobs);
  static_cast<void>(search.find_circle());
  return search.order();
}

}  // namespace mljobd::core
