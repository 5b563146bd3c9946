#include "proxy/app/catalog_view.hpp"

#include <utility>

#include "proxy/observe/log.hpp"

namespace ledgergate::app {

namespace {

/// How long a client waits for the catalogs after DDL of its own.
constexpr std::chrono::milliseconds patience{1000};

} // namespace

catalog_view::catalog_view(std::shared_ptr<const config::settings> settings, gate::rule_switch kept,
                           control::control_service& control, observe::metrics& metrics, publisher publish)
    : settings_(std::move(settings)), kept_(kept), control_(control), metrics_(metrics),
      publish_(std::move(publish)), closure_(catalog::initial_closure(*settings_)),
      rules_(gate::make_gate_rules(*settings_, kept_, closure_)) {
  control_.on_catalog([this](const std::shared_ptr<const catalog::catalog_report>& report,
                             std::function<void()> in_force) { use(report->closure, std::move(in_force)); });
}

void catalog_view::use(std::shared_ptr<const sql::catalog_closure> closure, std::function<void()> in_force) {
  closure_ = std::move(closure);
  rules_ = gate::make_gate_rules(*settings_, kept_, closure_, ++generation_);
  publish_(rules_, std::move(in_force));
}

void catalog_view::reload(std::shared_ptr<const config::settings> settings, std::function<void()> in_force) {
  const std::shared_ptr<const config::settings> before = std::exchange(settings_, std::move(settings));
  const config::gate_settings& now = settings_->gate;
  const bool same_ways = before->gate.tables == now.tables && before->gate.functions == now.functions;
  const bool by_name = now.catalog.on_error == config::catalog_on_error::names_only;
  if (!now.catalog.closure) return use(nullptr, std::move(in_force));
  // Where names alone may hold, what is known of the old ones is more than nothing.
  const bool was_read = closure_ != nullptr && !closure_->unread;
  const bool keep = was_read && (same_ways || by_name);
  use(keep ? closure_ : catalog::initial_closure(*settings_), std::move(in_force));
}

admin::catalog_state to_admin(const control::catalog_status& status) {
  return {status.enabled, status.generation, status.age, status.last_error, status.report};
}

admin::catalog_state catalog_view::catalog() const { return to_admin(control_.catalog()); }

gate::explanation catalog_view::explain(const std::string& sql) const { return gate::explain(sql, *rules_); }

void catalog_view::refresh(std::function<void(bool current)> answer) {
  // With the configured names alone there is nothing to read.
  if (!control_.catalog().enabled) return answer(true);
  control_.refresh_catalog(patience, [this, answer = std::move(answer)](bool current) {
    if (!current) {
      metrics_.count_catalog_late();
      observe::log(config::log_level::warn,
                   "a client defined something and the catalogs could not be read in time: its session stays "
                   "pinned for everything (" +
                       control_.catalog().last_error + ")");
    }
    answer(current);
  });
}

} // namespace ledgergate::app
