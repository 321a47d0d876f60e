// A script of any content is refused with a line and a reason, or is none, or yields a specification within its bounds.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "client/script/script_file.hpp"
#include "client/script/script_request.hpp"
#include "client/values.hpp"
#include "core/format.hpp"

namespace {

using namespace mljobd;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_complaint(const client::Complaint& complaint, std::string_view text) {
  require(!complaint.reason.empty());
  require(complaint.line <= 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
}

void check_spec(const client::ScriptRequest& request) {
  const auto cpus = client::find_value<std::uint32_t>(request.spec, "cpus");
  require(!cpus || (*cpus >= 1 && *cpus <= core::maximum_cpu + 1));
  const auto workdir = client::text_or_empty(request.spec, "workdir");
  require(workdir.starts_with('/'));
  for (const auto* key : {"output", "error"}) {
    const auto path = client::text_or_empty(request.spec, key);
    require(path.empty() || path.starts_with('/'));
  }
  for (const auto& notice : request.notices) require(!notice.reason.empty() && !notice.places.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  const auto script = client::parse_script("fuzz.sh", text);
  if (!script) {
    check_complaint(script.error(), text);
    return 0;
  }
  if (!*script) return 0;
  require((*script)->content.starts_with("#!") && !(*script)->interpreter.empty());
  const client::Surroundings surroundings{.workdir = "/tmp",
                                          .total_memory = core::Bytes{16} << 30,
                                          .now = core::RealTime(std::chrono::seconds(1'800'000'000))};
  client::ScriptRequest request;
  const auto applied =
      client::apply_directives((*script)->directives, {.surroundings = surroundings, .environment = {}}, request);
  if (!applied) {
    check_complaint(applied.error(), text);
  } else if (client::complete(surroundings, request)) {
    check_spec(request);
  }
  return 0;
}
