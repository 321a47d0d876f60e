// Unit properties on the wire: requests out, states in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sdbus-c++/sdbus-c++.h>

#include "systemd/service_manager.hpp"
#include "systemd/unit_request.hpp"

namespace mljobd::systemd {

// a(sv)
void write_properties(sdbus::Message& message, const std::vector<UnitProperty>& properties);
// ssa(sv)a(sa(sv)), the arguments of StartTransientUnit
void write_request(sdbus::Message& message, const UnitRequest& request);

// What a dictionary said of a unit; the rest of the status is left as it was.
struct PropertiesRead {
  bool has_state = false;  // ActiveState was there: the Unit interface
  bool has_end = false;    // Result was there: the interface of the unit's type
};
// a{sv}, as GetAll and PropertiesChanged have it. Properties of no interest are skipped, wrong types as well.
PropertiesRead read_properties(sdbus::Message& message, UnitStatus& status);
// One (ssssssouso) of ListUnits.
UnitStatus read_listed_unit(sdbus::Message& message);

[[nodiscard]] ActiveState active_state_from(std::string_view word);

}  // namespace mljobd::systemd
