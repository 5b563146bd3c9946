#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/config/sample.hpp"

namespace ledgergate::config {
namespace {

using test::errors_of;
using test::sample;
using test::with;

// One change to the sample and the one error it must lead to.
struct error_case {
  const char* name;
  const char* from;
  std::string to;
  const char* expected; ///< the whole line after "f.yaml:"
};

void expect_errors(const std::vector<error_case>& cases) {
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(errors_of(with(sample, one.from, one.to)), std::string{"f.yaml:"} + one.expected + "\n");
  }
}

// The same for keys of sections that the sample does not have; they are appended to it, from line 15 on.
struct appended_case {
  const char* text;
  const char* expected;
};

void expect_appended_errors(const std::vector<appended_case>& cases) {
  for (const auto& [text, expected] : cases) {
    SCOPED_TRACE(text);
    EXPECT_EQ(errors_of(sample + text), std::string{"f.yaml:"} + expected + "\n");
  }
}

TEST(LoadErrors, OfAnEmptyFileNameEverythingThatIsRequired) {
  EXPECT_EQ(errors_of(""),
            "f.yaml:1:1: listen: is missing; must be a list of mappings with the key address, at least one\n"
            "f.yaml:1:1: upstream.host: is missing; must be a name, an address or unix:/folder, or several "
            "separated by "
            "commas\n"
            "f.yaml:1:1: control.dsn: is missing; must be a libpq connection string: key=value .. or "
            "postgresql://.. "
            "(unless gate.mode is off)\n"
            "f.yaml:1:1: gate.lock_key: is missing; must be a 64-bit advisory lock key, decimal or 0x "
            "(unless gate.mode is "
            "off)\n"
            "f.yaml:1:1: control_row.table: is missing; must be a PostgreSQL name: name, schema.name or "
            "\"Name\" (unless "
            "gate.mode is off)\n"
            "f.yaml:1:1: control_row.where: is missing; must be an SQL condition that selects exactly one "
            "row (unless "
            "gate.mode is off)\n"
            "f.yaml:1:1: modes: is missing; must be a list of two or more different mode names (unless "
            "gate.mode is off)\n");
}

TEST(LoadErrors, OfOneFileAreAllShownAtOnceInTheOrderOfTheFile) {
  const auto result = load_text(R"(listen:
  - address: nowhere
upstream:
  host: h
  port: 0
control:
  dsn: nonsense
gate:
  mode: strict
  lock_key: KUDM
  tables:
    - { name: users, pin_on: reads }
control_row:
  table: c
modes: [one]
transitions:
  deadline: 1s
  deadline: 2s
limits:
  max_client: 5
log: loud
)",
                                "ten.yaml");
  ASSERT_FALSE(result.has_value());
  std::vector<std::string> keys;
  for (const auto& error : result.error()) {
    EXPECT_EQ(error.file, "ten.yaml");
    EXPECT_GT(error.at.line, 0);
    EXPECT_GT(error.at.column, 0);
    keys.push_back(std::to_string(error.at.line) + " " + error.key);
  }
  const std::vector<std::string> expected{"2 listen[0].address",
                                          "5 upstream.port",
                                          "7 control.dsn",
                                          "9 gate.mode",
                                          "10 gate.lock_key",
                                          "12 gate.tables[0].pin_on",
                                          "13 control_row.where",
                                          "15 modes",
                                          "18 transitions.deadline",
                                          "20 limits.max_client",
                                          "21 log"};
  EXPECT_EQ(keys, expected);
}

TEST(LoadErrors, NameAnUnknownKeyTheNearestOneAndAllAllowed) {
  expect_appended_errors({
      {"limit: {}\n", "15:1: limit: is an unknown key; did you mean limits? allowed here: listen, upstream, "
                      "control, gate, control_row, "
                      "modes, transitions, admin, limits, drain, log"},
      {"drain: { timeot: 1s }\n",
       "15:10: drain.timeot: is an unknown key; did you mean timeout? allowed here: timeout, accept_for"},
      {"drain: { zzzzzz: 1s }\n", "15:10: drain.zzzzzz: is an unknown key; allowed here: timeout, accept_for"},
  });
}

