#include "proxy/transition/statements.hpp"

#include <utility>

#include "proxy/transition/history.hpp"
#include "proxy/transition/lock_text.hpp"
#include "proxy/transition/sql_text.hpp"

namespace ledgergate::transition {

namespace {

using std::chrono::milliseconds;

constexpr std::string_view mark_start = "/* ledgergate transition ";
constexpr std::string_view mark_end = " */ ";

/// Backstop for texts that wait for nothing: a control table locked by a migration must not hang the
/// transition.
constexpr milliseconds short_statement{2000};
/// Above lock_timeout, so that a lock wait always ends as 55P03 and never as 57014.
constexpr milliseconds timeout_slack{5000};
/// While the gate is held or wanted, a sidecar that went silent loses its session after this long.
constexpr milliseconds idle_limit{1000};

constexpr std::string_view read_standbys =
    "SELECT pg_catalog.current_setting('synchronous_standby_names'), "
    "pg_catalog.current_setting('synchronous_commit'), "
    "pg_catalog.count(*) FILTER (WHERE r.sync_state OPERATOR(pg_catalog.=) "
    "ANY ('{sync,quorum}'::pg_catalog.text[])), "
    "pg_catalog.count(*) FILTER (WHERE r.sync_state IS NULL) FROM pg_catalog.pg_stat_replication r";

/// The sessions of this database that are clients' or, the other way round, sidecars' own.
std::string sessions(std::string_view columns, std::string_view name_condition) {
  return "SELECT " + std::string(columns) +
         " FROM pg_catalog.pg_stat_activity a WHERE a.backend_type OPERATOR(pg_catalog.=) 'client backend' "
         "AND a.datname OPERATOR(pg_catalog.=) pg_catalog.current_database() AND a.application_name " +
         std::string(name_condition) + " 'ledgergate/%@%' ORDER BY a.backend_start LIMIT 10000";
}

std::string set_local(std::string_view name, milliseconds value) {
  // Zero would mean no limit at all.
  auto count = value.count() < 1 ? 1 : value.count();
  return "SET LOCAL " + std::string(name) + " = " + std::to_string(count) + "; ";
}

/// An open batch that waits for its client's next message shows as active. So does a COPY from a slow
/// client, which is no idler: it is told by its progress view (manual, section 28.4.3).
std::string waits_for_client(std::string_view pid) {
  return "(a.state OPERATOR(pg_catalog.=) 'active' AND a.wait_event OPERATOR(pg_catalog.=) 'ClientRead' AND "
         "NOT EXISTS (SELECT FROM pg_catalog.pg_stat_progress_copy c WHERE c.pid OPERATOR(pg_catalog.=) " +
         std::string(pid) + "))";
}

} // namespace

statements::statements(std::shared_ptr<const config::settings> settings, std::string id)
    : settings_(std::move(settings)) {
  if (!id.empty()) mark_ = std::string(mark_start) + id + std::string(mark_end);
  slot_ = std::to_string(static_cast<std::int32_t>(slot_namespace)) + ", " +
          std::to_string(static_cast<std::int32_t>(slot_key(settings_->gate.lock_key)));
}

std::string statements::marked(std::string text) const { return mark_ + text; }

std::string statements::read_control_row() const {
  const auto& row = settings_->control_row;
  // A column of another type, a text for instance, may hold anything.
  const std::string changed_at =
      row.changed_at_column
          ? "CASE WHEN pg_catalog.pg_typeof(" + quote_identifier(*row.changed_at_column) +
                ") OPERATOR(pg_catalog.=) ANY ('{timestamptz,timestamp}'::pg_catalog.regtype[]) THEN "
                "extract(epoch FROM " +
                quote_identifier(*row.changed_at_column) + "::pg_catalog.timestamptz) END"
          : std::string("NULL");
  return "SELECT " + quote_identifier(row.mode_column) +
         "::pg_catalog.text, xmin::pg_catalog.text, "
         "pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())::pg_catalog.text, " +
         changed_at + " FROM " + quote_name(row.table) + " WHERE (" + row.where + "\n) LIMIT 2";
}

std::string statements::read_pins() const {
  const auto applier = settings_->gate.applier_lock_key;
  const std::string waits_for_applier =
      applier
          ? "EXISTS (SELECT FROM locks w WHERE w.pid OPERATOR(pg_catalog.=) l.pid AND NOT w.granted AND " +
                key_condition("w", *applier) + ")"
          : "false";
  return std::string(with_locks) +
         "SELECT l.mode, l.granted, l.pid, p.gid, extract(epoch FROM a.backend_start), a.usename, "
         "a.application_name, pg_catalog.host(a.client_addr), a.client_port, a.state, " +
         seconds_since("coalesce(a.xact_start, p.prepared)") + " AS age, " + seconds_since("a.state_change") +
         ", " + seconds_since("l.waitstart") + ", a.query, " + waits_for_applier + ", a.wait_event, " +
         waits_for_client("l.pid") +
         " FROM locks l "
         "LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid OPERATOR(pg_catalog.=) l.pid "
         "LEFT JOIN locks x ON l.pid IS NULL AND x.pid IS NULL AND x.transactionid IS NOT NULL "
         "AND x.virtualtransaction OPERATOR(pg_catalog.=) l.virtualtransaction "
         "LEFT JOIN pg_catalog.pg_prepared_xacts p ON p.transaction OPERATOR(pg_catalog.=) x.transactionid "
         "WHERE " +
         key_condition("l", settings_->gate.lock_key) + " ORDER BY age DESC NULLS LAST, l.pid";
}

/// Looked at and ended in one statement, so that nothing happens to a backend that is another one by now, or
/// busy again.
std::string statements::evict(const gate_lock& holder, milliseconds idle_for) const {
  const auto start = holder.backend_start.value_or(wall_time()).time_since_epoch();
  const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(start).count();
  std::string fraction = std::to_string(whole % 1000000);
  fraction.insert(0, 6 - fraction.size(), '0');
  return "SELECT pg_catalog.pg_terminate_backend(a.pid) FROM pg_catalog.pg_stat_activity a "
         "WHERE a.pid OPERATOR(pg_catalog.=) " +
         std::to_string(holder.pid.value_or(0)) +
         " AND extract(epoch FROM a.backend_start) OPERATOR(pg_catalog.=) " +
         std::to_string(whole / 1000000) + "." + fraction +
         "::pg_catalog.numeric AND (a.state OPERATOR(pg_catalog.~~) 'idle%' OR " + waits_for_client("a.pid") +
         ") AND a.state_change OPERATOR(pg_catalog.<=) (pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) "
         "'" +
         std::to_string(idle_for.count()) +
         " milliseconds'::pg_catalog.interval) AND EXISTS (SELECT FROM pg_catalog.pg_locks l WHERE l.granted "
         "AND l.locktype OPERATOR(pg_catalog.=) 'advisory' AND l.pid OPERATOR(pg_catalog.=) a.pid "
         "AND l.database OPERATOR(pg_catalog.=) a.datid AND " +
         key_condition("l", settings_->gate.lock_key) + ")";
}

std::string statements::read_fleet() const {
  return sessions("a.pid, a.application_name, pg_catalog.host(a.client_addr), "
                  "extract(epoch FROM a.backend_start)",
                  "OPERATOR(pg_catalog.~~)");
}

std::string statements::plan() const {
  const auto& row = settings_->control_row;
  const auto& gate = settings_->gate;
  const std::string applier =
      std::string(with_locks) + "SELECT l.pid, a.application_name, " + seconds_since("a.xact_start") +
      " FROM locks l LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid OPERATOR(pg_catalog.=) l.pid WHERE " +
      (gate.applier_lock_key ? "l.granted AND " + key_condition("l", *gate.applier_lock_key)
                             : std::string("false"));
  const std::string table = quote_literal(quote_name(row.table)) + "::pg_catalog.regclass";
  const auto may_update = [&](const std::string& column) {
    return "pg_catalog.has_column_privilege(" + table + ", " + quote_literal(column) + ", 'UPDATE')";
  };
  return read_control_row() + "; " + read_pins() + "; " + std::string(read_standbys) + "; " + read_rival() +
         "; " + applier + "; SELECT pg_catalog.pg_is_in_recovery(), " + may_update(row.mode_column) +
         (row.changed_at_column ? " AND " + may_update(*row.changed_at_column) : std::string()) + "; " +
         read_fleet() + "; " +
         sessions("a.pid, a.usename, a.application_name, pg_catalog.host(a.client_addr)",
                  "OPERATOR(pg_catalog.!~~)");
}

std::string statements::take_slot() const {
  return marked("SELECT pg_catalog.pg_try_advisory_lock(" + slot_ + ")");
}

std::string statements::release_slot() const {
  return marked("SELECT pg_catalog.pg_advisory_unlock(" + slot_ + ")");
}

std::string statements::read_rival() const {
  return marked(std::string(with_locks) +
                "SELECT a.application_name, a.query FROM locks l LEFT JOIN pg_catalog.pg_stat_activity a "
                "ON a.pid OPERATOR(pg_catalog.=) l.pid WHERE l.granted AND " +
                key_condition("l", slot_namespace, slot_key(settings_->gate.lock_key)));
}

std::string statements::begin() const {
  return marked("BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE; " +
                set_local("statement_timeout", short_statement) + set_local("lock_timeout", short_statement) +
                read_control_row() + "; " + find_audit_table());
}

std::string statements::take_applier(milliseconds lock_timeout) const {
  return marked(set_local("lock_timeout", lock_timeout) +
                set_local("statement_timeout", lock_timeout + timeout_slack) +
                "SELECT pg_catalog.pg_advisory_xact_lock(" +
                std::to_string(settings_->gate.applier_lock_key.value_or(0)) + "::pg_catalog.int8)");
}

std::string statements::look() const {
  return marked(set_local("statement_timeout", short_statement) + read_pins() + "; " +
                std::string(read_standbys));
}

std::string statements::queue(milliseconds lock_timeout) const {
  return marked(set_local("lock_timeout", lock_timeout) +
                set_local("statement_timeout", lock_timeout + timeout_slack) +
                set_local("idle_in_transaction_session_timeout", idle_limit) +
                "SELECT pg_catalog.pg_advisory_xact_lock(" + std::to_string(settings_->gate.lock_key) +
                "::pg_catalog.int8)");
}

std::string statements::check(milliseconds rest, milliseconds lock_timeout) const {
  return marked(
      set_local("statement_timeout", rest) + set_local("lock_timeout", lock_timeout) + read_control_row() +
      "; " + std::string(with_locks) + "SELECT pg_catalog.count(*), " +
      seconds_since("pg_catalog.min(l.waitstart)") +
      ", pg_catalog.pg_current_xact_id()::pg_catalog.text FROM locks l WHERE NOT l.granted AND l.mode "
      "OPERATOR(pg_catalog.=) 'ShareLock' AND " +
      key_condition("l", settings_->gate.lock_key));
}

std::string statements::configured(std::string_view sql, milliseconds rest) const {
  return marked(set_local("statement_timeout", rest) + std::string(sql));
}

std::string statements::change(std::string_view to, milliseconds rest) const {
  const auto& row = settings_->control_row;
  std::string set = quote_identifier(row.mode_column) + " = " + quote_literal(to);
  std::string time_zone;
  if (row.changed_at_column) {
    // A column without a time zone then gets UTC. Not now(): the transaction began before it waited.
    time_zone = "SET LOCAL TimeZone = 'UTC'; ";
    set += ", " + quote_identifier(*row.changed_at_column) + " = pg_catalog.clock_timestamp()";
  }
  return marked(set_local("statement_timeout", rest) + time_zone + "UPDATE " + quote_name(row.table) +
                " SET " + set + " WHERE (" + row.where + "\n) RETURNING " +
                quote_identifier(row.mode_column) +
                "::pg_catalog.text, xmin::pg_catalog.text, pg_catalog.pg_current_xact_id()::pg_catalog.text");
}

std::string statements::seal(const transition_record& record, milliseconds rest) const {
  std::string text = set_local("statement_timeout", rest);
  if (record.recorded) text += audit_entry(record) + "; ";
  text += "SET CONSTRAINTS ALL IMMEDIATE; ";
  if (const auto& channel = settings_->transitions.notify) {
    const auto pair = [](std::string_view name, const std::optional<std::string>& value) {
      return quote_literal(name) + "::pg_catalog.text, " +
             (value ? quote_literal(*value) + "::pg_catalog.text" : std::string("NULL::pg_catalog.text"));
    };
    // NOTIFY takes less than 8000 bytes: a long reason is cut.
    std::optional<std::string> reason = record.request.reason;
    text += "SELECT pg_catalog.pg_notify(" + quote_literal(*channel) + ", pg_catalog.json_build_object(" +
            pair("id", record.id) + ", " + pair("from", record.from) + ", " + pair("to", record.to) + ", " +
            pair("version", record.version_after) + ", 'reason', pg_catalog.left(" +
            (reason ? quote_literal(*reason) + "::pg_catalog.text" : std::string("NULL::pg_catalog.text")) +
            ", 500))::pg_catalog.text); ";
  }
  return marked(text + "SET LOCAL statement_timeout = 0");
}

std::string statements::commit() const { return marked("COMMIT"); }

std::string statements::rollback() const { return marked("ROLLBACK"); }

std::string statements::rollback_and_release() const {
  return marked("ROLLBACK; SELECT pg_catalog.pg_advisory_unlock(" + slot_ + ")");
}

std::string statements::read_outcome(std::string_view transaction_id) const {
  return marked("SELECT pg_catalog.pg_xact_status(" + quote_literal(transaction_id) + "::pg_catalog.xid8); " +
                read_control_row());
}

std::string transition_id_in(std::string_view text) {
  if (!text.starts_with(mark_start)) return {};
  text.remove_prefix(mark_start.size());
  const auto end = text.find(mark_end);
  return end == std::string_view::npos ? std::string() : std::string(text.substr(0, end));
}

} // namespace ledgergate::transition
