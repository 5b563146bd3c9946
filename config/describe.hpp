// The effective configuration as an operator may see it: `--check-config` and GET /v1/config.
#pragma once

#include <string>

#include "config/settings.hpp"

namespace ledgergate::config {

/// YAML that load_text() reads back to the same settings, each line whose value was not given marked with `#
/// default`. Secrets are replaced by `***`: the passwords of control.dsn in either of its forms. Files are
/// named, never opened.
[[nodiscard]] std::string describe(const settings& value);

} // namespace ledgergate::config
