// The SQL of `gatectl install` and `uninstall`: audit table and guard triggers. Pure; run by whoever owns the
// ledger's tables, never by the sidecar. May be run again: what is there stays or is replaced.
#pragma once

#include <string>
#include <string_view>

#include "config/settings.hpp"

namespace ledgergate::transition {

/// What a guard trigger does with a write whose session does not hold the gate.
enum class guard_kind {
  none,   ///< no triggers
  refuse, ///< the statement fails with SQLSTATE `LG001`
  pin,    ///< it waits for the pin and takes it, until its transaction ends
};

/// SQLSTATE of a refused write. Class LG is in the range that the SQL standard leaves to implementations.
inline constexpr std::string_view unpinned_write = "LG001";

/// One transaction. `control_role` gets what a transition needs of the audit table, and no more. With another
/// kind than before, the triggers are replaced; with `none` they are taken away.
std::string install_text(const config::settings& settings, guard_kind guards, std::string_view control_role);

/// One transaction that takes out everything, the history included.
std::string uninstall_text();

} // namespace ledgergate::transition