TEST(LoadErrors, AllowNoHalfOfTlsOnTheAdminPortAndNoneOnItsUnixSocket) {
  const std::string half = sample + "admin: { tls: { mode: allow, cert: a, key: b } }\n";
  EXPECT_NE(errors_of(half).find(": admin.tls.mode: "), std::string::npos) << errors_of(half);
  const std::string on_unix =
      sample + "admin: { address: unix:/a/b, tls: { mode: require, cert: a, key: b } }\n";
  EXPECT_NE(errors_of(on_unix).find("must be off on a unix socket"), std::string::npos) << errors_of(on_unix);
}

TEST(LoadErrors, NameDuplicateKeysAtTheSecondPlace) {
  expect_errors({
      {"a section", "modes: [shadow, ledger]\n", "modes: [shadow, ledger]\nmodes: [a, b]\n",
       "15:1: modes: is a duplicate key; it may be given once"},
      {"a key", "  host: 127.0.0.1\n", "  host: 127.0.0.1\n  host: other\n",
       "5:3: upstream.host: is a duplicate key; it may be given once"},
      {"a mode of the guards", "modes: [shadow, ledger]\n",
       "modes: [shadow, ledger]\ntransitions: { guards: { shadow: [], shadow: [] } }\n",
       "15:38: transitions.guards.shadow: is a duplicate key; it may be given once"},
  });
}

TEST(LoadErrors, NameEveryWrongTypeAndWhatIsAllowed) {
  expect_errors({
      {"a section that is a value", "modes: [shadow, ledger]\n", "modes: [shadow, ledger]\ndrain: 5s\n",
       "15:8: drain: is a single value; must be a mapping with the keys timeout, accept_for"},
      {"a section that is a list", "modes: [shadow, ledger]\n", "modes: [shadow, ledger]\nlog: [info]\n",
       "15:1: log: is a list; must be a mapping with the keys level, format, statements"},
      {"a section with nothing in it", "modes: [shadow, ledger]\n", "modes: [shadow, ledger]\ndrain:\n",
       "15:1: drain: is nothing; must be a mapping with the keys timeout, accept_for"},
      {"a list that is a value", "modes: [shadow, ledger]", "modes: shadow",
       "14:8: modes: is a single value; must be a list of two or more different mode names"},
      {"a text that is a list", "host: 127.0.0.1\n", "host: [127.0.0.1]\n",
       "4:3: upstream.host: is a list; must be a name, an address or unix:/folder, or several separated by "
       "commas"},
      {"a text that is a number", "[shadow, ledger]", "[shadow, 2]",
       "14:17: modes[1]: is a number; must be the name of a mode (in quotes if that is what is meant)"},
      {"a text that is a boolean", "[shadow, ledger]", "[true, ledger]",
       "14:9: modes[0]: is a boolean; must be the name of a mode (in quotes if that is what is meant)"},
      {"a text that is nothing", "[shadow, ledger]", "[shadow, ~]",
       "14:17: modes[1]: is nothing; must be the name of a mode"},
      {"a text that is empty", "where: id = 1", "where: \" \"",
       "13:10: control_row.where: is empty; must be an SQL condition that selects exactly one row"},
      {"a table that is a text", "- name: kudos_ledger", "- kudos_ledger",
       "10:7: gate.tables[0]: is a single value; must be a mapping with the keys name, pin_on, columns"},
      {"a key that is a list", "lock_key: 0x4B55444D", "lock_key: [1]",
       "8:3: gate.lock_key: is a list; must be a 64-bit advisory lock key, decimal or 0x"},
      {"a number in quotes", "  host: 127.0.0.1\n", "  host: 127.0.0.1\n  port: \"5432\"\n",
       "5:9: upstream.port: is a string; must be a whole number from 1 to 65535, without quotes"},
  });
}

