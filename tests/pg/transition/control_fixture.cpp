#include "tests/pg/transition/control_fixture.hpp"

#include <utility>

namespace ledgergate::control {

namespace {

constexpr auto patience = 30s;

} // namespace

control_test::control_test() {
  settings->control.dsn = test_server::dsn("gate_operator");
  settings->gate.database = "horde";
  settings->gate.lock_key = 0x4B55444D;
  settings->gate.applier_lock_key = 0x4B55444F;
  settings->control_row.table = "kudos_ledger_control";
  settings->control_row.where = "id = 1";
  settings->control_row.changed_at_column = "changed_at";
  settings->modes = {"shadow", "ledger"};
  settings->log.level = config::log_level::warn;
}

void control_test::turn_until(const std::string& what, const std::function<bool()>& wanted) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!wanted()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "waited in vain for " << what;
    io.restart();
    io.run_one_for(5ms);
  }
}

std::unique_ptr<control_service> control_test::connected_service() {
  auto made = std::make_unique<control_service>(io, settings);
  made->start();
  turn_until("the control connections", [&] { return made->status().connected && made->status().mode; });
  return made;
}

start_answer control_test::start(control_service& with, transition_request request) {
  std::optional<start_answer> answer;
  with.start_transition(std::move(request), [&](start_answer given) { answer = std::move(given); });
  EXPECT_FALSE(answer) << "answered from inside the call";
  turn_until("the answer to the request", [&] { return answer.has_value(); });
  return answer.value_or(start_answer{});
}

std::string control_test::begin(transition_request request) {
  const auto answer = start(std::move(request));
  EXPECT_EQ(answer.kind, start_answer::kind::accepted) << answer.message;
  return answer.record ? answer.record->id : std::string();
}

void control_test::wait_for(const std::string& id, transition_state state) {
  turn_until(std::string("the state ") + std::string(to_string(state)),
             [&] { return record(id).state == state; });
}

void control_test::wait_for_queue(const std::string& id) {
  wait_for(id, transition_state::queued);
  turn_until("the transition in the server's queue", [&] {
    return administrator.value(
               "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' "
               "AND objid = 1263879245 AND objsubid = 1 AND NOT granted") == "1";
  });
}

transition_record control_test::ended(const std::string& id) {
  turn_until("the end of the transition", [&] { return record(id).is_final() && !service->current(); });
  return record(id);
}

void control_test::expect_writers_are_free() {
  turn_until("the gate to be free of transitions", [&] {
    return administrator.value(
               "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' "
               "AND objid = 1263879245 AND objsubid = 1") == "0";
  });
  pg_client writer;
  EXPECT_EQ(writer.sqlstate("SET lock_timeout = '5s'"), "");
  EXPECT_EQ(writer.sqlstate(pin_key), "");
}

void control_test::expect_granted(pg_client& client) {
  turn_until("the client's lock", [&] { return client.answered(); });
  EXPECT_EQ(client.answer(), "");
}

void control_test::ask_for_standby(const std::string& name) {
  administrator.run("ALTER SYSTEM SET synchronous_standby_names = '" + name + "'");
  administrator.run("SELECT pg_reload_conf()");
  turn_until("the setting", [&] {
    return administrator.value("SELECT current_setting('synchronous_standby_names')") == name;
  });
}

transition_request control_test::to(const std::string& mode) {
  transition_request request;
  request.to = mode;
  return request;
}

} // namespace ledgergate::control
