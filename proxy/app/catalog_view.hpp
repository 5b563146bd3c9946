// What the admin port is told about the catalog, and the rules that follow from it, as they are in force.
#pragma once

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

  /// Reads the catalogs anew. `answer` is called when the rules that follow are in force for every session,
  /// or with false.
  void refresh(std::function<void(bool current)> answer);

 private:
  void use(const catalog::catalog_report& report, std::function<void()> in_force);

  std::shared_ptr<const config::settings> settings_;
  gate::rule_switch kept_;
  control::control_service& control_;
  observe::metrics& metrics_;
  publisher publish_;
  std::shared_ptr<const gate::gate_rules> rules_;
};

} // namespace ledgergate::app