TEST(LoadErrors, NameTheAllowedRangeOfEveryBoundedKey) {
  struct bounded {
    const char* section;
    const char* key;
    std::vector<const char*> refused;
    const char* range;
  };
  const std::vector<bounded> all{
      {"transitions",
       "deadline",
       {"99ms", "601s", "30"},
       "a duration from 100ms to 10m, written like 500ms, 2s or 1m"},
      {"transitions",
       "queue_budget",
       {"9ms", "61s"},
       "a duration from 10ms to 1m, written like 500ms, 2s or 1m"},
      {"transitions",
       "hold_budget",
       {"99ms", "61s"},
       "a duration from 100ms to 1m, written like 500ms, 2s or 1m"},
      {"transitions",
       "applier_timeout",
       {"0s", "301s"},
       "a duration from 100ms to 5m, written like 500ms, 2s or 1m"},
      {"transitions",
       "evict_idle_after",
       {"999ms", "61m", "on", "0s"},
       "a duration from 1s to 1h, written like 500ms, 2s or 1m; or off"},
      {"transitions", "max_waiting_pins", {"0", "1000001", "-1", "1.5"}, "a whole number from 1 to 1000000"},
      {"limits",
       "client_startup_timeout",
       {"99ms", "6m"},
       "a duration from 100ms to 5m, written like 500ms, 2s or 1m"},
      {"limits", "max_clients", {"0", "100001", "many"}, "a whole number from 1 to 100000"},
      {"limits",
       "max_buffered_statement",
       {"63KiB", "2GiB", "16MB", "16777216"},
       "a size from 64KiB to 1GiB, written like 64KiB or 16MiB"},
      {"limits",
       "threads",
       {"0", "257", "all", "\"4\""},
       "auto or a whole number from 1 to 256, without quotes"},
      {"drain", "timeout", {"3601s", "2h", "-1s"}, "a duration from 0s to 1h, written like 500ms, 2s or 1m"},
      {"drain", "accept_for", {"601s", "-1s"}, "a duration from 0s to 10m, written like 500ms, 2s or 1m"},
      {"log", "level", {"verbose", "INFO"}, "one of trace, debug, info, warn, error"},
      {"log", "format", {"xml"}, "one of text, json"},
      {"log", "statements", {"some"}, "one of redacted, full, none"},
  };
  for (const auto& [section, key, refused, range] : all) {
    for (const std::string value : refused) {
      SCOPED_TRACE(std::string{key} + ": " + value);
      const std::string plain = value.starts_with('"') ? value.substr(1, value.size() - 2) : value;
      EXPECT_EQ(errors_of(sample + section + ":\n  " + key + ": " + value + "\n"),
                "f.yaml:16:" + std::to_string(std::string_view{key}.size() + 5) + ": " + section + "." + key +
                    ": \"" + plain + "\" is not allowed; must be " + range + "\n");
    }
  }
}

