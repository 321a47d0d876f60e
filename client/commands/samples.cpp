#include <CLI/CLI.hpp>

#include "client/json.hpp"
#include "client/output.hpp"
#include "client/render_samples.hpp"
#include "client/selection.hpp"
#include "client/verbs.hpp"

namespace mljobd::client {
namespace {

struct SamplesOptions {
  std::string job{};
  std::size_t lines = core::maximum_samples;
  bool json = false;
  bool no_legend = false;
};

int samples(const Invocation& invocation, const SamplesOptions& options) {
  const auto client = connect(invocation);
  if (!client) return report(client.error());
  const auto id = select_job(**client, options.job);
  if (!id) return report(id.error());
  const auto columns = (*client)->samples(*id);
  if (!columns) return report(columns.error());
  if (options.json) return print(json_list("samples", sample_rows(*columns, options.lines)));
  const auto table = render_samples(*columns, options.lines, table_style(invocation, !options.no_legend));
  return table ? print(*table) : report(table.error());
}

}  // namespace

int run_samples(Invocation& invocation) {
  SamplesOptions options;
  VerbParser parser(invocation,
                    "What a job used while it ran, oldest first: memory in use, what of it is programs' and shared "
                    "memory, swap, the share of a CPU that it had, and of the time how much some task waited for "
                    "memory (MEMWAIT), all of them did (STALL), or some waited for data (IOWAIT).",
                    "jobctl samples @ --json");
  auto& app = parser.app();
  app.add_option("job", options.job, "id, name, or @")->required()->type_name("JOB");
  app.add_option("-n,--lines", options.lines, "the last so many")
      ->check(CLI::Range(std::size_t{1}, std::size_t{core::maximum_samples}))
      ->type_name("N");
  app.add_flag("--json", options.json, "as JSON, with the totals that the percentages are made of");
  app.add_flag("--no-legend", options.no_legend, "no titles above the columns");
  if (const auto code = parser.parse()) return *code;
  return samples(invocation, options);
}

}  // namespace mljobd::client
