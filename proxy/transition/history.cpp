// The audit table `ledgergate.transitions` (install_text.hpp): what is written into it, and what is read
// back.
#include "proxy/transition/history.hpp"

#include <algorithm>
#include <utility>

#include "proxy/transition/columns.hpp"
#include "proxy/transition/sql_text.hpp"
#include "proxy/transition/statements.hpp"

namespace ledgergate::transition {

namespace {

std::string value_or_null(const std::optional<std::string>& value) {
  return value && !value->empty() ? quote_literal(*value) : std::string("NULL");
}

std::string microseconds(elapsed duration) { return std::to_string(duration.count()); }

std::string timestamp(wall_time moment) {
  const auto since = std::chrono::duration_cast<elapsed>(moment.time_since_epoch());
  return "(pg_catalog.to_timestamp(0) OPERATOR(pg_catalog.+) '" + std::to_string(since.count()) +
         " microseconds'::pg_catalog.interval)";
}

elapsed duration_of(const sql_value& value) { return elapsed(number<std::int64_t>(value).value_or(0)); }

} // namespace

std::string audit_entry(const transition_record& record) {
  return "INSERT INTO ledgergate.transitions (id, request_id, from_mode, to_mode, version_before, "
         "version_after, "
         "requested_by, reason, started_at, attempts, applier_wait_us, quiet_wait_us, queue_wait_us) VALUES "
         "(" +
         quote_literal(record.id) + ", " + value_or_null(record.request.request_id) + ", " +
         value_or_null(record.from) + ", " + quote_literal(record.to) + ", " +
         value_or_null(record.version_before) + ", " + value_or_null(record.version_after) + ", " +
         value_or_null(record.request.requested_by) + ", " + value_or_null(record.request.reason) + ", " +
         timestamp(record.started_at) + ", " + std::to_string(record.attempts.size()) + ", " +
         microseconds(record.timings.applier_wait) + ", " + microseconds(record.timings.quiet_wait) + ", " +
         microseconds(record.timings.queue_wait) + ")";
}

std::string statements::find_audit_table() const {
  return "SELECT pg_catalog.to_regclass('ledgergate.transitions') IS NOT NULL";
}

std::string statements::read_history() const {
  return "SELECT id, request_id, from_mode, to_mode, version_before, version_after, sidecar, requested_by, "
         "reason, extract(epoch FROM started_at), extract(epoch FROM changed_at), attempts, applier_wait_us, "
         "quiet_wait_us, queue_wait_us, hold_us, total_us, max_writer_wait_us FROM ledgergate.transitions "
         "ORDER BY changed_at DESC LIMIT 200";
}

std::string statements::release_slot_and_complete(const transition_record& record) const {
  const auto& timings = record.timings;
  return release_slot() + "; UPDATE ledgergate.transitions SET hold_us = " + microseconds(timings.hold) +
         ", total_us = " + microseconds(timings.total) +
         ", max_writer_wait_us = " + microseconds(timings.max_writer_wait) +
         " WHERE id OPERATOR(pg_catalog.=) " + quote_literal(record.id);
}

std::vector<transition_record> read_history(const result_set& set) {
  std::vector<transition_record> out;
  for (const auto& row : set.rows) {
    transition_record record;
    record.id = column(row, 0).value_or("");
    record.request.request_id = column(row, 1);
    record.from = column(row, 2);
    record.to = record.request.to = column(row, 3).value_or("");
    record.version_before = column(row, 4);
    record.version_after = column(row, 5);
    record.sidecar = column(row, 6).value_or("");
    record.request.requested_by = column(row, 7).value_or("");
    record.request.reason = column(row, 8);
    record.started_at = record.deadline_at = moment_of(column(row, 9)).value_or(wall_time());
    record.finished_at = moment_of(column(row, 10));
    record.state_since = record.finished_at.value_or(record.started_at);
    record.attempts.resize(std::min<std::size_t>(count_of(column(row, 11)), 1000));
    record.timings = {duration_of(column(row, 12)), duration_of(column(row, 13)),
                      duration_of(column(row, 14)), duration_of(column(row, 15)),
                      duration_of(column(row, 16)), duration_of(column(row, 17))};
    record.state = transition_state::committed;
    record.changed = record.recorded = true;
    record.message = "the mode was " + record.to + " from then on";
    out.push_back(std::move(record));
  }
  return out;
}

} // namespace ledgergate::transition
