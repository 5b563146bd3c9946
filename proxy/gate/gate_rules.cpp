#include "proxy/gate/gate_rules.hpp"

#include <utility>

namespace ledgergate::gate {

std::shared_ptr<const gate_rules> make_gate_rules(const config::settings& settings, rule_switch kept,
                                                  std::shared_ptr<const sql::catalog_closure> closure,
                                                  std::uint64_t generation) {
  auto rules = std::make_shared<gate_rules>();
  rules->generation = generation;
  rules->rules = kept;
  rules->mode = settings.gate.mode;
  rules->in_band_transitions = settings.gate.in_band_transitions;
  rules->max_buffered_statement_bytes = settings.limits.max_buffered_statement_bytes;
  const config::endpoint& admin = settings.admin.address;
  rules->admin_hint =
      "Change the mode through the admin port of ledgergate at " +
      (admin.is_unix() ? "unix:" + admin.unix_path : admin.host + ":" + std::to_string(admin.port)) +
      ", for instance with gatectl flip.";
  rules->messages = make_pin_messages(settings.gate.lock_key, settings.gate.applier_lock_key);
  rules->classifier = std::make_shared<const sql::classifier>(settings, std::move(closure));
  return rules;
}

} // namespace ledgergate::gate
