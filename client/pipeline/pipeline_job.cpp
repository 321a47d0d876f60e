#include "client/pipeline/pipeline_job.hpp"

#include <array>

#include "client/environment.hpp"
#include "client/files.hpp"
#include "client/output.hpp"
#include "client/pipeline/pipeline.hpp"
#include "client/pipeline/pipeline_graph.hpp"
#include "client/script/script_file.hpp"
#include "client/values.hpp"
#include "client/verbs.hpp"

namespace mljobd::client {
namespace {

Outcome<Pipeline> read_pipeline(const std::string& path, const Surroundings& surroundings) {
  const auto fd = open_regular_file(path);
  if (!fd) return tl::unexpected(fd.error());
  const auto text = read_at_most(fd->get(), path, maximum_pipeline, "a pipeline has at most 1000 stages");
  if (!text) return tl::unexpected(text.error());
  auto pipeline = parse_pipeline(*text, surroundings);
  if (pipeline) return std::move(*pipeline);
  std::string sentences;
  for (const auto& complaint : pipeline.error()) {
    sentences.append(sentences.empty() ? "" : "\n").append(to_sentence(path, complaint));
  }
  return usage_failure(sentences + "\nNothing was queued.");
}

Outcome<core::ValueMap> typed_spec(const SpecOptions& options, const Surroundings& surroundings) {
  auto spec = spec_from(SpecUse::submit, options, surroundings);
  if (!spec) return spec;
  for (const auto* key : {"name", "after", "array", "key"}) {
    if (spec->contains(key))
      return usage_failure(std::string("--") + key + " belongs to one stage: write it into the file");
  }
  return spec;
}

std::vector<std::string> merged(const std::vector<std::string>& base, const core::StringMap& own) {
  std::vector<std::string> environment;
  for (const auto& variable : base) {
    if (!own.contains(std::string_view(variable).substr(0, variable.find('=')))) environment.push_back(variable);
  }
  for (const auto& [name, value] : own) environment.push_back(std::string(name).append("=").append(value));
  return environment;
}

Rows specs_of(Pipeline& pipeline, const core::ValueMap& typed, const std::vector<std::string>& environment,
              const Surroundings& surroundings) {
  Rows specs;
  for (auto& stage : pipeline.stages) {
    auto& spec = stage.spec;
    for (const auto& [key, value] : typed) spec.insert_or_assign(key, value);
    spec.try_emplace("workdir", surroundings.workdir);
    if (auto all = merged(environment, stage.environment); !all.empty())
      spec.insert_or_assign("environment", std::move(all));
    if (!pipeline.name.empty()) {
      auto labels = value_or<core::StringMap>(spec, "labels", {});
      labels.emplace("pipeline", pipeline.name);
      spec.insert_or_assign("labels", std::move(labels));
    }
    specs.push_back(spec);
  }
  return specs;
}

}  // namespace

int submit_pipeline(const Invocation& invocation, const std::string& path, const SpecOptions& options,
                    const std::vector<std::string>& exports, const Surroundings& surroundings,
                    const AfterSubmit& after) {
  if (after.follow) return report({exit_code::usage, "--follow shows one job's output: use --wait with a pipeline"});
  if (surroundings.workdir.empty()) return report({exit_code::usage, "the present directory is gone; cd to another"});
  const auto typed = typed_spec(options, surroundings);
  if (!typed) return report(typed.error());
  auto pipeline = read_pipeline(path, surroundings);
  if (!pipeline) return report(pipeline.error());
  core::ValueMap common;
  if (auto added = add_environment(exports, common); !added) return report(added.error());
  const auto client = connect(invocation);
  if (!client) return report(client.error());
  const auto environment = texts_or_empty(common, "environment");
  const int code = submit_jobs(**client, specs_of(*pipeline, *typed, environment, surroundings), after);
  return code == exit_code::success && after.test_only ? print(plan_text(*pipeline)) : code;
}

}  // namespace mljobd::client
