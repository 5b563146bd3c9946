// `explain`: what the gate makes of a text.
#pragma once

#include "proxy/ctl/admin_client.hpp"
#include "proxy/ctl/command_line.hpp"
#include "proxy/ctl/console.hpp"
#include "proxy/ctl/exit_code.hpp"

namespace ledgergate::ctl {

/// Reads the text from standard input when it is `-`. Answers `done` whether or not the text touches.
exit_code explain(console& terminal, const admin_client& client, const explain_command& wanted,
                  output_format format);

} // namespace ledgergate::ctl
