#include "client/pipeline/pipeline.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "client/pipeline/pipeline_graph.hpp"
#include "client/pipeline/stage_reader.hpp"
#include "core/spec_texts.hpp"
#include "core/text.hpp"

namespace mljobd::client {
namespace {

using config::Array;
using config::Member;
using config::Object;

constexpr std::array<std::string_view, 4> top_keys{"version", "name", "defaults", "stages"};

class PipelineReader {
 public:
  explicit PipelineReader(const Surroundings& surroundings) : stages_(surroundings, complaints_) {}

  void read(const Object& object) {
    for (const auto& member : object) check_key(member);
    read_version(find(object, "version"));
    read_name(find(object, "name"));
    const Member* defaults = find(object, "defaults");
    const Stage common = defaults != nullptr ? read_defaults(*defaults) : Stage{};
    read_stages(find(object, "stages"), common);
  }

  [[nodiscard]] std::vector<Complaint>& complaints() { return complaints_; }
  [[nodiscard]] Pipeline take() { return std::move(pipeline_); }

 private:
  static const Member* find(const Object& object, std::string_view key) {
    const auto found = std::find_if(object.begin(), object.end(), [&](const Member& m) { return m.key == key; });
    return found == object.end() ? nullptr : &*found;
  }

  void complain(std::size_t line, std::string reason) {
    complaints_.push_back({.line = line, .reason = std::move(reason)});
  }

  void check_key(const Member& member) {
    if (std::find(top_keys.begin(), top_keys.end(), member.key) != top_keys.end()) return;
    const auto meant = core::nearest_word(member.key, top_keys);
    complain(member.line, "there is no key " + core::quoted(member.key) +
                              (meant.empty() ? ": there are version, name, defaults and stages"
                                             : ": did you mean '" + std::string(meant) + "'?"));
  }

  void read_version(const Member* member) {
    if (member == nullptr) return complain(1, "the pipeline has no version: write \"version\": 1");
    const auto* number = std::get_if<std::uint64_t>(&member->value.content);
    if (number == nullptr || *number != 1) complain(member->value.line, "version must be 1");
  }

  void read_name(const Member* member) {
    if (member == nullptr) return;
    const auto* text = std::get_if<std::string>(&member->value.content);
    if (text == nullptr) return complain(member->value.line, "name must be a text");
    const auto checked = core::check_name("name", *text);
    if (!checked) return complain(member->value.line, checked.error().message);
    pipeline_.name = *checked;
  }

  Stage read_defaults(const Member& member) {
    if (const auto* object = std::get_if<Object>(&member.value.content)) return stages_.read_defaults(*object);
    complain(member.value.line, "defaults must be an object");
    return {};
  }

  void read_stages(const Member* member, const Stage& common) {
    if (member == nullptr) return complain(1, "the pipeline has no stages: write \"stages\": [{\"name\": …}]");
    const auto* list = std::get_if<Array>(&member->value.content);
    if (list == nullptr || list->empty()) {
      return complain(member->value.line, "stages must be a list with at least one stage");
    }
    if (list->size() > maximum_stages) {
      return complain(member->value.line, "there are " + std::to_string(list->size()) + " stages: allowed are " +
                                              std::to_string(maximum_stages) + "; an array makes many jobs of one");
    }
    for (const auto& node : *list) {
      if (const auto* object = std::get_if<Object>(&node.content)) {
        pipeline_.stages.push_back(stages_.read_stage(*object, node.line, common));
      } else {
        complain(node.line, "a stage must be an object, not " + std::string(kind_of(node)));
      }
    }
  }

  Pipeline pipeline_{};
  std::vector<Complaint> complaints_{};
  StageReader stages_;
};

// In the order of the lines, those of one line as they were found.
std::vector<Complaint> first_in_file(std::vector<Complaint> complaints) {
  std::multimap<std::size_t, Complaint> by_line;
  for (auto& complaint : complaints) by_line.emplace(complaint.line, std::move(complaint));
  complaints.clear();
  for (auto& [line, complaint] : by_line) {
    if (complaints.size() < maximum_complaints) complaints.push_back(std::move(complaint));
  }
  return complaints;
}

}  // namespace

tl::expected<Pipeline, std::vector<Complaint>> parse_pipeline(std::string_view text, const Surroundings& surroundings) {
  const auto document = config::parse_document(text);
  if (!document) {
    return tl::unexpected(std::vector{Complaint{.line = document.error().line, .reason = document.error().reason}});
  }
  const auto* object = std::get_if<Object>(&document->content);
  if (object == nullptr) {
    return tl::unexpected(std::vector{Complaint{.line = document->line, .reason = "a pipeline is an object {…}"}});
  }
  PipelineReader reader(surroundings);
  reader.read(*object);
  auto complaints = std::move(reader.complaints());
  auto pipeline = reader.take();
  for (auto& complaint : check_graph(pipeline.stages)) complaints.push_back(std::move(complaint));
  if (complaints.empty()) return pipeline;
  return tl::unexpected(first_in_file(std::move(complaints)));
}

}  // namespace mljobd::client
