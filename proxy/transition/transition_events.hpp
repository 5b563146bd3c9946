// What the transition engine is told and what it wants done: its whole vocabulary, as values.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>

#include "proxy/transition/pin_snapshot.hpp"
#include "proxy/transition/record_book.hpp"
#include "proxy/transition/sql_result.hpp"

namespace ledgergate::transition {

/// Passed in with every event: the engine has no clock and no randomness of its own.
struct moment {
  time_point now;
  double jitter = 0.5; ///< uniform in [0, 1); spreads the back-off of sidecars that compete
};

/// The answer to the request itself, given once, before anything is waited for.
struct admission {
  enum class kind {
    accepted,
    already_there,       ///< the mode is `to`: idempotent success, nothing changed
    repeated,            ///< the same request was accepted before; `conflict_id` is its transition
    request_id_reused,   ///< another request was accepted before under the same request_id
    conflict,            ///< another sidecar's transition runs
    precondition_failed, ///< `from`, `expect_version` or the control row itself do not fit
    unavailable,         ///< the database cannot be asked
  };
  enum kind kind = kind::unavailable;
  std::string conflict_id;
  std::string message;
  std::optional<server_error> error;
};

namespace event {

/// The control session is up, idle, and has run nothing yet. Answers action::need_connection.
struct connected {
  std::int32_t backend_pid = 0;
  /// What the server's other sessions have: a lock wait of ours that ends earlier never makes a writer the
  /// victim.
  std::chrono::milliseconds deadlock_timeout{1000};
};
/// The control session is gone, whatever ran on it. `error` is the server's last word, else 08006.
struct connection_lost {
  server_error error;
};
/// Answers action::run_sql.
struct sql_done {
  sql_result result;
};
/// Answers action::cancel_statement: the signal was delivered (the statement may have ended before it came).
struct cancel_done {};
/// The moment of action::arm_timer has come.
struct timer_fired {};
/// A reading of the lock table from the other connection.
struct pins_observed {
  pin_snapshot pins;
};
/// Somebody wants it to end. `why` becomes the record's message.
struct cancel_asked {
  std::string why;
};
/// Answers action::evict_idle: what became of the holder, as eviction::outcome.
struct evicted {
  gate_lock holder;
  std::string outcome;
};

} // namespace event

using transition_event =
    std::variant<event::connected, event::connection_lost, event::sql_done, event::cancel_done,
                 event::timer_fired, event::pins_observed, event::cancel_asked, event::evicted>;

namespace action {

/// Send this text, answer with sql_done or connection_lost. Never while another text runs.
struct run_sql {
  std::string text;
};
/// Make the server cancel the text that runs; answer with cancel_done, or drop the connection if that is
/// impossible.
struct cancel_statement {};
/// End this idle holder of the gate from the other connection; answer with evicted, some time.
struct evict_idle {
  gate_lock holder;
  std::string text; ///< one row that is true when it was told to end; no row when it is gone or busy
};
/// Close the connection now (the server stopped answering); answer with connection_lost.
struct drop_connection {
  std::string why;
};
/// Answer with connected as soon as the session is ready, at once when it is.
struct need_connection {};
/// Replaces the timer armed before.
struct arm_timer {
  time_point at;
};
/// Tell whoever asked for the transition.
struct admit {
  admission answer;
};
/// The record changed: show it.
struct publish {};
/// Nothing more will come; the connection is idle or gone.
struct finish {};

} // namespace action

using transition_action =
    std::variant<action::run_sql, action::cancel_statement, action::evict_idle, action::drop_connection,
                 action::need_connection, action::arm_timer, action::admit, action::publish, action::finish>;

} // namespace ledgergate::transition
