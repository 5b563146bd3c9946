// Follows one transition until it is over, or until the operator has seen enough.
#pragma once

#include <boost/json/value.hpp>

#include "proxy/ctl/admin_client.hpp"
#include "proxy/ctl/command_line.hpp"
#include "proxy/ctl/console.hpp"
#include "proxy/ctl/exit_code.hpp"

namespace ledgergate::ctl {

/// `transition` is its first state. On a terminal the progress is redrawn in place; elsewhere a line is
/// written whenever something changes and once a second. With `-o json` the progress goes to standard error
/// and the final resource to standard output.
exit_code watch_transition(console& terminal, const admin_client& client, boost::json::value transition,
                           output_format format);

} // namespace ledgergate::ctl
