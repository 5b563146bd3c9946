// One transition from the request to its outcome: which statement comes when, how long it may wait, what a
// failure means. Pure: told events, appends actions; no connection, clock or randomness of its own. Used from
// one thread.
//
// One attempt is one transaction: BEGIN, control row, applier lock, look, gate lock, guards, steps, change,
// COMMIT. An attempt that leaves the gate's queue rolls the whole transaction back, so that the applier lock
// is free during the back-off: a writer that holds its pin and waits for the applier lock (F8) would
// otherwise never end, and with it the wait.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/transition/idle_holders.hpp"
#include "proxy/transition/record_book.hpp"
#include "proxy/transition/rows.hpp"
#include "proxy/transition/statements.hpp"
#include "proxy/transition/transition_events.hpp"

namespace ledgergate::transition {

class transition_engine {
 public:
  using actions = std::vector<transition_action>;

  /// `request.to` must be one of the settings' modes. `started_at` is `start.now` on the wall clock.
  transition_engine(std::shared_ptr<const config::settings> settings, std::string id,
                    transition_request request, moment start, wall_time started_at);

  /// Once, before the first event.
  void start(moment at, actions& out);
  void handle(const transition_event& what, moment at, actions& out);

  /// The record as of `now`, running clocks included.
  transition_record record(time_point now) const { return book_.snapshot(now); }
  const std::string& id() const { return book_.record().id; }
  bool admitted() const { return admitted_; }
  bool finished() const { return phase_ == phase::done; }
  /// Whether cancel_asked would still have an effect: not once the gate is held.
  bool cancellable() const;

 private:
  /// What runs or is waited for. Up to `backing_off` nothing has been looked at under the gate and a cancel
  /// is possible.
  enum class phase {
    connecting,   ///< for a session
    taking_slot,  ///< the advisory lock that makes it the only transition of this database
    naming_rival, ///< the slot is taken: by whom
    beginning,    ///< BEGIN and the first compare
    taking_applier,
    looking,   ///< at the pins and standbys, before queueing
    quiet,     ///< in the transaction, until the next look
    queueing,  ///< in the gate's queue
    giving_up, ///< ROLLBACK before a back-off
    backing_off,
    checking, ///< the gate is held from here on: the second compare
    guarding,
    stepping,
    changing,
    sealing, ///< constraints and NOTIFY
    committing,
    reconnecting, ///< for a session that can be asked how the commit ended
    asking,       ///< how the commit ended
    asking_again_later,
    ending, ///< ROLLBACK and the slot
    done,
  };

  /// How it will end, kept while `ending` runs.
  struct outcome {
    transition_state state = transition_state::aborted;
    std::optional<abort_reason> reason;
    std::string message;
    std::optional<server_error> error;
  };

  /// Result of the compare-and-set on the control row.
  enum class comparison { fits, already_there, differs };

  // Events.
  void on(const event::connected& what);
  void on(const event::connection_lost& what);
  void on(const event::sql_done& what);
  void on(const event::cancel_done& what);
  void on(const event::timer_fired& what);
  void on(const event::pins_observed& what);
  void on(const event::cancel_asked& what);
  void on(const event::evicted& what);
  void process(const sql_result& result);

  // Waiting for the gate (transition_waiting.cpp).
  void take_slot();
  void slot_answered(const sql_result& result);
  void rival_named(const sql_result& result);
  void begin();
  void began(const sql_result& result);
  void applier_answered(const sql_result& result);
  void look_or_queue();
  void look();
  void looked(const sql_result& result);
  void queue();
  void call_off_if_needed();
  void evict_idle();
  void queue_answered(const sql_result& result);
  void give_up(std::string message);
  void back_off(std::string message);
  void lost_while_waiting(const server_error& error);

  // Holding the gate, and how it ended (transition_holding.cpp).
  void granted();
  void checked(const sql_result& result);
  void next_configured();
  void guard_answered(const sql_result& result);
  void step_answered(const sql_result& result);
  void change();
  void changed(const sql_result& result);
  void sealed(const sql_result& result);
  void rehearsed();
  void book_waiters_of_the_grant();
  void notice_hanging_commit(const pin_snapshot& pins);
  void commit_answered(const sql_result& result);
  void ask_outcome();
  void outcome_answered(const sql_result& result);
  bool hold_continues(const sql_result& result);
  bool hold_budget_left();
  void hold_failed(const server_error& error);
  abort_reason blame() const;

  // Ending.
  void refuse(admission answer);
  void refuse_or_abort(enum admission::kind kind, abort_reason reason, std::string message,
                       std::optional<server_error> error);
  void abort(abort_reason reason, std::string message, std::optional<server_error> error = std::nullopt);
  void abort_by_deadline(std::string message);
  void stop_with(outcome how);
  void end_answered(const sql_result& result);
  void conclude();

  // Helpers.
  void run(phase next, std::string text, std::chrono::milliseconds limit);
  void ask_cancel();
  void wait(phase next, time_point until);
  void enter(transition_state state, std::string message);
  void publish();
  comparison compare(const result_set& set, std::string& message);
  std::chrono::milliseconds remaining() const;
  std::chrono::milliseconds hold_rest() const;
  time_point short_from() const;
  bool time_is_short() const;
  void wait_quietly(std::string message);

  std::shared_ptr<const config::settings> settings_;
  statements statements_;
  record_book book_;
  actions* out_ = nullptr; ///< the caller's list, only during start() and handle()
  time_point now_;
  double jitter_ = 0.5;

  phase phase_ = phase::connecting;
  time_point deadline_;
  time_point admit_by_;
  bool admitted_ = false;
  std::optional<admission> refusal_;
  std::optional<outcome> outcome_;

  bool running_ = false;        ///< a text was sent and has not answered
  bool cancel_pending_ = false; ///< a cancel was sent and has not been confirmed
  std::optional<sql_result>
      held_back_; ///< came while a cancel was under way: nothing may be sent before that is over
  time_point statement_started_;
  std::chrono::milliseconds statement_limit_{0};
  time_point watchdog_;
  std::optional<std::string> cancel_asked_;
  std::optional<attempt_outcome>
      called_off_; ///< why the running attempt is being called off: harm or deadlock

  bool slot_held_ = false;
  bool in_transaction_ = false;
  std::int32_t backend_pid_ = 0;
  std::chrono::milliseconds deadlock_timeout_{1000};
  server_error last_connection_error_;
  std::size_t back_off_count_ = 0;
  std::optional<time_point> last_look_;
  bool standby_missing_ = false; ///< at the last look
  idle_holders idle_;

  time_point hold_until_;
  time_point checked_at_;
  grant_facts grant_facts_;
  std::size_t next_guard_ = 0;
  std::size_t next_step_ = 0;
};

} // namespace ledgergate::transition
