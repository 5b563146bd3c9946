// The control plane of one sidecar: its two connections to the gated database, the pin watch and the
// transitions. Used by the admin port. Everything here, and every handler it calls, runs on the main
// io_context's only thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "config/settings.hpp"
#include "proxy/catalog/closure.hpp"
#include "proxy/transition/answers.hpp"
#include "proxy/transition/fleet.hpp"
#include "proxy/transition/install_text.hpp"
#include "proxy/transition/pin_snapshot.hpp"
#include "proxy/transition/plan.hpp"

namespace ledgergate::control {

using transition::cancel_result;
using transition::plan_answer;
using transition::start_answer;

/// What the control plane knows without asking. Cheap; taken from the last reading of the watch connection.
struct control_status {
  bool connected = false;             ///< both connections are up: a transition could start now
  bool watching = false;              ///< the watch connection is up: the readings are fresh
  std::optional<std::string> mode;    ///< absent: never read, or no control row
  std::optional<std::string> version; ///< version token for `expect_version`
  std::optional<transition::wall_time>
      mode_since; ///< by the control row's changed_at column; absent: not known
  std::size_t pins_held = 0;
  std::size_t pins_waiting = 0;
  std::optional<transition::elapsed> oldest_pin_age;
  std::optional<transition::wall_time> observed_at; ///< when mode and pins were read; absent: never
  std::string last_error;                 ///< why it is not connected or cannot read; empty when all is well
  bool deadlock_takes_transition = false; ///< the role may shorten deadlock_timeout (F30, F31)
  std::string database;                   ///< the database it is connected to; empty before the first connect
  std::string own_name;                   ///< this sidecar's name in the fleet, `ledgergate/VERSION@HOST`
  std::vector<transition::sidecar_seen> sidecars; ///< of the fleet, this one included; read now and then
};

/// The answer to pins(): a reading at most half a second old, or why there is none.
struct pins_answer {
  std::optional<transition::pin_snapshot> snapshot;
  std::string error; ///< set when `snapshot` is absent
};

/// The control row as a transaction at REPEATABLE READ needs it (F3): proves with
/// `pg_catalog.pg_visible_in_snapshot(xmin, ..)` that no transition committed after its snapshot.
struct control_row_answer {
  std::optional<std::string> mode;   ///< absent: no such row, or an error
  std::optional<std::uint64_t> xmin; ///< the row's xmin as xid8
  std::string error;                 ///< set when the row could not be read
};

/// What is known of the system catalogs.
struct catalog_status {
  bool enabled = false;                         ///< gate.catalog.closure, and the gate is not off
  std::uint64_t generation = 0;                 ///< counts the closures that were published; 0: none was yet
  std::optional<std::chrono::milliseconds> age; ///< since it was last known to be current; absent: never
  std::string last_error;                       ///< of the last attempt; empty when it succeeded
  std::uint64_t failures = 0;                   ///< attempts that failed, since the start
  std::shared_ptr<const catalog::catalog_report> report; ///< null before the first reading
};

class control_service {
 public:
  /// `settings` is kept; a later reload() replaces it for transitions that start afterwards.
  /// `kept`: the kinds of links that the catalog closure is made of.
  control_service(boost::asio::io_context& io, std::shared_ptr<const config::settings> settings,
                  catalog::link_switch kept = {});
  ~control_service();
  control_service(const control_service&) = delete;
  control_service& operator=(const control_service&) = delete;

  /// Connects and keeps connected until stop().
  void start();
  /// Aborts a transition that waits, lets one that holds the gate finish, then closes the connections and
  /// calls `done`. Not to be destroyed before that.
  void stop(std::function<void()> done);
  void reload(std::shared_ptr<const config::settings> settings);

  /// Asks for a transition. `handler` is called once, later, on the main thread, never from inside this call.
  void start_transition(transition::transition_request request, std::function<void(start_answer)> handler);
  /// The dry run: looks, takes nothing. `context` says what only the application knows (its version, its
  /// clients' backends, whether it drains). `handler` is called once, now or later.
  void plan(transition::transition_request request, transition::plan_context context,
            std::function<void(plan_answer)> handler);
  /// Cancels it while it waits. `who` is for the record.
  cancel_result cancel(const std::string& id, const std::string& who);

  std::optional<transition::transition_record> get(const std::string& id) const;
  /// History of this process, newest first, bounded.
  std::vector<transition::transition_record> list() const;
  /// The transition that runs now, if any.
  std::optional<transition::transition_record> current() const;
  /// Called after every change of a record (progress, end). One observer; for events, metrics and the log.
  void on_change(std::function<void(const transition::transition_record&)> observer);

  /// The SQL of `gatectl install`; nothing while the control role is not known.
  std::optional<std::string> install_text(transition::guard_kind guards) const;

  control_status status() const;
  void pins(std::function<void(pins_answer)> handler);
  void read_control_row(std::function<void(control_row_answer)> handler);

  catalog_status catalog() const;
  /// Takes every new closure and hands the rules to the sessions. It calls `in_force` once, on the main
  /// thread and not before it returns, when they are in force for all of them: until then nobody is told that
  /// the closure is current.
  using catalog_observer = std::function<void(std::shared_ptr<const catalog::catalog_report> report,
                                              std::function<void()> in_force)>;
  /// One observer.
  void on_catalog(catalog_observer observer);
  /// Reads the catalogs now. `handler` is called once: whether the closure in force is no older than the
  /// call, or false because it cannot be read, or not within `patience`.
  void refresh_catalog(std::chrono::milliseconds patience, std::function<void(bool current)> handler);

 private:
  class implementation;
  std::unique_ptr<implementation> implementation_;
};

} // namespace ledgergate::control
