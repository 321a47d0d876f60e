#include "client/script/script_request.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "core/format.hpp"
#include "core/text.hpp"

namespace mljobd::client {
namespace {

template <class T>
using Checked = tl::expected<T, Complaint>;

Checked<void> apply_slurm_line(const Directive& directive, const ScriptContext& context, ScriptRequest& request) {
  if (directive.words.front() == "hetjob" || directive.words.front() == "packjob") {
    return tl::unexpected(Complaint{directive.line,
                                    "a job of different parts needs several machines and there is one "
                                    "here; submit the parts as jobs of their own"});
  }
  const auto words = parse_slurm_words(directive.words, directive.line);
  if (!words) return tl::unexpected(words.error());
  if (!words->rest.empty()) {
    return tl::unexpected(Complaint{directive.line, core::quoted(words->rest.front()) +
                                                        " is no option: write --name=value without blanks, and a "
                                                        "value that has blanks in quotes"});
  }
  return apply_slurm(words->uses, context, request);
}

struct JobLine {
  SpecOptions options{};
  std::vector<std::string> exports{};
};

Checked<JobLine> parse_job_line(const Directive& directive) {
  JobLine line;
  CLI::App app;
  app.set_help_flag();
  add_spec_options(app, SpecUse::submit, line.options);
  app.add_option("--export", line.exports)->allow_extra_args(false);
  std::vector<std::string> words(directive.words.rbegin(), directive.words.rend());
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return tl::unexpected(Complaint{directive.line, error.what()});
  }
  return line;
}

Checked<void> apply_job_line(const Directive& directive, const ScriptContext& context, ScriptRequest& request) {
  const auto line = parse_job_line(directive);
  if (!line) return tl::unexpected(line.error());
  auto spec = spec_from(SpecUse::submit, line->options, context.surroundings);
  if (!spec) return tl::unexpected(Complaint{directive.line, spec.error().message});
  overlay(std::move(*spec), request);
  if (!line->exports.empty()) request.exports = line->exports;
  return {};
}

// One limit times a count; empty where it does not fit.
std::optional<std::uint64_t> product(std::uint64_t left, std::uint64_t right) {
  std::uint64_t result = 0;
  return __builtin_mul_overflow(left, right, &result) ? std::nullopt : std::optional(result);
}

Checked<void> complete_cores(ScriptRequest& request) {
  if (request.spec.contains("cpus") || (!request.tasks && !request.cpus_per_task)) return {};
  const auto cpus = product(request.tasks.value_or(1), request.cpus_per_task.value_or(1));
  if (!cpus || *cpus > core::maximum_cpu + 1) {
    return tl::unexpected(Complaint{0, "--ntasks times --cpus-per-task is more cores than any machine has"});
  }
  request.spec.emplace("cpus", static_cast<std::uint32_t>(*cpus));
  return {};
}

Checked<void> complete_memory(ScriptRequest& request) {
  if (request.spec.contains("memory") || !request.memory_per_cpu) return {};
  const auto cpus = request.spec.find("cpus");
  const auto* count = cpus == request.spec.end() ? nullptr : std::get_if<std::uint32_t>(&cpus->second.storage);
  const auto memory = product(*request.memory_per_cpu, count == nullptr ? 1 : *count);
  if (!memory) return tl::unexpected(Complaint{0, "--mem-per-cpu times the cores is more memory than there can be"});
  request.spec.emplace("memory", *memory);
  return {};
}

void complete_files(const Surroundings& surroundings, ScriptRequest& request) {
  request.spec.try_emplace("workdir", surroundings.workdir);
  const auto workdir = std::get<std::string>(request.spec.at("workdir").storage);
  // Slurm begins its files anew; the file of a --output that jobctl was given is not one of them.
  const bool to_slurm_files =
      !request.slurm_output.empty() || (!request.slurm_error.empty() && !request.spec.contains("output"));
  if (!request.slurm_output.empty()) request.spec.try_emplace("output", absolute_path(request.slurm_output, workdir));
  if (!request.slurm_error.empty()) request.spec.try_emplace("error", absolute_path(request.slurm_error, workdir));
  if (to_slurm_files) request.spec.try_emplace("open_mode", "truncate");
}

}  // namespace

Checked<void> apply_directives(std::span<const Directive> directives, const ScriptContext& context,
                               ScriptRequest& request) {
  for (const auto& directive : directives) {
    auto applied = directive.kind == DirectiveKind::slurm ? apply_slurm_line(directive, context, request)
                                                          : apply_job_line(directive, context, request);
    if (!applied) return applied;
  }
  return {};
}

void overlay(core::ValueMap spec, ScriptRequest& request) {
  if (spec.contains("cpus")) request.cpus_per_task.reset();
  if (spec.contains("memory")) {
    request.memory_per_cpu.reset();
    request.all_memory = false;
  }
  if (spec.contains("warn_signal")) request.spec.erase("warn_signal_to");
  if (spec.contains("output")) request.slurm_output.clear();
  if (spec.contains("error")) request.slurm_error.clear();
  for (auto& [key, value] : spec) request.spec.insert_or_assign(key, std::move(value));
}

Checked<void> complete(const Surroundings& surroundings, ScriptRequest& request) {
  complete_files(surroundings, request);
  return complete_cores(request).and_then([&] { return complete_memory(request); });
}

std::string to_sentence(const Notice& notice) {
  std::string sentence;
  for (const auto& [option, line] : notice.places) {
    sentence.append(sentence.empty() ? "" : ", ").append(option);
    if (line != 0) sentence.append(" (line ").append(std::to_string(line)).append(")");
  }
  return sentence.append(": ").append(notice.reason);
}

}  // namespace mljobd::client
