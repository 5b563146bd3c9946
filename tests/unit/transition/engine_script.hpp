// Plays database, clock and operator against the transition engine: each answer() says which text must be
// waiting for it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "proxy/transition/transition_engine.hpp"

namespace ledgergate::transition {

using namespace std::chrono_literals;

/// Settings in the manner of the quickstart: both keys, two modes, nothing optional.
std::shared_ptr<config::settings> script_settings();
/// To `ledger`, nothing else said.
transition_request to_ledger();

/// A set with columns. `tag` is the command tag.
result_set rows(std::vector<sql_row> rows, std::string tag = "SELECT");
/// What the texts of a transition get back when all is well.
sql_result slot(bool free = true);
sql_result control(std::string mode = "shadow", std::string version = "700", bool audited = false);
sql_result no_control_row();
sql_result done(std::string tag = "SELECT 1", transaction_status status = transaction_status::in_transaction);
sql_result pins(std::vector<sql_row> rows = {}, std::string standby_names = "", std::string standbys = "0");
sql_result grant_facts_of(std::string mode = "shadow", std::string version = "700", std::string waiting = "0",
                          sql_value longest = std::nullopt);
sql_result guard(sql_value value);
sql_result change_of(std::string mode = "ledger", std::string version = "801",
                     std::string transaction = "801");
sql_result committed();
sql_result failed(std::string sqlstate, std::string message = "as asked for");
/// A row of statements::read_pins().
sql_row pin(std::string pid, std::string age_seconds, bool waits_for_applier = false);
/// What the watch connection saw: `waiting` pins that wait, the longest for `longest`.
pin_snapshot seen(std::size_t waiting, elapsed longest = 0us);

class engine_script {
 public:
  explicit engine_script(transition_request request = to_ledger(),
                         std::shared_ptr<const config::settings> settings = script_settings());

  /// Lets time pass without anything happening.
  void pass(std::chrono::milliseconds time) { now_ += time; }
  /// Jumps to the armed timer and fires it. Returns how long that was.
  std::chrono::milliseconds fire();
  void connect(std::chrono::milliseconds deadlock_timeout = 1000ms);
  /// The waiting text must contain `fragment`; answers it.
  void answer(std::string_view fragment, sql_result result);
  void send(transition_event what);
  void lose(std::string sqlstate = "08006");

  /// From the start until the text that queues for the gate is waiting for its answer.
  void go_to_queue();
  /// From there until the text that follows the second compare is waiting.
  void go_to_hold();
  /// From the text behind the change to the end.
  void finish_from_seal();
  /// From the change of the control row to the end.
  void finish_from_change();

  transition_record record() const { return engine_.record(now_); }
  transition_state state() const { return record().state; }
  transition_engine& engine() { return engine_; }
  const std::optional<std::string>& waiting_text() const { return text_; }
  const std::optional<admission>& admitted() const { return admission_; }
  const std::vector<action::evict_idle>& evictions() const { return evictions_; }
  bool cancel_wanted() const { return cancel_wanted_; }
  bool connection_wanted() const { return connection_wanted_; }
  bool drop_wanted() const { return drop_wanted_; }
  bool finished() const { return finished_; }
  void set_jitter(double jitter) { jitter_ = jitter; }
  const std::vector<transition_state>& states() const { return states_; }
  std::chrono::milliseconds elapsed_time() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(now_ - started_);
  }

 private:
  void carry_out(const std::vector<transition_action>& actions);
  moment at() const { return {now_, jitter_}; }

  time_point started_{time_point::duration{std::chrono::hours(1)}};
  time_point now_ = started_;
  double jitter_ = 0.5;
  transition_engine engine_;
  std::optional<std::string> text_;
  std::optional<time_point> timer_;
  std::optional<admission> admission_;
  std::vector<transition_state> states_; ///< as published, without repetitions
  std::vector<action::evict_idle> evictions_;
  bool cancel_wanted_ = false;
  bool connection_wanted_ = false;
  bool drop_wanted_ = false;
  bool finished_ = false;
};

} // namespace ledgergate::transition
