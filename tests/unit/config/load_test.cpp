#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/sample.hpp"

namespace ledgergate::config {
namespace {

using namespace std::chrono_literals;
using test::loaded;
using test::sample;
using test::with;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Load, TakesEveryDefaultWhenOnlyTheRequiredIsGiven) {
  const settings value = loaded(sample);
  ASSERT_EQ(value.listen.size(), 1U);
  EXPECT_EQ(value.listen[0].address, (endpoint{"127.0.0.1", 6432, {}}));
  EXPECT_THAT(value.upstream.hosts, ElementsAre(endpoint{"127.0.0.1", 5432, {}}));
  EXPECT_EQ(value.upstream.connect_timeout, 5s);
  EXPECT_EQ(value.gate.mode, gate_mode::enforce);
  EXPECT_EQ(value.gate.database, "horde") << "the default is the database of control.dsn";
  EXPECT_EQ(value.gate.lock_key, 0x4B55444D);
  EXPECT_EQ(value.gate.applier_lock_key, std::nullopt);
  EXPECT_THAT(value.gate.tables, ElementsAre(table_rule{"", "kudos_ledger", pin_on::any, {}}));
  EXPECT_EQ(value.control_row.mode_column, "mode");
  EXPECT_EQ(value.control_row.changed_at_column, std::nullopt);
  EXPECT_THAT(value.modes, ElementsAre("shadow", "ledger"));
  EXPECT_EQ(value.transitions.deadline, 30s);
  EXPECT_EQ(value.transitions.notify, std::nullopt);
  EXPECT_EQ(value.admin.address, (endpoint{"127.0.0.1", 6433, {}}));
  EXPECT_EQ(value.admin.token_file, std::nullopt);
  EXPECT_EQ(value.limits.threads, std::nullopt);
  EXPECT_EQ(value.limits.max_buffered_statement_bytes, 16U << 20);
  EXPECT_EQ(value.drain.timeout, 30s);
  EXPECT_EQ(value.log.statements, log_statements::redacted);
}

TEST(Load, ReadsEveryKey) {
  const settings value = loaded(R"yaml(
listen:
  - address: 0.0.0.0:6432
  - { address: "unix:/run/gate", port: 6000 }
  - address: unix:/run/other
upstream: { host: "db1,unix:/run/pg", port: 5433, connect_timeout: 100ms }
control: { dsn: "postgresql://op@db1/bank" }
gate:
  mode: observe
  database: Bank
  lock_key: "0x2A"
  applier_lock_key: -43
  pin_before_locks: [0x4B554452, 7]
  tables:
    - { name: Public.Users, pin_on: write, columns: [Kudos, '"Eval"'] }
    - { name: '"Postings"', pin_on: lock }
  functions: [post, Ledger.Fold]
  catalog: { closure: false, refresh: 2m, on_error: names_only }
  in_band_transitions: deny
control_row: { table: ledger.control, where: id = 1, mode_column: m, changed_at_column: c }
modes: [a, b, "3"]
transitions:
  deadline: 10m
  queue_budget: 10ms
  hold_budget: 60s
  applier_timeout: 5m
  max_waiting_pins: 1000000
  evict_idle_after: 1h
  guards: { a: ["select true", "select 1 = 1"], b: [] }
  steps: { b: ["select fold()"] }
  notify: Ledger_Mode
admin: { address: "unix:/run/admin.sock", token_file: /run/token, viewer_token_file: /run/view }
limits: { max_clients: 100000, client_startup_timeout: 5m, max_buffered_statement: 1GiB, threads: 256 }
drain: { timeout: 0s }
log: { level: trace, format: json, statements: full }
)yaml");
  ASSERT_EQ(value.listen.size(), 3U);
  EXPECT_EQ(value.listen[1].address, (endpoint{"", 6000, "/run/gate"}));
  EXPECT_EQ(value.listen[2].address, (endpoint{"", 5432, "/run/other"}));
  EXPECT_THAT(value.upstream.hosts, ElementsAre(endpoint{"db1", 5433, {}}, endpoint{"", 5433, "/run/pg"}));
  EXPECT_EQ(value.upstream.connect_timeout, 100ms);
  EXPECT_EQ(value.control.dsn, "postgresql://op@db1/bank");
  EXPECT_EQ(value.gate.mode, gate_mode::observe);
  EXPECT_EQ(value.gate.database, "Bank") << "a database is named as it is, not folded";
  EXPECT_EQ(value.gate.lock_key, 42);
  EXPECT_EQ(value.gate.applier_lock_key, -43);
  EXPECT_THAT(value.gate.pin_before_locks, ElementsAre(0x4B554452, 7));
  EXPECT_THAT(value.gate.tables, ElementsAre(table_rule{"public", "users", pin_on::write, {"kudos", "Eval"}},
                                             table_rule{"", "Postings", pin_on::lock, {}}));
  EXPECT_THAT(value.gate.functions, ElementsAre("post", "ledger.fold"));
  EXPECT_FALSE(value.gate.catalog.closure);
  EXPECT_EQ(value.gate.catalog.refresh, 2min);
  EXPECT_EQ(value.gate.catalog.on_error, catalog_on_error::names_only);
  EXPECT_EQ(value.gate.in_band_transitions, in_band_policy::deny);
  EXPECT_EQ(value.control_row.table, "ledger.control");
  EXPECT_EQ(value.control_row.where, "id = 1");
  EXPECT_EQ(value.control_row.mode_column, "m");
  EXPECT_EQ(value.control_row.changed_at_column, "c");
  EXPECT_THAT(value.modes, ElementsAre("a", "b", "3"));
  EXPECT_EQ(value.transitions.deadline, 10min);
  EXPECT_EQ(value.transitions.queue_budget, 10ms);
  EXPECT_EQ(value.transitions.hold_budget, 60s);
  EXPECT_EQ(value.transitions.applier_timeout, 5min);
  EXPECT_EQ(value.transitions.max_waiting_pins, 1'000'000U);
  EXPECT_EQ(value.transitions.evict_idle_after, 1h);
  EXPECT_THAT(value.transitions.guards.at("a"), ElementsAre("select true", "select 1 = 1"));
  EXPECT_THAT(value.transitions.guards.at("b"), IsEmpty());
  EXPECT_THAT(value.transitions.steps.at("b"), ElementsAre("select fold()"));
  EXPECT_EQ(value.transitions.notify, "ledger_mode");
  EXPECT_EQ(value.admin.address, (endpoint{"", 0, "/run/admin.sock"}));
  EXPECT_EQ(value.admin.token_file, "/run/token");
  EXPECT_EQ(value.admin.viewer_token_file, "/run/view");
  EXPECT_EQ(value.limits.max_clients, 100'000U);
  EXPECT_EQ(value.limits.client_startup_timeout, 5min);
  EXPECT_EQ(value.limits.max_buffered_statement_bytes, 1U << 30);
  EXPECT_EQ(value.limits.threads, 256U);
  EXPECT_EQ(value.drain.timeout, 0s);
  EXPECT_EQ(value.log.level, log_level::trace);
  EXPECT_EQ(value.log.format, log_format::json);
  EXPECT_EQ(value.log.statements, log_statements::full);
}

TEST(Load, TakesNullForAnOptionalKeyAsLeftOut) {
  const settings value =
      loaded(with(sample, "  lock_key: 0x4B55444D\n", "  lock_key: 1\n  applier_lock_key: null\n") +
             "admin: { token_file: null }\ntransitions: { notify: ~ }\n");
  EXPECT_EQ(value.gate.applier_lock_key, std::nullopt);
  EXPECT_EQ(value.admin.token_file, std::nullopt);
  EXPECT_EQ(value.transitions.notify, std::nullopt);
}

TEST(Load, OfAPlainRelayNeedsNeitherControlNorControlRow) {
  const settings value =
      loaded("listen: [{address: \"127.0.0.1:1\"}]\nupstream: {host: h}\ngate: {mode: off}\n");
  EXPECT_EQ(value.gate.mode, gate_mode::off);
  EXPECT_EQ(value.control.dsn, "");
}

TEST(Load, AcceptsAGateWithTheControlRowAlone) {
  EXPECT_THAT(loaded(with(sample, "  tables:\n    - name: kudos_ledger\n", "")).gate.tables, IsEmpty());
}

TEST(Load, AcceptsTheControlTableAsAGatedTableToo) {
  EXPECT_EQ(loaded(with(sample, "name: kudos_ledger\n", "name: kudos_ledger_control\n")).gate.tables.size(),
            1U);
}

TEST(Load, RemembersWhichKeysWereGiven) {
  const settings value = loaded(sample);
  EXPECT_TRUE(value.given.contains("gate.lock_key"));
  EXPECT_TRUE(value.given.contains("gate.tables[0].name"));
  EXPECT_FALSE(value.given.contains("gate.database"));
  EXPECT_FALSE(value.given.contains("transitions"));
}

TEST(Load, OfAFileThatCannotBeReadNamesItAndTheReason) {
  const auto missing = load_file("/nonexistent/gate.yaml");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(to_string(missing.error()),
            "/nonexistent/gate.yaml: cannot be read: No such file or directory\n");
  const auto folder = load_file("/");
  ASSERT_FALSE(folder.has_value());
  EXPECT_EQ(to_string(folder.error()), "/: cannot be read: Is a directory\n");
  const auto endless = load_file("/dev/zero");
  ASSERT_FALSE(endless.has_value());
  EXPECT_EQ(to_string(endless.error()), "/dev/zero: is too large; must be at most 1 MiB\n");
}

} // namespace
} // namespace ledgergate::config
