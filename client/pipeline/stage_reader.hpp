// The keys of a stage, each by itself. Pure.
#pragma once

#include <vector>

#include "client/pipeline/pipeline.hpp"
#include "config/document.hpp"

namespace mljobd::client {

class StageReader {
 public:
  StageReader(const Surroundings& surroundings, std::vector<Complaint>& complaints)
      : surroundings_(surroundings), complaints_(complaints) {}

  // What all stages have in common.
  [[nodiscard]] Stage read_defaults(const config::Object& object);
  [[nodiscard]] Stage read_stage(const config::Object& object, std::size_t line, const Stage& defaults);

 private:
  void read_member(const config::Member& member, Stage& stage);
  void read_option(const config::Member& member, Stage& stage);
  void read_name(const config::Member& member, Stage& stage);
  void read_command(const config::Member& member, Stage& stage);
  void read_after(const config::Member& member, Stage& stage);
  void read_dependency(const config::Node& node, core::StringPairs& dependencies);
  void read_jobs(std::string_view kind, const config::Node& node, core::StringPairs& dependencies);
  void read_flag(const config::Member& member, Stage& stage);
  [[nodiscard]] core::StringMap read_texts(const config::Member& member);
  [[nodiscard]] bool allowed_in_defaults(const config::Member& member);
  void complain(std::size_t line, std::string reason);
  void expected(const config::Node& node, std::string_view key, std::string_view wanted);

  const Surroundings& surroundings_;
  std::vector<Complaint>& complaints_;
};

}  // namespace mljobd::client
