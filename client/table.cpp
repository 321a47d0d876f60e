#include "client/table.hpp"

#include <cstdlib>
#include <memory>

#include <libsmartcols.h>

namespace mljobd::client {
namespace {

struct Unreference {
  void operator()(libscols_table* table) const { scols_unref_table(table); }
};
using Table = std::unique_ptr<libscols_table, Unreference>;

const char* colour_name(Colour colour) {
  switch (colour) {
    case Colour::bold:
      return "bold";
    case Colour::red:
      return "red";
    case Colour::yellow:
      return "brown";
    case Colour::green:
      return "green";
    case Colour::grey:
      return "darkgray";
    case Colour::none:
      break;
  }
  return nullptr;
}

void set_style(libscols_table* table, const TableStyle& style) {
  scols_table_enable_noheadings(table, style.legend ? 0 : 1);
  scols_table_enable_colors(table, style.colour ? 1 : 0);
  // Without this it measures stdin, stdout and stderr for itself, and cuts what goes into a pipe.
  scols_table_set_termforce(table, style.width ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER);
  if (style.width) scols_table_set_termwidth(table, *style.width);
}

bool add_row(libscols_table* table, const std::vector<TableCell>& cells) {
  libscols_line* line = scols_table_new_line(table, nullptr);
  if (line == nullptr) return false;
  for (std::size_t at = 0; at < cells.size(); ++at) {
    if (scols_line_set_data(line, at, cells[at].text.c_str()) != 0) return false;
    const char* colour = colour_name(cells[at].colour);
    if (colour != nullptr && scols_cell_set_color(scols_line_get_cell(line, at), colour) != 0) return false;
  }
  return true;
}

}  // namespace

Outcome<std::string> render_table(const std::vector<TableColumn>& columns,
                                  const std::vector<std::vector<TableCell>>& rows, const TableStyle& style) {
  const auto out_of_memory = fail(exit_code::failed, "out of memory while drawing a table");
  const Table table(scols_new_table());
  if (!table) return out_of_memory;
  set_style(table.get(), style);
  for (const auto& column : columns) {
    const int flags = (column.right ? SCOLS_FL_RIGHT : 0) | (column.cut ? SCOLS_FL_TRUNC : 0);
    if (scols_table_new_column(table.get(), column.title.c_str(), 0, flags) == nullptr) return out_of_memory;
  }
  for (const auto& row : rows) {
    if (!add_row(table.get(), row)) return out_of_memory;
  }
  // An empty table prints nothing at all, where a header says that there is a list and that it is empty.
  if (rows.empty() && style.legend && scols_table_new_line(table.get(), nullptr) == nullptr) return out_of_memory;
  char* text = nullptr;
  if (scols_print_table_to_string(table.get(), &text) != 0 || text == nullptr) return out_of_memory;
  const std::unique_ptr<char, decltype(&std::free)> owner(text, &std::free);
  std::string result(text);
  if (rows.empty()) result.erase(result.find('\n') == std::string::npos ? result.size() : result.find('\n'));
  if (!result.empty() && result.back() != '\n') result.push_back('\n');
  return result;
}

}  // namespace mljobd::client
