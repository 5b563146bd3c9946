// What may be seen of other sessions' statements outside this folder.
#pragma once

#include "config/settings.hpp"
#include "proxy/transition/pin_snapshot.hpp"
#include "proxy/transition/transition_record.hpp"

namespace ledgergate::control {

/// The same with every query as `log.statements` allows: whole, without its constants, or left out.
transition::gate_lock visible(transition::gate_lock lock, config::log_statements statements);
transition::pin_snapshot visible(transition::pin_snapshot pins, config::log_statements statements);
transition::transition_record visible(transition::transition_record record,
                                      config::log_statements statements);

} // namespace ledgergate::control
