// A pipeline of any content is refused with lines and reasons, or yields stages that wait for nothing but each other
// and for jobs that exist.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>

#include "client/pipeline/pipeline.hpp"
#include "client/pipeline/pipeline_graph.hpp"
#include "client/values.hpp"

namespace {

using namespace mljobd;

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_number(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void check_complaints(const std::vector<client::Complaint>& complaints, std::string_view text) {
  require(!complaints.empty() && complaints.size() <= client::maximum_complaints);
  const auto lines = 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  for (const auto& complaint : complaints) {
    require(!complaint.reason.empty() && complaint.line >= 1 && complaint.line <= lines);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const client::Surroundings surroundings{.workdir = "/tmp",
                                          .total_memory = core::Bytes{16} << 30,
                                          .now = core::RealTime(std::chrono::seconds(1'800'000'000))};
  const auto pipeline = client::parse_pipeline(text, surroundings);
  if (!pipeline) {
    check_complaints(pipeline.error(), text);
    return 0;
  }
  std::set<std::string_view> names;
  for (const auto& stage : pipeline->stages) require(names.insert(stage.name).second && !stage.name.empty());
  require(!names.empty() && names.size() <= client::maximum_stages);
  for (const auto& stage : pipeline->stages) {
    require(stage.spec.contains("command"));
    for (const auto& [kind, job] : client::value_or<core::StringPairs>(stage.spec, "after", {})) {
      require(names.contains(job) || is_number(job));
    }
  }
  require(!client::plan_text(*pipeline).empty());
  return 0;
}
