// What the admin API needs to know and may ask for. The API knows neither libpq nor sessions: the application
// implements this. Everything here is called, and every handler must be called, on the admin thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/admin/catalog_state.hpp"
#include "proxy/session/session_info.hpp"
#include "proxy/transition/answers.hpp"
#include "proxy/transition/install_text.hpp"
#include "proxy/transition/pin_snapshot.hpp"

namespace ledgergate::admin {

/// The answer to a probe; without reasons it is good.
struct probe_report {
  std::vector<std::string> reasons; ///< why not, one sentence each
};

/// GET /v1/status without the transitions, from what is known already: it asks nobody.
struct status_report {
  std::string version; ///< of ledgergate
  transition::wall_time started_at{};

  config::gate_mode gate_mode = config::gate_mode::enforce;
  std::string database;
  std::int64_t lock_key = 0;

  std::vector<std::string> modes;          ///< that are configured
  std::optional<std::string> mode;         ///< of the control row; absent: never read, or there is no row
  std::optional<std::string> mode_version; ///< the control row's token for `expect_version`
  std::optional<transition::wall_time> mode_since; ///< absent: not known
  std::size_t pins_held = 0;
  std::size_t pins_waiting = 0;
  std::optional<transition::elapsed> oldest_pin_age;
  std::optional<transition::wall_time> observed_at; ///< when mode and pins were read; absent: never

  std::size_t clients = 0;
  std::size_t max_clients = 0;

  std::string upstream;           ///< its address, or addresses, as configured
  std::string upstream_error;     ///< why it cannot be reached; empty when all is well
  bool control_connected = false; ///< a transition could start now
  std::string control_error;      ///< empty when all is well
  catalog_state catalog;
  std::vector<transition::sidecar_seen> sidecars; ///< of the fleet, this one included
};

/// pins() answers with a reading, or with the reason why there is none.
struct pins_answer {
  std::optional<transition::pin_snapshot> snapshot;
  std::string error;
};

using transition::cancel_result;
using transition::plan_answer;
using transition::start_answer;

/// A request that the API itself turned away; for the log and a counter.
struct refused_request {
  std::string peer;
  std::string method;
  std::string target;
  std::string code; ///< the api_error's
};

/// What became of a reload: everything in the file counts now, or nothing of it does.
struct reload_outcome {
  enum class kind {
    taken,
    invalid,       ///< the file cannot be read, or says what is not allowed
    needs_restart, ///< it changes what cannot change while the sidecar runs
  };
  enum kind kind = kind::taken;
  std::string file;
  std::vector<std::string> changed;  ///< keys that have another value now; empty when nothing was different
  std::vector<std::string> problems; ///< all of them, each with file, line and key where it has one
};

class admin_backend {
 public:
  virtual ~admin_backend() = default;

  virtual transition::wall_time now() const = 0;

  virtual probe_report live() const = 0;    ///< the process does its work; asks no database
  virtual probe_report started() const = 0; ///< it has once been ready
  virtual probe_report ready() const = 0;   ///< clients can be served

  virtual std::string metrics_text() const = 0; ///< Prometheus text format 0.0.4
  virtual std::string config_text() const = 0;  ///< the effective configuration as YAML, secrets redacted
  virtual status_report status() const = 0;

  /// `handler` is called once, now or later.
  virtual void pins(std::function<void(pins_answer)> handler) = 0;

  /// `handler` is called once, now or later. `request.requested_by` is who asks.
  virtual void start_transition(transition::transition_request request,
                                std::function<void(start_answer)> handler) = 0;
  /// The dry run: looks and takes nothing. `handler` is called once, now or later.
  virtual void plan_transition(transition::transition_request request,
                               std::function<void(plan_answer)> handler) = 0;
  /// `peer` is who asks, for log and record.
  virtual cancel_result cancel_transition(const std::string& id, const std::string& peer) = 0;
  virtual std::optional<transition::transition_record> transition(const std::string& id) const = 0;
  virtual std::vector<transition::transition_record> transitions() const = 0; ///< newest first
  virtual std::optional<transition::transition_record> current_transition() const = 0;

  /// `handler` is called once, now or later.
  virtual void sessions(std::function<void(std::vector<session::session_info>)> handler) = 0;
  /// Ends clients as they become idle and takes no new ones; transitions go on. False: under way already.
  virtual bool drain(const std::string& peer) = 0;
  /// Reads the configuration file again. Sessions and a transition that runs go on. `handler` is called once,
  /// now or when every session goes by it.
  virtual void reload(const std::string& peer, std::function<void(reload_outcome)> handler) = 0;

  /// The SQL of `gatectl install`; nothing while the control connection is down.
  virtual std::optional<std::string> install_text(transition::guard_kind guards) const = 0;

  virtual void refused(const refused_request& request) = 0;
};

} // namespace ledgergate::admin
