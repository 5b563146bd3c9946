#include "tests/unit/transition/engine_script.hpp"

#include <algorithm>
#include <utility>

namespace ledgergate::transition {

std::shared_ptr<config::settings> script_settings() {
  auto settings = std::make_shared<config::settings>();
  settings->gate.lock_key = 0x4B55444D;
  settings->gate.applier_lock_key = 0x4B55444F;
  settings->control_row.table = "kudos_ledger_control";
  settings->control_row.where = "id = 1";
  settings->modes = {"shadow", "ledger"};
  return settings;
}

transition_request to_ledger() {
  transition_request request;
  request.to = "ledger";
  return request;
}

result_set rows(std::vector<sql_row> all, std::string tag) {
  result_set set;
  set.command_tag = std::move(tag);
  set.column_count = all.empty() ? 1 : all.front().size();
  set.rows = std::move(all);
  return set;
}

sql_result slot(bool free) { return {{rows({{free ? "t" : "f"}})}, std::nullopt, transaction_status::idle}; }

sql_result control(std::string mode, std::string version, bool audited) {
  sql_result result;
  result.sets = {result_set{"BEGIN", 0, {}}, result_set{"SET", 0, {}}, rows({{mode, version, "900"}}),
                 rows({{audited ? "t" : "f"}})};
  result.status = transaction_status::in_transaction;
  return result;
}

sql_result no_control_row() {
  sql_result result = control();
  result.sets[2].rows.clear();
  return result;
}

sql_result done(std::string tag, transaction_status status) {
  sql_result result;
  result.sets = {result_set{"SET", 0, {}}, result_set{std::move(tag), 1, {{""}}}};
  result.status = status;
  return result;
}

sql_result pins(std::vector<sql_row> all, std::string standby_names, std::string standbys) {
  sql_result result;
  result.sets = {result_set{"SET", 0, {}}, rows(std::move(all)),
                 rows({{standby_names, "on", standbys, "0"}})};
  result.status = transaction_status::in_transaction;
  return result;
}

sql_result grant_facts_of(std::string mode, std::string version, std::string waiting, sql_value longest) {
  sql_result result;
  result.sets = {result_set{"SET", 0, {}}, rows({{mode, version, "900"}}), rows({{waiting, longest, "801"}})};
  result.status = transaction_status::in_transaction;
  return result;
}

sql_result guard(sql_value value) {
  sql_result result;
  result.sets = {result_set{"SET", 0, {}}, rows({{value}})};
  result.status = transaction_status::in_transaction;
  return result;
}

sql_result change_of(std::string mode, std::string version, std::string transaction) {
  sql_result result;
  result.sets = {result_set{"SET", 0, {}}, rows({{mode, version, transaction}}, "UPDATE 1")};
  result.status = transaction_status::in_transaction;
  return result;
}

sql_result committed() { return {{result_set{"COMMIT", 0, {}}}, std::nullopt, transaction_status::idle}; }

sql_result failed(std::string sqlstate, std::string message) {
  return {{}, server_error{std::move(sqlstate), std::move(message), {}, {}}, transaction_status::in_error};
}

sql_row pin(std::string pid, std::string age_seconds, bool waits_for_applier) {
  return {"ShareLock", "t",         pid,          std::nullopt,    "1700000000.5",
          "app",       "psql",      "127.0.0.1",  "5000",          "idle in transaction",
          age_seconds, age_seconds, std::nullopt, "INSERT INTO x", waits_for_applier ? "t" : "f"};
}

pin_snapshot seen(std::size_t waiting, elapsed longest) {
  pin_snapshot snapshot;
  snapshot.waiters.resize(waiting);
  for (auto& waiter : snapshot.waiters)
    waiter.wait = longest;
  return snapshot;
}

engine_script::engine_script(transition_request request, std::shared_ptr<const config::settings> settings)
    : engine_(std::move(settings), "0e37df36-f698-11e6-8dd4-cb9ced3df976", std::move(request), at(),
              wall_time(std::chrono::hours(400000))) {
  std::vector<transition_action> actions;
  engine_.start(at(), actions);
  carry_out(actions);
}

void engine_script::send(transition_event what) {
  if (std::holds_alternative<event::cancel_done>(what)) cancel_wanted_ = false;
  std::vector<transition_action> actions;
  engine_.handle(what, at(), actions);
  carry_out(actions);
}

std::chrono::milliseconds engine_script::fire() {
  if (!timer_) {
    ADD_FAILURE() << "no timer is armed";
    return 0ms;
  }
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(*timer_ - now_);
  now_ = std::max(now_, *timer_);
  timer_.reset();
  send(event::timer_fired{});
  return waited;
}

void engine_script::connect(std::chrono::milliseconds deadlock_timeout) {
  EXPECT_TRUE(connection_wanted_) << "nobody asked for a connection";
  connection_wanted_ = drop_wanted_ = false;
  send(event::connected{4711, deadlock_timeout});
}

void engine_script::answer(std::string_view fragment, sql_result result) {
  ASSERT_TRUE(text_) << "no text waits for an answer; wanted: " << fragment;
  ASSERT_NE(text_->find(fragment), std::string::npos) << "wanted: " << fragment << "\nsent: " << *text_;
  text_.reset();
  send(event::sql_done{std::move(result)});
}

void engine_script::lose(std::string sqlstate) {
  text_.reset();
  cancel_wanted_ = false;
  send(event::connection_lost{{std::move(sqlstate), "server closed the connection unexpectedly", {}, {}}});
}

void engine_script::go_to_queue() {
  connect();
  answer("pg_try_advisory_lock", slot());
  answer("BEGIN", control());
  answer("pg_advisory_xact_lock(1263879247", done());
  answer("pg_stat_replication", pins());
}

void engine_script::go_to_hold() {
  answer("pg_advisory_xact_lock(1263879245", done());
  answer("pg_current_xact_id", grant_facts_of());
}

void engine_script::finish_from_change() {
  answer("UPDATE", change_of());
  finish_from_seal();
}

void engine_script::finish_from_seal() {
  answer("SET CONSTRAINTS", done("SET"));
  answer("COMMIT", committed());
  answer("pg_advisory_unlock", slot());
}

void engine_script::carry_out(const std::vector<transition_action>& actions) {
  for (const auto& wanted : actions) {
    EXPECT_FALSE(finished_) << "an action after finish";
    if (const auto* run = std::get_if<action::run_sql>(&wanted)) {
      EXPECT_FALSE(text_) << "two texts at once: " << *text_ << "\nand " << run->text;
      EXPECT_FALSE(cancel_wanted_) << "a text while a cancel is on its way: " << run->text;
      text_ = run->text;
    } else if (std::holds_alternative<action::cancel_statement>(wanted)) {
      EXPECT_TRUE(text_) << "a cancel with nothing to cancel";
      cancel_wanted_ = true;
    } else if (const auto* evict = std::get_if<action::evict_idle>(&wanted)) {
      evictions_.push_back(*evict);
    } else if (std::holds_alternative<action::drop_connection>(wanted)) {
      drop_wanted_ = true;
    } else if (std::holds_alternative<action::need_connection>(wanted)) {
      connection_wanted_ = true;
    } else if (const auto* arm = std::get_if<action::arm_timer>(&wanted)) {
      timer_ = arm->at;
    } else if (const auto* admit = std::get_if<action::admit>(&wanted)) {
      EXPECT_FALSE(admission_) << "admitted twice";
      admission_ = admit->answer;
    } else if (std::holds_alternative<action::publish>(wanted)) {
      if (states_.empty() || states_.back() != state()) states_.push_back(state());
    } else {
      finished_ = true;
    }
  }
}

} // namespace ledgergate::transition
