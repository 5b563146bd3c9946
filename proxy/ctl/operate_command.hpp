// `cancel`, `drain` and `reload`: one call each, and a word about what it did.
#pragma once

#include "proxy/ctl/admin_client.hpp"
#include "proxy/ctl/command_line.hpp"
#include "proxy/ctl/console.hpp"
#include "proxy/ctl/exit_code.hpp"

namespace ledgergate::ctl {

exit_code cancel(console& terminal, const admin_client& client, const cancel_command& wanted,
                 output_format format);

exit_code drain(console& terminal, const admin_client& client, output_format format);

/// A refusal lists every error of the new file.
exit_code reload(console& terminal, const admin_client& client, output_format format);

} // namespace ledgergate::ctl
