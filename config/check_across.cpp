// Checks that need more than one section.
#include "config/endpoint.hpp"
#include "config/sections.hpp"

namespace ledgergate::config {
namespace {

void check_modes_of(load_context& context, const std::vector<std::string>& modes, const std::string& path,
                    const std::map<std::string, std::vector<std::string>>& statements) {
  std::string allowed;
  for (const auto& mode : modes)
    allowed.append(allowed.empty() ? "" : ", ").append(mode);
  for (const auto& [mode, texts] : statements) {
    if (std::find(modes.begin(), modes.end(), mode) != modes.end()) continue;
    context.error(path + "." + mode, allowed.empty() ? "is not among the modes: the list modes has none"
                                                     : "is not among the modes; must be one of " + allowed);
  }
}

std::string shown(const endpoint& address) {
  return to_string(address) + (address.is_unix() ? " with port " + std::to_string(address.port) : "");
}

// Two sockets on one address cannot both be bound, and a relay to itself would connect until it runs out of
// descriptors.
void check_addresses(load_context& context, const settings& value) {
  for (std::size_t index = 0; index < value.listen.size(); ++index) {
    const endpoint& address = value.listen[index].address;
    const std::string path = item_path("listen", index) + ".address";
    for (std::size_t earlier = 0; earlier < index; ++earlier) {
      if (!(value.listen[earlier].address == address)) continue;
      context.error(path,
                    "is the same as " + item_path("listen", earlier) + ".address; each must be different");
      break;
    }
    if (address == value.admin.address) {
      context.error("admin.address", "is the same as " + path + "; must be different");
    }
    for (const endpoint& host : value.upstream.hosts) {
      if (address == host)
        context.error("upstream.host", shown(host) + " is " + path + "; must be another server");
    }
  }
}

} // namespace

void check_across(load_context& context, const settings& value) {
  // An item of a list that could not be read is missing in the value, and the indices of the others would be
  // wrong.
  if (!context.has_error("listen")) check_addresses(context, value);
  if (!context.has_error("modes")) {
    check_modes_of(context, value.modes, "transitions.guards", value.transitions.guards);
    check_modes_of(context, value.modes, "transitions.steps", value.transitions.steps);
  }
  if (value.gate.mode != gate_mode::off && value.gate.database.empty() && context.is_given("control.dsn") &&
      !context.has_error("control.dsn") && !context.has_error("gate.database")) {
    context.error("gate.database", "is missing and control.dsn names no dbname; must be the name of the "
                                   "gated database in one of the two");
  }
}

} // namespace ledgergate::config
