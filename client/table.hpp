// Tables in columns, by libsmartcols.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "client/failure.hpp"
#include "client/terminal.hpp"

namespace mljobd::client {

struct TableColumn {
  std::string title{};
  bool right = false;  // numbers
  bool cut = false;    // gives way when the terminal is too narrow
};

struct TableCell {
  std::string text{};
  Colour colour = Colour::none;
};

struct TableStyle {
  std::optional<std::size_t> width{};  // empty: as wide as it gets
  bool legend = true;
  bool colour = false;
};

// Every row has as many cells as there are columns. Ends with a newline unless it is empty. Errors: out of memory.
[[nodiscard]] Outcome<std::string> render_table(const std::vector<TableColumn>& columns,
                                                const std::vector<std::vector<TableCell>>& rows,
                                                const TableStyle& style);

}  // namespace mljobd::client
