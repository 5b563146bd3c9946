// `install` and `uninstall`: the sidecar writes the SQL, since it knows the gate; gatectl shows it, asks, and
// runs it as a role that may, which the sidecar's own never needs to be.
#pragma once

#include "proxy/ctl/admin_client.hpp"
#include "proxy/ctl/command_line.hpp"
#include "proxy/ctl/console.hpp"
#include "proxy/ctl/exit_code.hpp"

namespace ledgergate::ctl {

exit_code install(console& terminal, const admin_client& client, const install_command& wanted,
                  output_format format);

} // namespace ledgergate::ctl
