// What the admin API needs to know and may ask for. The API knows neither libpq nor sessions: the application
// implements this. Everything here is called, and every handler must be called, on the admin thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/admin/catalog_state.hpp"
#include "proxy/transition/pin_snapshot.hpp"
#include "proxy/transition/transition_record.hpp"

namespace ledgergate::admin {

/// The answer to a probe; without reasons it is good.
struct probe_report {
  std::vector<std::string> reasons; ///< why not, one sentence each
};

/// One sidecar of the fleet, as its control session shows in pg_stat_activity.
struct sidecar_seen {
  std::string name; ///< `ledgergate/VERSION@HOST`
  std::optional<transition::wall_time> connected_since;
};

/// GET /v1/status without the transitions, from what is known already: it asks nobody.
struct status_report {
  std::string version; ///< of ledgergate
  transition::wall_time started_at{};

  config::gate_mode gate_mode = config::gate_mode::enforce;
  std::string database;
  std::int64_t lock_key = 0;

  std::optional<std::string> mode;         ///< of the control row; absent: never read, or there is no row
  std::optional<std::string> mode_version; ///< the control row's token for `expect_version`
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
  std::vector<sidecar_seen> sidecars;
};

/// GET /v1/pins.
struct pins_report {
  transition::pin_snapshot snapshot;
  std::map<std::int32_t, std::string>
      sidecar_of_pid; ///< the sidecar a backend is reached through, where it is known
};

/// pins() answers with a report, or with the reason why there is none.
struct pins_answer {
  std::optional<pins_report> report;
  std::string error;
};

/// What became of a request for a transition, before it runs.
struct start_answer {
  enum class kind {
    accepted,            ///< it runs; `record` is its first state
    already_there,       ///< the mode is the target already; `record` says so with `changed` false
    conflict,            ///< another one runs; `conflict_id` is empty when its id is not known
    precondition_failed, ///< `from` or `expect_version` do not match, or there is no control row
    unknown_mode,        ///< `to` or `from` is not a configured mode
    unavailable,         ///< the database cannot be asked; nothing was changed
  };
  enum kind what = kind::unavailable;
  std::optional<transition::transition_record> record;
  std::string conflict_id;
  std::string message;                           ///< why, in one sentence; empty with accepted
  std::optional<transition::server_error> error; ///< the server's words, when a statement failed
};

/// A request that the API itself turned away; for the log and a counter.
struct refused_request {
  std::string peer;
  std::string method;
  std::string target;
  std::string code; ///< the api_error's
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

  /// `handler` is called once, now or later. `peer` is who asks, for the log.
  virtual void start_transition(transition::transition_request request, const std::string& peer,
                                std::function<void(start_answer)> handler) = 0;
  virtual std::optional<transition::transition_record> transition(const std::string& id) const = 0;
  virtual std::vector<transition::transition_record> transitions() const = 0; ///< newest first
  virtual std::optional<transition::transition_record> current_transition() const = 0;

  virtual void refused(const refused_request& request) = 0;
};

} // namespace ledgergate::admin
