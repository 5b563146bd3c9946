// The texts that read the system catalogs. They need no privilege beyond what every role has, and take no
// lock on any user's table: a refresh never waits behind an ALTER TABLE (nothing is deparsed by the server's
// ruleutils, which would lock what it prints).
#pragma once

#include <string>

#include "config/settings.hpp"

namespace ledgergate::control {

/// One row, one text: changes whenever anything that catalog_text() reads has changed.
std::string fingerprint_text(const config::settings& settings);

/// Everything, in one snapshot. The sets behind the first two (BEGIN, SET) and before the last (COMMIT) are,
/// in this order: the fingerprint, then one for each member of catalog::catalog_rows in its order.
std::string catalog_text(const config::settings& settings);

} // namespace ledgergate::control
