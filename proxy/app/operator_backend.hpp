// What the admin port is told and may ask for, put together from the control plane, the data plane and the
// configuration.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/admin/admin_backend.hpp"
#include "proxy/admin/transition_feeds.hpp"
#include "proxy/control/control_service.hpp"
#include "proxy/observe/log.hpp"
#include "proxy/observe/metrics.hpp"
#include "proxy/session/cancel_directory.hpp"
#include "proxy/session/session_info.hpp"
#include "proxy/session/session_registry.hpp"

namespace ledgergate::app {

/// All it refers to outlives it. Main thread.
class operator_backend final : public admin::admin_backend {
 public:
  struct parts {
    std::shared_ptr<const config::settings> settings;
    control::control_service& control;
    session::session_registry& sessions;
    const session::cancel_directory& cancels;
    /// Answers on the main thread.
    std::function<void(std::function<void(std::vector<session::session_info>)>)> list_sessions;
    std::function<bool()> drain; ///< false: under way already
    std::function<void(const std::string& who, std::function<void(admin::reload_outcome)>)> reload;
    observe::metrics& metrics;
    admin::transition_feeds& feeds;
    std::size_t max_clients = 0;          ///< in force: the descriptors may allow less than configured
    std::function<bool()> upstream_known; ///< the upstream was tried at least once
    std::function<bool()> draining;
    std::function<void()> on_transition; ///< called for every change of one; its record is as it is then
  };

  explicit operator_backend(parts made_of);

  transition::wall_time now() const override;
  admin::probe_report live() const override;
  admin::probe_report started() const override;
  admin::probe_report ready() const override;
  std::string metrics_text() const override;
  std::string config_text() const override;
  admin::status_report status() const override;
  void pins(std::function<void(admin::pins_answer)> handler) override;
  void start_transition(transition::transition_request request,
                        std::function<void(admin::start_answer)> handler) override;
  void plan_transition(transition::transition_request request,
                       std::function<void(admin::plan_answer)> handler) override;
  admin::cancel_result cancel_transition(const std::string& id, const std::string& peer) override;
  std::optional<transition::transition_record> transition(const std::string& id) const override;
  std::vector<transition::transition_record> transitions() const override;
  std::optional<transition::transition_record> current_transition() const override;
  void sessions(std::function<void(std::vector<session::session_info>)> handler) override;
  bool drain(const std::string& peer) override;
  void reload(const std::string& peer, std::function<void(admin::reload_outcome)> handler) override;
  std::optional<std::string> install_text(transition::guard_kind guards) const override;
  void refused(const admin::refused_request& request) override;

  /// What a reload has put in force.
  void use(std::shared_ptr<const config::settings> settings, std::size_t max_clients);

  /// Counts and logs a transition that has ended; called for every change of a record.
  void on_transition_change(const transition::transition_record& record);

 private:
  void name_sidecars(std::vector<transition::gate_lock>& locks) const;
  transition::transition_record named(transition::transition_record record) const;

  parts parts_;
  const transition::wall_time started_at_;
  mutable bool once_ready_ = false;
  std::string last_counted_; ///< id of the transition that was counted last: there is one at a time
  observe::log_throttle refused_;
};

} // namespace ledgergate::app
