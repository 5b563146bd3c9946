// The settings that the tests of the classifier use.
#pragma once

#include "config/settings.hpp"

namespace ledgergate::test {

inline config::settings sample_settings() {
  config::settings settings;
  settings.gate.tables = {
      {"", "led", config::pin_on::any, {}},
      {"", "balances", config::pin_on::lock, {}},
      {"", "accounts", config::pin_on::write, {}},
      {"", "users", config::pin_on::write, {"kudos", "evaluating_kudos"}},
      {"finance", "vault", config::pin_on::any, {}},
      {"", "Mixed \"Case\"", config::pin_on::any, {}},
      {"", "\xD0\xBB\xD0\xB5\xD0\xB4", config::pin_on::any, {}},
  };
  settings.gate.functions = {"post_kudos", "finance.settle"};
  settings.gate.lock_key = 0x4B55444D;
  settings.gate.pin_before_locks = {0x4B554452};
  settings.control_row.table = "mode_control";
  settings.modes = {"shadow", "ledger"};
  return settings;
}

} // namespace ledgergate::test
