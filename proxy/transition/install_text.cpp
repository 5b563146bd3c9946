#include "proxy/transition/install_text.hpp"

#include "proxy/transition/lock_text.hpp"
#include "proxy/transition/sql_text.hpp"

namespace ledgergate::transition {

namespace {

/// Everything in one schema, so that it is seen at a glance and leaves without a trace.
constexpr std::string_view audit_table = R"sql(
CREATE SCHEMA IF NOT EXISTS ledgergate;
COMMENT ON SCHEMA ledgergate IS 'ledgergate: history of the ledger''s mode, and guards of its tables';
CREATE TABLE IF NOT EXISTS ledgergate.transitions (
    id text PRIMARY KEY,
    request_id text UNIQUE,
    from_mode text,
    to_mode text NOT NULL,
    version_before text,
    version_after text,
    transaction_id pg_catalog.xid8 NOT NULL DEFAULT pg_catalog.pg_current_xact_id(),
    sidecar text NOT NULL DEFAULT pg_catalog.current_setting('application_name'),
    database_user name NOT NULL DEFAULT session_user,
    requested_by text,
    reason text,
    started_at timestamptz NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    attempts integer NOT NULL,
    applier_wait_us bigint NOT NULL,
    quiet_wait_us bigint NOT NULL,
    queue_wait_us bigint NOT NULL,
    hold_us bigint,
    total_us bigint,
    max_writer_wait_us bigint
);
COMMENT ON TABLE ledgergate.transitions IS
    'one row for each change of the mode through a sidecar, written in the transaction of the change';
CREATE INDEX IF NOT EXISTS transitions_changed_at ON ledgergate.transitions (changed_at);
)sql";

std::string grants_to(std::string_view role) {
  const std::string name = quote_identifier(role);
  return "GRANT USAGE ON SCHEMA ledgergate TO " + name +
         ";\nGRANT SELECT, INSERT, UPDATE (hold_us, total_us, max_writer_wait_us)\n"
         "    ON ledgergate.transitions TO " +
         name + ";\n";
}

/// A statement trigger runs before its statement touches a row. Both modes of the lock count as held: the
/// steps of a transition hold it exclusively.
std::string guard_function(guard_kind guards, std::int64_t key) {
  const std::string key_text = std::to_string(key);
  std::string body;
  if (guards == guard_kind::pin) {
    body = "    PERFORM pg_catalog.pg_advisory_xact_lock_shared(" + key_text + "::bigint);\n";
  } else {
    body =
        "    IF NOT EXISTS (SELECT FROM pg_catalog.pg_locks l WHERE l.locktype = 'advisory' AND l.granted\n"
        "            AND l.pid = pg_catalog.pg_backend_pid() AND " +
        key_condition("l", key) +
        ") THEN\n"
        "        RAISE EXCEPTION '% of % without the pin of the ledger''s gate', TG_OP, TG_RELID::regclass\n"
        "            USING ERRCODE = '" +
        std::string(unpinned_write) +
        "',\n"
        "            DETAIL = 'A change of the mode could not wait for this transaction.',\n"
        "            HINT = 'Connect through the ledgergate sidecar, or take pg_advisory_xact_lock_shared(" +
        key_text +
        ") before the first look at the ledger.';\n"
        "    END IF;\n";
  }
  return "CREATE OR REPLACE FUNCTION ledgergate.guard() RETURNS trigger LANGUAGE plpgsql\n"
         "    SET search_path = pg_catalog AS $guard$\nBEGIN\n" +
         body + "    RETURN NULL;\nEND\n$guard$;\n";
}

/// A rule with columns is about their assignment only.
std::string events_of(const config::table_rule& rule) {
  if (rule.columns.empty()) return "INSERT OR UPDATE OR DELETE OR TRUNCATE";
  std::string columns;
  for (const std::string& column : rule.columns)
    columns += (columns.empty() ? "" : ", ") + quote_identifier(column);
  return "UPDATE OF " + columns;
}

/// Only tables can be guarded so; a view's rules lead to a table in the end.
std::string guard_trigger(const config::table_rule& rule) {
  const std::string name =
      (rule.schema.empty() ? "" : quote_identifier(rule.schema) + ".") + quote_identifier(rule.name);
  const std::string create = "CREATE OR REPLACE TRIGGER ledgergate_guard BEFORE " + events_of(rule) + " ON " +
                             name + "\n            FOR EACH STATEMENT EXECUTE FUNCTION ledgergate.guard()";
  return "DO $install$ BEGIN\n    IF EXISTS (SELECT FROM pg_catalog.pg_class WHERE oid = "
         "pg_catalog.to_regclass(" +
         quote_literal(name) + ") AND relkind IN ('r', 'p')) THEN\n        EXECUTE " + quote_literal(create) +
         ";\n    ELSE\n        RAISE NOTICE 'no guard: % is not a table here', " + quote_literal(name) +
         ";\n    END IF;\nEND $install$;\n";
}

/// With the function go the triggers that call it.
constexpr std::string_view no_guards = "DROP FUNCTION IF EXISTS ledgergate.guard() CASCADE;\n";

} // namespace

std::string install_text(const config::settings& settings, guard_kind guards, std::string_view control_role) {
  std::string text = "-- ledgergate: audit table";
  text += guards == guard_kind::none ? "" : " and guard triggers";
  text += " for database " + settings.gate.database + "\nBEGIN;\nSET LOCAL lock_timeout = '5s';\n" +
          std::string(audit_table) + grants_to(control_role) + std::string(no_guards);
  if (guards != guard_kind::none) {
    text += guard_function(guards, settings.gate.lock_key);
    for (const config::table_rule& rule : settings.gate.tables)
      text += guard_trigger(rule);
  }
  return text + "COMMIT;\n";
}

std::string uninstall_text() {
  return "-- ledgergate: takes out the guard triggers and the audit table, with its history\n"
         "BEGIN;\n" +
         std::string(no_guards) + "DROP TABLE IF EXISTS ledgergate.transitions;\n" +
         "DROP SCHEMA IF EXISTS ledgergate;\nCOMMIT;\n";
}

} // namespace ledgergate::transition
