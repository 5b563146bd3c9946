#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/live.hpp"
#include "tests/unit/config/sample.hpp"

namespace ledgergate::config {
namespace {

using test::loaded;
using test::sample;
using test::with;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> keys_of(const std::vector<changed_key>& changed, bool live) {
  std::vector<std::string> keys;
  for (const changed_key& each : changed) {
    if (each.is_live() == live) keys.emplace_back(each.key);
  }
  return keys;
}

TEST(Live, TheSameFileChangesNothing) {
  EXPECT_THAT(changed_keys(loaded(sample), loaded(sample)), IsEmpty());
}

TEST(Live, AValueThatIsWrittenOutAndWasTheDefaultIsNoChange) {
  EXPECT_THAT(changed_keys(loaded(sample), loaded(sample + "log: { level: info }\n")), IsEmpty());
}

TEST(Live, RulesTransitionsLimitsDrainAndLogChangeLive) {
  settings wanted = loaded(sample + R"yaml(
transitions: { deadline: 1m, queue_budget: 1s, hold_budget: 1s, applier_timeout: 1s, max_waiting_pins: 5,
               evict_idle_after: 1m, guards: { ledger: ["select true"] }, steps: { ledger: ["select 1"] }, notify: n }
limits: { max_clients: 5, client_startup_timeout: 1s, max_buffered_statement: 1MiB }
drain: { timeout: 1s, accept_for: 1s }
log: { level: warn, format: json, statements: none }
)yaml");
  wanted.upstream.connect_timeout = 1s;
  wanted.modes.emplace_back("third");
  wanted.gate.mode = gate_mode::observe;
  wanted.gate.pin_before_locks = {1};
  wanted.gate.tables.emplace_back().name = "more";
  wanted.gate.functions = {"post"};
  wanted.gate.catalog.refresh = 1min;
  wanted.gate.in_band_transitions = in_band_policy::deny;
  const auto changed = changed_keys(loaded(sample), wanted);
  EXPECT_THAT(keys_of(changed, false), IsEmpty());
  EXPECT_THAT(keys_of(changed, true),
              ElementsAre("upstream.connect_timeout", "gate.mode", "gate.pin_before_locks", "gate.tables",
                          "gate.functions", "gate.catalog", "gate.in_band_transitions", "modes",
                          "transitions.deadline", "transitions.queue_budget", "transitions.hold_budget",
                          "transitions.applier_timeout", "transitions.max_waiting_pins",
                          "transitions.evict_idle_after", "transitions.guards", "transitions.steps",
                          "transitions.notify", "limits.max_clients", "limits.client_startup_timeout",
                          "limits.max_buffered_statement", "drain.timeout", "drain.accept_for", "log.level",
                          "log.format", "log.statements"));
}

TEST(Live, PortsServerKeysAndThreadsNeedARestart) {
  settings wanted = loaded(sample);
  wanted.listen[0].address.port = 1;
  wanted.upstream.hosts[0].port = 1;
  wanted.control.dsn += " password=hush";
  wanted.gate.database = "other";
  wanted.gate.lock_key = 1;
  wanted.gate.applier_lock_key = 2;
  wanted.control_row.where = "id = 2";
  wanted.admin.address.port = 1;
  wanted.admin.tls.mode = server_tls_mode::require;
  wanted.admin.token_file = "t";
  wanted.admin.viewer_token_file = "v";
  wanted.limits.threads = 3;
  const auto changed = changed_keys(loaded(sample), wanted);
  EXPECT_THAT(keys_of(changed, true), IsEmpty());
  EXPECT_THAT(keys_of(changed, false),
              ElementsAre("listen", "upstream.host", "control.dsn", "gate.database", "gate.lock_key",
                          "gate.applier_lock_key", "control_row", "admin.address", "admin.tls", "admin.token_file",
                          "admin.viewer_token_file", "limits.threads"));
  for (const changed_key& each : changed) {
    EXPECT_THAT(refusal(each), HasSubstr(std::string(each.key) + ": cannot change while the sidecar runs"));
    EXPECT_THAT(refusal(each), testing::Not(HasSubstr("hush")));
  }
}

TEST(Live, TheGateIsNotSwitchedOffOrOnLive) {
  const settings on = loaded(sample);
  settings off = on;
  off.gate.mode = gate_mode::off;
  EXPECT_THAT(keys_of(changed_keys(on, off), false), ElementsAre("gate.mode"));
  EXPECT_THAT(keys_of(changed_keys(off, on), false), ElementsAre("gate.mode"));
  EXPECT_THAT(keys_of(changed_keys(off, on), true), IsEmpty());
}

} // namespace
} // namespace ledgergate::config