TEST(LoadErrors, OfAddresses) {
  constexpr auto form = "must be host:port, [IPv6]:port or unix:/folder, with a port from 1 to 65535";
  const std::string not_allowed = std::string{"\" is not allowed; "} + form;
  const std::string bad_port = "2:14: listen[0].address: \"h:70000" + not_allowed;
  expect_errors({
      {"no listen item", "  - address: 127.0.0.1:6432\n", "  []\n",
       "1:1: listen: is empty; must have at least one item with an address"},
      {"an item without an address", "- address: 127.0.0.1:6432", "- {}",
       "2:5: listen[0].address: is missing; must be an address: host:port, [IPv6]:port or unix:/folder"},
      {"a port out of range", "address: 127.0.0.1:6432", "address: h:70000", bad_port.c_str()},
      {"the port of a TCP address given apart", "address: 127.0.0.1:6432\n",
       "address: 127.0.0.1:6432\n    port: 6432\n",
       "3:11: listen[0].port: is only for a unix:/folder address (from 1 to 65535); a TCP address has its "
       "port in itself"},
      {"two items alike", "address: 127.0.0.1:6432\n",
       "address: 127.0.0.1:6432\n  - address: 127.0.0.1:6432\n",
       "3:14: listen[1].address: is the same as listen[0].address; each must be different"},
      {"a host with a port", "host: 127.0.0.1\n", "host: db:5432\n",
       "4:9: upstream.host: \"db:5432\" is not allowed; must be names, addresses or unix:/folder, separated "
       "by commas; the "
       "port stands in upstream.port"},
      {"an upstream port out of range", "  host: 127.0.0.1\n", "  host: 127.0.0.1\n  port: 65536\n",
       "5:9: upstream.port: \"65536\" is not allowed; must be a whole number from 1 to 65535"},
      {"a connect timeout out of range", "  host: 127.0.0.1\n", "  host: 127.0.0.1\n  connect_timeout: 2m\n",
       "5:20: upstream.connect_timeout: \"2m\" is not allowed; must be a duration from 100ms to 1m, written "
       "like 500ms, 2s "
       "or 1m"},
      {"an upstream that is the sidecar itself", "  host: 127.0.0.1\n", "  host: 127.0.0.1\n  port: 6432\n",
       "4:9: upstream.host: 127.0.0.1:6432 is listen[0].address; must be another server"},
  });
  expect_appended_errors({
      {"admin: { address: 127.0.0.1 }\n", "15:19: admin.address: \"127.0.0.1\" is not allowed; must be "
                                          "host:port, [IPv6]:port or unix:/folder/file, with a port "
                                          "from 1 to 65535"},
      {"admin: { address: \"127.0.0.1:6432\" }\n",
       "15:19: admin.address: is the same as listen[0].address; must be different"},
      {"admin: { token_file: \"\" }\n", "15:22: admin.token_file: is empty; must be the path of a file"},
  });
}

