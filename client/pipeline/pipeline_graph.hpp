// Which stage waits for which. Pure.
#pragma once

#include <string>
#include <vector>

#include "client/pipeline/pipeline.hpp"

namespace mljobd::client {

// Names that are given twice, stages that wait for one that does not exist, and circles: "a -> b -> a".
[[nodiscard]] std::vector<Complaint> check_graph(const std::vector<Stage>& stages);

// One line a stage, in an order in which they can start. The graph is sound.
[[nodiscard]] std::string plan_text(const Pipeline& pipeline);

}  // namespace mljobd::client
