// What a new configuration may change while the sidecar runs, and what only a restart may.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"

namespace ledgergate::config {

/// A key whose value is another one than now.
struct changed_key {
  std::string_view key;    ///< `gate.lock_key`, or a whole list or section: `gate.tables`, `control_row`
  std::string_view reason; ///< why only a restart may change it; empty when it may change live
  bool is_live() const { return reason.empty(); }
};

/// In the order of the file; empty when both say the same. A password in control.dsn counts, and is not
/// shown.
[[nodiscard]] std::vector<changed_key> changed_keys(const settings& now, const settings& wanted);

/// `gate.lock_key: cannot change while the sidecar runs, ..`; for a key that is not live.
[[nodiscard]] std::string refusal(const changed_key& changed);

} // namespace ledgergate::config
