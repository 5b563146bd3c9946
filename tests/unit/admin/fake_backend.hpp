// An admin_backend whose answers a test sets, and which remembers what it was asked.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "proxy/admin/admin_backend.hpp"

namespace ledgergate::admin {

class fake_backend : public admin_backend {
 public:
  transition::wall_time time{std::chrono::milliseconds(1'800'000'000'123)};
  probe_report live_report, started_report, ready_report;
  std::string metrics = "ledgergate_clients 3\n";
  status_report status_now;
  pins_answer pins_now;
  start_answer start_result;
  std::vector<transition::transition_record> history;
  std::optional<transition::transition_record> running;

  std::vector<transition::transition_request> started_by;
  std::vector<transition::transition_request> planned;
  plan_answer plan_now;
  std::vector<std::pair<std::string, std::string>> cancelled_by; ///< id and peer
  cancel_result cancel_now = cancel_result::not_found;
  std::vector<refused_request> refusals;
  std::vector<session::session_info> sessions_now;
  std::vector<std::string> drained_by;
  std::vector<std::string> reloaded_by;
  reload_outcome reload_now;
  bool hold_answers = false; ///< keep the handlers of start_transition instead of calling them
  std::vector<std::function<void(start_answer)>> held_handlers;

  transition::wall_time now() const override { return time; }
  probe_report live() const override { return live_report; }
  probe_report started() const override { return started_report; }
  probe_report ready() const override { return ready_report; }
  std::string metrics_text() const override { return metrics; }
  std::string config_text() const override { return "modes: [shadow, ledger]\n"; }
  status_report status() const override { return status_now; }
  void pins(std::function<void(pins_answer)> handler) override { handler(pins_now); }
  void plan_transition(transition::transition_request request,
                       std::function<void(plan_answer)> handler) override {
    planned.push_back(std::move(request));
    handler(plan_now);
  }
  cancel_result cancel_transition(const std::string& id, const std::string& peer) override {
    cancelled_by.emplace_back(id, peer);
    return cancel_now;
  }
  void start_transition(transition::transition_request request,
                        std::function<void(start_answer)> handler) override {
    started_by.push_back(std::move(request));
    if (hold_answers) {
      held_handlers.push_back(std::move(handler));
    } else {
      handler(start_result);
    }
  }
  std::optional<transition::transition_record> transition(const std::string& id) const override {
    for (const auto& record : history) {
      if (record.id == id) return record;
    }
    return std::nullopt;
  }
  std::vector<transition::transition_record> transitions() const override { return history; }
  std::optional<transition::transition_record> current_transition() const override { return running; }
  void sessions(std::function<void(std::vector<session::session_info>)> handler) override {
    handler(sessions_now);
  }
  std::optional<std::string> install_text(transition::guard_kind guards) const override {
    return guards == transition::guard_kind::pin ? std::nullopt
                                                 : std::optional<std::string>("BEGIN; COMMIT;");
  }
  bool drain(const std::string& peer) override {
    drained_by.push_back(peer);
    return drained_by.size() == 1;
  }
  void reload(const std::string& peer, std::function<void(reload_outcome)> handler) override {
    reloaded_by.push_back(peer);
    handler(reload_now);
  }
  void refused(const refused_request& request) override { refusals.push_back(request); }
};

/// A record as the control plane would answer right after a start at `time`.
inline transition::transition_record planned_record(transition::wall_time time) {
  transition::transition_record record;
  record.id = "6f1c7f3e-1111-4222-8333-444455556666";
  record.to = "ledger";
  record.from = "shadow";
  record.version_before = "731";
  record.request.to = "ledger";
  record.started_at = record.state_since = time;
  record.deadline_at = time + std::chrono::seconds(30);
  record.queue_budget = std::chrono::milliseconds(500);
  record.hold_budget = std::chrono::seconds(5);
  return record;
}

} // namespace ledgergate::admin
