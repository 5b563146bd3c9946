// `flip`: ask the operator, ask the sidecar, watch until it is over. Whatever goes wrong, it says only what
// is known: a request whose answer was lost may have been carried out, and that is the exit code `unknown`,
// never a failure.
#pragma once

#include "proxy/ctl/admin_client.hpp"
#include "proxy/ctl/command_line.hpp"
#include "proxy/ctl/console.hpp"
#include "proxy/ctl/exit_code.hpp"

namespace ledgergate::ctl {

/// `plan`: what a change would find now. `refused` when something would refuse it.
exit_code plan(console& terminal, const admin_client& client, const flip_command& wanted,
               output_format format);

exit_code flip(console& terminal, const admin_client& client, const flip_command& wanted,
               output_format format);

} // namespace ledgergate::ctl
