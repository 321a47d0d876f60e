#include "systemd/unit_request.hpp"

#include <algorithm>
#include <string_view>
#include <type_traits>

namespace mljobd::systemd {
namespace {

bool fits(std::string_view text) {
  const auto breaks_line = [](char character) {
    return static_cast<unsigned char>(character) < 32 || character == 127;
  };
  return !text.ends_with('\\') && std::none_of(text.begin(), text.end(), breaks_line);
}

// PID 1 escapes commands and their arguments; numbers have nothing to escape.
template <class T>
bool fits(const T& /*value*/) {
  return true;
}

bool fits(const std::string& text) { return fits(std::string_view(text)); }

template <class Second>
bool fits(const std::pair<std::string, Second>& value) {
  return fits(value.first) && fits(value.second);
}

template <class Element>
bool all_fit(const std::vector<Element>& values) {
  return std::all_of(values.begin(), values.end(), [](const Element& element) { return fits(element); });
}

template <class T>
bool value_fits(const T& value) {
  return fits(value);
}
template <class Element>
bool value_fits(const std::vector<Element>& values) {
  return all_fit(values);
}

}  // namespace

core::Expected<void> check_fits_unit_file(const std::vector<UnitProperty>& properties) {
  for (const auto& [name, value] : properties) {
    if (std::visit([](const auto& content) { return value_fits(content); }, value)) continue;
    return core::failure(core::ErrorCode::invalid_spec,
                         "what the job gives for systemd's " + name +
                             " has a control character in it or a backslash at its end; systemd cannot store that");
  }
  return {};
}

core::Expected<void> check_fits_unit_file(const UnitRequest& request) {
  auto result = check_fits_unit_file(request.properties);
  for (const auto& [name, properties] : request.auxiliary) {
    if (!result) break;
    result = check_fits_unit_file(properties);
  }
  return result;
}

}  // namespace mljobd::systemd
