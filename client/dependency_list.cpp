#include "client/dependency_list.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/text.hpp"

namespace mljobd::client {
namespace {

struct Kind {
  std::string_view word;
  std::string_view kind;
};
constexpr std::array kinds{Kind{"ok", "ok"},       Kind{"any", "any"},         Kind{"notok", "notok"},
                           Kind{"start", "start"}, Kind{"afterok", "ok"},      Kind{"afterany", "any"},
                           Kind{"after", "start"}, Kind{"afternotok", "notok"}};

tl::unexpected<core::Error> refuse(std::string_view what, std::string_view reason) {
  return core::failure(core::ErrorCode::invalid_spec, core::quoted(what).append(" ").append(reason));
}

core::Expected<std::string> checked_job(std::string_view job) {
  if (job.empty()) return refuse(job, "names no job: write KIND:JOB, as in afterok:42");
  if (job.find('$') != std::string_view::npos) {
    return refuse(job, "is not replaced by a value here: give the list on the command line, where a shell replaces it");
  }
  if (job.find('+') != std::string_view::npos) {
    return refuse(job, "asks for a delay after a job's start, which is not available: leave out '+' and what follows");
  }
  return std::string(job);
}

core::Expected<void> add_clause(std::string_view clause, std::string_view bare_kind, DependencyList& list) {
  if (clause == "singleton") {
    list.singleton = true;
    return {};
  }
  std::string_view kind = bare_kind;
  std::string_view jobs = clause;
  if (const auto colon = clause.find(':'); colon != std::string_view::npos) {
    const auto word = clause.substr(0, colon);
    const auto* const found = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.word == word; });
    if (found == kinds.end()) {
      return refuse(word,
                    "is nothing a job can wait for here: there are afterok, afterany, afternotok and after "
                    "(or ok, any, notok and start)");
    }
    kind = found->kind;
    jobs = clause.substr(colon + 1);
  }
  for (;;) {
    const auto colon = jobs.find(':');
    auto job = checked_job(jobs.substr(0, colon));
    if (!job) return tl::unexpected(std::move(job).error());
    list.jobs.emplace_back(kind, std::move(*job));
    if (colon == std::string_view::npos) return {};
    jobs.remove_prefix(colon + 1);
  }
}

}  // namespace

core::Expected<DependencyList> parse_dependencies(std::string_view text, std::string_view bare_kind) {
  if (text.find('?') != std::string_view::npos) {
    return refuse(text, "waits for one of several jobs, but here all of a list have to come true: separate by ','");
  }
  DependencyList list;
  for (auto rest = text;;) {
    const auto comma = rest.find(',');
    if (auto added = add_clause(rest.substr(0, comma), bare_kind, list); !added) {
      return tl::unexpected(std::move(added).error());
    }
    if (comma == std::string_view::npos) return list;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace mljobd::client
