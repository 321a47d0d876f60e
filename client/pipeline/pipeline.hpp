// A file of jobs that wait for each other:
//
//   {"version": 1, "name": "night", "defaults": {"class": "train", "mem": "4G"},
//    "stages": [{"name": "prepare", "command": "./prepare.sh && ./check.sh"},
//               {"name": "train", "command": ["python3", "train.py"], "after": ["prepare"], "time": "8h"},
//               {"name": "report", "command": ["./report"], "after": [{"any": "train"}]}]}
//
// Keys of a stage are the long options of `jobctl submit` with their units; besides these name, command (words, or a
// line for /bin/sh), after, environment and labels (objects of texts), requeue, hold, singleton and parkable (true or
// false). Defaults take them all but name, command, after, array and key. Comments // and /* */ are allowed. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "client/script/directives.hpp"
#include "client/units.hpp"
#include "core/value.hpp"

namespace mljobd::client {

inline constexpr std::size_t maximum_pipeline = std::size_t{1} << 20;
inline constexpr std::size_t maximum_stages = 1000;
inline constexpr std::size_t maximum_complaints = 20;

struct Stage {
  std::size_t line = 1;
  std::string name{};
  core::ValueMap spec{};          // of the D-Bus contract; workdir and the environment that goes along are not in it
  core::StringMap environment{};  // on top of that
};

struct Pipeline {
  std::string name{};  // empty: not said
  std::vector<Stage> stages{};
};

// Errors: every mistake, at most maximum_complaints, in the order of the file. Where the text is no JSON, the first.
[[nodiscard]] tl::expected<Pipeline, std::vector<Complaint>> parse_pipeline(std::string_view text,
                                                                            const Surroundings& surroundings);

}  // namespace mljobd::client
