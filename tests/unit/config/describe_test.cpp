#include "config/describe.hpp"

#include <gtest/gtest.h>

#include "tests/unit/config/sample.hpp"

namespace ledgergate::config {
namespace {

using test::loaded;
using test::sample;
using test::with;

std::string without_marks(std::string text) {
  constexpr std::string_view mark = "  # default";
  for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark))
    text.erase(at, mark.size());
  return text;
}

TEST(Describe, ShowsEveryKeyAndMarksEachDefault) {
  EXPECT_EQ(describe(loaded(sample)), R"(listen:
  - address: "127.0.0.1:6432"
    tls:
      mode: off  # default
upstream:
  host: "127.0.0.1"
  port: 5432  # default
  tls:
    mode: off  # default
  connect_timeout: 5s  # default
control:
  dsn: "host=127.0.0.1 dbname=horde user=operator"
gate:
  mode: enforce  # default
  database: "horde"  # default
  lock_key: 0x4B55444D
  applier_lock_key: null  # default
  pin_before_locks: []  # default
  tables:
    - name: "kudos_ledger"
      pin_on: any  # default
  functions: []  # default
  catalog:
    closure: true  # default
    refresh: 30s  # default
    on_error: closed  # default
  in_band_transitions: exclusive  # default
control_row:
  table: "kudos_ledger_control"
  where: "id = 1"
  mode_column: "mode"  # default
  changed_at_column: null  # default
modes: ["shadow", "ledger"]
transitions:
  deadline: 30s  # default
  queue_budget: 500ms  # default
  hold_budget: 5s  # default
  applier_timeout: 10s  # default
  max_waiting_pins: 1000  # default
  evict_idle_after: off  # default
  guards: {}  # default
  steps: {}  # default
  notify: null  # default
admin:
  address: "127.0.0.1:6433"  # default
  tls:
    mode: off  # default
  token_file: null  # default
  viewer_token_file: null  # default
limits:
  max_clients: 1000  # default
  client_startup_timeout: 10s  # default
  max_buffered_statement: 16MiB  # default
  threads: auto  # default
drain:
  timeout: 30s  # default
  accept_for: 0s  # default
log:
  level: info  # default
  format: text  # default
  statements: redacted  # default
)");
}

TEST(Describe, DoesNotMarkAKeyThatWasGivenItsDefault) {
  const std::string text = describe(loaded(sample + "transitions: { deadline: 30s }\n"));
  EXPECT_NE(text.find("  deadline: 30s\n"), std::string::npos) << text;
}

TEST(Describe, IsReadBackAsTheSameSettings) {
  const std::vector<std::pair<const char*, std::string>> cases{
      {"the defaults", sample},
      {"a plain relay", "listen: [{address: \"127.0.0.1:1\"}]\nupstream: {host: h}\ngate: {mode: off}\n"},
      {"a key of a plain relay",
       "listen: [{address: \"[::1]:1\"}]\nupstream: {host: h}\ngate: {mode: off, lock_key: 0}\n"},
      {"names that need quotes", R"(
listen: [{ address: "unix:/run/a b", port: 6000 }, { address: "unix:/run/c" }]
upstream: { host: "db1,::1,unix:/run/pg", port: 5433 }
control: { dsn: "host=h dbname='it\\'s'" }
gate:
  mode: observe
  lock_key: -1
  applier_lock_key: 0
  pin_before_locks: [-5, 0x10]
  tables: [{ name: '"A ""b"""."C.d"', pin_on: write, columns: ['"E f"', g] }, { name: s.t, pin_on: lock }]
  functions: ['"My Schema"."Fn"', f]
control_row: { table: '"S"."T"', where: "note = 'a \"b\" \\ c'\n  and id = 1\t", changed_at_column: '"At"' }
modes: ["true", "two words", "3"]
transitions:
  guards: { "true": ["select true", "select 1\n= 1"] }
  steps: { "3": ["select 'x'"], "two words": [] }
  notify: '"Channel"'
  evict_idle_after: 90s
admin: { address: "unix:/run/admin.sock", token_file: "/run/my token", viewer_token_file: "/run/view" }
limits: { threads: 4, max_buffered_statement: 65537B }
drain: { timeout: 0s }
)"},
  };
  for (const auto& [name, text] : cases) {
    SCOPED_TRACE(name);
    const settings first = loaded(text);
    const std::string shown = describe(first);
    const settings second = loaded(shown);
    EXPECT_EQ(describe(second), without_marks(shown));
    EXPECT_EQ(second.gate.tables, first.gate.tables);
    EXPECT_EQ(second.gate.functions, first.gate.functions);
    EXPECT_EQ(second.control_row.where, first.control_row.where);
    EXPECT_EQ(second.modes, first.modes);
    EXPECT_EQ(second.transitions.guards, first.transitions.guards);
    EXPECT_EQ(second.control.dsn, first.control.dsn);
  }
}

TEST(Describe, RedactsThePasswordInBothFormsOfTheConnectionString) {
  for (const char* dsn : {"host=h password=s3cret dbname=d", "postgresql://u:s3cret@h/d",
                          "postgresql://u@h/d?password=s3cret", "dbname=d sslpassword=s3cret"}) {
    SCOPED_TRACE(dsn);
    const auto text = describe(
        loaded(with(sample, "host=127.0.0.1 dbname=horde user=operator", "\"" + std::string{dsn} + "\"")));
    EXPECT_EQ(text.find("s3cret"), std::string::npos) << text;
    EXPECT_NE(text.find("password=***"), std::string::npos) << text;
  }
}

TEST(Describe, RedactsAConnectionStringItCannotRead) {
  settings value = loaded(sample);
  value.control.dsn = "password=my s3cret";
  EXPECT_NE(describe(value).find("  dsn: \"***\"\n"), std::string::npos);
}

} // namespace
} // namespace ledgergate::config
