// Statements as the log and the admin port may show them.
#pragma once

#include <string>
#include <string_view>

#include "config/settings.hpp"

namespace ledgergate::observe {

/// `full`: as it is. `none`: empty. `redacted`: without comments, every constant (quoted, dollar-quoted,
/// escape, bit and number) replaced by `?`, white space folded; identifiers stay, quoted ones as well. A
/// constant that does not end is replaced up to the end of the text, so a cut-off statement shows nothing of
/// it.
std::string redact_statement(std::string_view statement, config::log_statements how);

} // namespace ledgergate::observe