TEST(LoadErrors, OfTheGate) {
  const std::string long_name(64, 'x');
  const std::string too_long =
      "10:13: gate.tables[0].name: \"" + std::string(60, 'x') +
      "..\" is not allowed; is too long: a name has at most 63 bytes, this one has 64";
  constexpr auto key_form = "must be a 64-bit advisory lock key from -9223372036854775808 to "
                            "9223372036854775807 in decimal, or from 0x0 to "
                            "0x7FFFFFFFFFFFFFFF";
  const std::string bad_key =
      std::string{"8:13: gate.lock_key: \"0x8000000000000000\" is not allowed; "} + key_form;
  expect_errors({
      {"a mode of the gate", "  lock_key:", "  mode: on\n  lock_key:",
       "8:9: gate.mode: \"on\" is not allowed; must be one of enforce, observe, off"},
      {"a key beyond 64 bits", "0x4B55444D", "0x8000000000000000", bad_key.c_str()},
      {"two keys alike", "lock_key: 0x4B55444D\n", "lock_key: 0x2A\n  applier_lock_key: 42\n",
       "9:21: gate.applier_lock_key: is equal to gate.lock_key; must be another key, since a transition "
       "takes both"},
      {"a namespace beyond 32 bits", "  tables:", "  pin_before_locks: [0x80000000]\n  tables:",
       "9:22: gate.pin_before_locks[0]: \"0x80000000\" is not allowed; must be a 32-bit advisory lock "
       "namespace from "
       "-2147483648 to 2147483647 in decimal, or from 0x0 to 0x7FFFFFFF"},
      {"two namespaces alike", "  tables:", "  pin_before_locks: [16, 0x10]\n  tables:",
       "9:26: gate.pin_before_locks[1]: \"0x10\" is not allowed; it is in this list already; each namespace "
       "must be named "
       "once"},
      {"a table without a name", "- name: kudos_ledger", "- pin_on: any",
       "10:7: gate.tables[0].name: is missing; must be a PostgreSQL name: name, schema.name or \"Name\""},
      {"a table that is no name", "- name: kudos_ledger", "- name: a.b.c",
       "10:13: gate.tables[0].name: \"a.b.c\" is not allowed; must be a PostgreSQL name: name, schema.name "
       "or \"Name\" "
       "(quotes keep upper case)"},
      {"a table with too long a name", "- name: kudos_ledger", "- name: " + long_name, too_long.c_str()},
      {"two rules for a table", "- name: kudos_ledger", "- name: users\n    - name: USERS",
       "11:13: gate.tables[1].name: \"USERS\" is not allowed; this table has a rule already; it must have "
       "one only"},
      {"a pin_on", "- name: kudos_ledger", "- { name: users, pin_on: read }",
       "10:30: gate.tables[0].pin_on: \"read\" is not allowed; must be one of any, lock, write"},
      {"columns without pin_on", "- name: kudos_ledger", "- { name: users, columns: [kudos] }",
       "10:22: gate.tables[0].columns: is only allowed together with pin_on: write"},
      {"columns with another pin_on", "- name: kudos_ledger",
       "- { name: users, pin_on: lock, columns: [kudos] }",
       "10:36: gate.tables[0].columns: is only allowed together with pin_on: write"},
      {"no columns", "- name: kudos_ledger", "- { name: users, pin_on: write, columns: [] }",
       "10:37: gate.tables[0].columns: is empty; must name at least one column, or be left out to mean all "
       "of them"},
      {"a column that is no name", "- name: kudos_ledger", "- { name: users, pin_on: write, columns: [a.b] }",
       "10:47: gate.tables[0].columns[0]: \"a.b\" is not allowed; must be one PostgreSQL name, such as "
       "balance or "
       "\"Balance\" (quotes keep upper case)"},
      {"two columns alike", "- name: kudos_ledger", "- { name: users, pin_on: write, columns: [a, A] }",
       "10:50: gate.tables[0].columns[1]: \"A\" is not allowed; it is in this list already; each column must "
       "be named once"},
      {"a function that is no name", "  tables:", "  functions: [\"f()\"]\n  tables:",
       "9:15: gate.functions[0]: \"f()\" is not allowed; must be a PostgreSQL name: name, schema.name or "
       "\"Name\" (quotes "
       "keep upper case)"},
      {"a function with a dot in its name", "  tables:", "  functions: ['\"a.b\"']\n  tables:",
       "9:15: gate.functions[0]: \"\"a.b\"\" is not allowed; a function name must not have a dot inside "
       "quotes"},
      {"two functions alike", "  tables:", "  functions: [f, F]\n  tables:",
       "9:18: gate.functions[1]: \"F\" is not allowed; it is in this list already; each function must be "
       "named once"},
      {"what follows an error", "  lock_key:", "  catalog: { on_error: open }\n  lock_key:",
       "8:24: gate.catalog.on_error: \"open\" is not allowed; must be one of closed, names_only"},
      {"the closure", "  lock_key:", "  catalog: { closure: 1 }\n  lock_key:",
       "8:23: gate.catalog.closure: \"1\" is not allowed; must be one of true, false"},
      {"a refresh", "  lock_key:", "  catalog: { refresh: 10ms }\n  lock_key:",
       "8:23: gate.catalog.refresh: \"10ms\" is not allowed; must be a duration from 1s to 1h, written like "
       "500ms, 2s or 1m"},
      {"a key of the catalog", "  lock_key:", "  catalog: { reload: 1s }\n  lock_key:",
       "8:14: gate.catalog.reload: is an unknown key; allowed here: closure, refresh, on_error"},
      {"a policy", "  lock_key:", "  in_band_transitions: allow\n  lock_key:",
       "8:24: gate.in_band_transitions: \"allow\" is not allowed; must be one of exclusive, deny"},
      {"no database anywhere", "dsn: host=127.0.0.1 dbname=horde user=operator", "dsn: host=127.0.0.1",
       "7:1: gate.database: is missing and control.dsn names no dbname; must be the name of the gated "
       "database in one of the "
       "two"},
  });
}

