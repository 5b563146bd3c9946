// Rows of the texts in statements.hpp, read into values. A column that cannot be read counts as NULL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "proxy/transition/pin_snapshot.hpp"
#include "proxy/transition/sql_result.hpp"

namespace ledgergate::transition {

/// What statements::read_control_row() found.
struct control_row {
  std::size_t row_count = 0; ///< anything but 1 means that `control_row.where` does not select one row
  std::optional<std::string> mode;
  /// The row's xmin: changes with every committed update of the row, by whomever, and with nothing else. It
  /// would repeat only after 2^32 transactions.
  std::optional<std::string> version;
  std::optional<std::uint64_t> xmin;   ///< the same as xid8, with the epoch
  std::optional<wall_time> changed_at; ///< absent: no such column is configured, it is null or holds no time
};
control_row read_control_row(const result_set& set);

pin_snapshot read_pins(const result_set& set, wall_time observed_at);

/// A sentence that says why a commit would hang for want of a synchronous standby (F25), or nothing. A role
/// that may not see pg_stat_replication in full is given the benefit of the doubt for the standbys it cannot
/// see.
std::optional<std::string> missing_standby(const result_set& set);

/// What statements::check() reads beside the control row: the pins that wait right after the grant.
struct grant_facts {
  std::size_t pins_waiting = 0;
  elapsed longest_wait{0};
  std::string transaction_id; ///< xid8
};
grant_facts read_grant_facts(const result_set& set);

/// What statements::change() returned for the one row; nothing when it changed none or several.
struct change_facts {
  std::string mode; ///< as the row has it now: a trigger may have had another opinion
  std::string version;
  std::string transaction_id; ///< xid8
};
std::optional<change_facts> read_change_facts(const result_set& set);

/// The first column of the first row; empty when there is none or it is NULL.
std::string single_value(const result_set& set);

} // namespace ledgergate::transition
