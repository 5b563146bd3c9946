// What the admin port is told about the catalog, and the rules that follow from it, as they are in force.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "config/settings.hpp"
#include "proxy/admin/catalog_api.hpp"
#include "proxy/control/control_service.hpp"
#include "proxy/gate/gate_rules.hpp"
#include "proxy/observe/metrics.hpp"

namespace ledgergate::app {

admin::catalog_state to_admin(const control::catalog_status& status);

/// All it refers to outlives it. Main thread.
class catalog_view final : public admin::catalog_backend {
 public:
  using publisher =
      std::function<void(const std::shared_ptr<const gate::gate_rules>&, std::function<void()> in_force)>;

  /// `publish` hands rules to the sessions, and says on the main thread when all of them have taken them; it
  /// is called with every new closure.
  catalog_view(std::shared_ptr<const config::settings> settings, gate::rule_switch kept,
               control::control_service& control, observe::metrics& metrics, publisher publish);

  admin::catalog_state catalog() const override;
  gate::explanation explain(const std::string& sql) const override;

  /// The rules in force: at first those for catalogs that were not read yet.
  const std::shared_ptr<const gate::gate_rules>& rules() const { return rules_; }

  /// Rules by the new settings are published at once; `in_force` is called later, when every session goes
  /// by them. Where their names are others, what leads there is not known before the catalogs were read for
  /// them, and gate.catalog.on_error says what holds until then.
  void reload(std::shared_ptr<const config::settings> settings, std::function<void()> in_force);

  /// Reads the catalogs anew. `answer` is called when the rules that follow are in force for every session,
  /// or with false.
  void refresh(std::function<void(bool current)> answer);

 private:
  void use(std::shared_ptr<const sql::catalog_closure> closure, std::function<void()> in_force);

  std::shared_ptr<const config::settings> settings_;
  gate::rule_switch kept_;
  control::control_service& control_;
  observe::metrics& metrics_;
  publisher publish_;
  std::shared_ptr<const sql::catalog_closure> closure_; ///< in force; null: the configured names alone
  std::uint64_t generation_ = 0;                        ///< of the rules: counts those that were made
  std::shared_ptr<const gate::gate_rules> rules_;
};

} // namespace ledgergate::app
