// What every engine shares: an immutable value made from the settings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "config/settings.hpp"
#include "proxy/gate/pin_messages.hpp"
#include "proxy/gate/rule_switch.hpp"
#include "proxy/sql/classifier.hpp"

namespace ledgergate::gate {

/// Two values of one process differ in what touches and in what is refused, never in the keys.
struct gate_rules {
  std::uint64_t generation = 0; ///< of the catalog and the settings it was made from: verdicts of another one
                                ///< are given anew
  config::gate_mode mode = config::gate_mode::enforce;
  config::in_band_policy in_band_transitions = config::in_band_policy::exclusive;
  std::size_t max_buffered_statement_bytes = 16 * 1024 * 1024;
  std::string admin_hint; ///< hint of the error that denies an in-band transition: where the admin port is
  pin_messages messages;
  std::shared_ptr<const sql::classifier> classifier;
  rule_switch rules;
};

/// Never null. `closure`: what the catalogs say leads to the ledger; without it the configured names alone
/// count. Made anew, and given to every engine, whenever the catalogs have changed; each time with a
/// `generation` of its own.
std::shared_ptr<const gate_rules>
make_gate_rules(const config::settings& settings, rule_switch rules = {},
                std::shared_ptr<const sql::catalog_closure> closure = nullptr, std::uint64_t generation = 0);

} // namespace ledgergate::gate