TEST(LoadErrors, OfTheControlRowAndTheModes) {
  expect_errors({
      {"a table that is no name", "table: kudos_ledger_control", "table: a b",
       "12:10: control_row.table: \"a b\" is not allowed; must be a PostgreSQL name: name, schema.name or "
       "\"Name\" (quotes "
       "keep upper case)"},
      {"no condition", "  where: id = 1\n", "",
       "11:1: control_row.where: is missing; must be an SQL condition that selects exactly one row (unless "
       "gate.mode is off)"},
      {"a column that is no name", "  where: id = 1\n", "  where: id = 1\n  mode_column: a.b\n",
       "14:16: control_row.mode_column: \"a.b\" is not allowed; must be one PostgreSQL name, such as balance "
       "or \"Balance\" "
       "(quotes keep upper case)"},
      {"one mode", "[shadow, ledger]", "[shadow]",
       "14:1: modes: has 1 item; must be a list of two or more different mode names"},
      {"no modes", "[shadow, ledger]", "[]",
       "14:1: modes: has 0 items; must be a list of two or more different mode names"},
      {"two modes alike", "[shadow, ledger]", "[shadow, shadow]",
       "14:17: modes[1]: \"shadow\" is not allowed; it is in this list already; each mode must be named "
       "once"},
  });
}

TEST(LoadErrors, OfTransitionStatements) {
  expect_appended_errors({
      {"transitions: { guards: { legder: [\"select true\"] } }\n",
       "15:26: transitions.guards.legder: is not among the modes; must be one of shadow, ledger"},
      {"transitions: { steps: { x: [] } }\n",
       "15:25: transitions.steps.x: is not among the modes; must be one of shadow, ledger"},
      {"transitions: { steps: [\"select 1\"] }\n",
       "15:16: transitions.steps: must be a mapping of a mode to a list of SQL statements"},
      {"transitions: { steps: { shadow: select 1 } }\n",
       "15:33: transitions.steps.shadow: is a single value; must be a list of SQL statements"},
      {"transitions: { steps: { shadow: [\"\"] } }\n",
       "15:34: transitions.steps.shadow[0]: is empty; must be an SQL statement"},
      {"transitions: { notify: \"a b\" }\n", "15:24: transitions.notify: \"a b\" is not allowed; must be one "
                                             "PostgreSQL name, such as balance or \"Balance\" (quotes "
                                             "keep upper case)"},
  });
}

TEST(LoadErrors, OfYamlSyntaxHaveALineAndAColumn) {
  EXPECT_EQ(errors_of("listen:\n  - address: a: b\n"), "f.yaml:2:15: is not valid YAML: illegal map value\n");
}

TEST(LoadErrors, OfTheConnectionStringNeverShowAPassword) {
  const std::string text =
      with(sample, "host=127.0.0.1 dbname=horde user=operator", "host=h password=my s3cret");
  EXPECT_EQ(errors_of(text), "f.yaml:6:8: control.dsn: must be a libpq connection string: key=value .. or "
                             "postgresql://.. (missing (hidden) in "
                             "connection info string)\n");
  // In a place where it does not belong it is not shown either.
  EXPECT_EQ(errors_of(sample + "drain: \"password=s3cret\"\n").find("s3cret"), std::string::npos);
}

TEST(LoadErrors, ShortenAndCleanTheValueTheyShow) {
  const std::string shown = errors_of(sample + "log: { level: \"a\\n\\e" + std::string(500, 'x') + "\" }\n");
  EXPECT_NE(shown.find("\"a??" + std::string(57, 'x') + "..\" is not allowed"), std::string::npos) << shown;
}

TEST(LoadErrors, OfAPlainRelayCoverWhatIsGivenAllTheSame) {
  EXPECT_EQ(errors_of("listen: [{address: \"127.0.0.1:1\"}]\nupstream: {host: h}\n"
                      "gate: {mode: off, lock_key: x}\nmodes: [a]\ncontrol: {dsn: x}\n"),
            "f.yaml:3:29: gate.lock_key: \"x\" is not allowed; must be a 64-bit advisory lock key from "
            "-9223372036854775808 "
            "to 9223372036854775807 in decimal, or from 0x0 to 0x7FFFFFFFFFFFFFFF\n"
            "f.yaml:4:1: modes: has 1 item; must be a list of two or more different mode names\n"
            "f.yaml:5:16: control.dsn: must be a libpq connection string: key=value .. or postgresql://.. "
            "(missing \"=\" after "
            "\"x\" in connection info string)\n");
}

} // namespace
} // namespace ledgergate::config
