#include "proxy/transition/rows.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "proxy/transition/columns.hpp"

namespace ledgergate::transition {

namespace {

/// How many standbys must confirm: manual, section 20.6.2. `2 (a, b)`, `FIRST 2 (a, b)`, `ANY 2 (a, b)`; a
/// bare list: one.
std::size_t required_standbys(std::string_view names) {
  const auto parenthesis = names.find('(');
  if (parenthesis == std::string_view::npos) return 1;
  const auto head = names.substr(0, parenthesis);
  const auto first = head.find_first_of("0123456789");
  if (first == std::string_view::npos) return 1;
  const auto last = head.find_last_of("0123456789");
  return std::max<std::size_t>(1, count_of(std::string(head.substr(first, last - first + 1))));
}

} // namespace

control_row read_control_row(const result_set& set) {
  control_row out;
  out.row_count = set.rows.size();
  if (set.rows.empty()) return out;
  const auto& row = set.rows.front();
  out.mode = column(row, 0);
  out.version = column(row, 1);
  out.changed_at = moment_of(column(row, 3));
  const auto xmin = number<std::uint32_t>(out.version);
  const auto next = number<std::uint64_t>(column(row, 2));
  if (xmin && next) {
    // The row's transaction began before the next one to be assigned: the newest epoch that keeps this true
    // is its own.
    constexpr std::uint64_t epoch = std::uint64_t{1} << 32;
    std::uint64_t full = (*next / epoch) * epoch + *xmin;
    if (full > *next && full >= epoch) full -= epoch;
    out.xmin = full;
  }
  return out;
}

pin_snapshot read_pins(const result_set& set, wall_time observed_at) {
  pin_snapshot out;
  out.observed_at = observed_at;
  for (const auto& row : set.rows) {
    gate_lock lock;
    lock.hold = column(row, 0) == "ExclusiveLock" ? gate_hold::exclusive : gate_hold::pin;
    lock.pid = number<std::int32_t>(column(row, 2));
    lock.prepared_gid = column(row, 3);
    lock.backend_start = moment_of(column(row, 4));
    lock.user = column(row, 5);
    lock.application = column(row, 6);
    lock.client_address = column(row, 7);
    lock.client_port = number<std::int32_t>(column(row, 8));
    lock.state = column(row, 9);
    lock.transaction_age = age(column(row, 10));
    lock.state_age = age(column(row, 11));
    lock.query = column(row, 13);
    lock.waits_for_applier = column(row, 14) == "t";
    lock.wait_event = column(row, 15);
    lock.waits_for_client = column(row, 16) == "t";
    if (column(row, 1) == "t") {
      out.holders.push_back(std::move(lock));
    } else {
      lock.wait = age(column(row, 12)).value_or(elapsed(0));
      out.waiters.push_back(std::move(lock));
    }
  }
  return out;
}

std::optional<std::string> missing_standby(const result_set& set) {
  if (set.rows.empty()) return std::nullopt;
  const auto& row = set.rows.front();
  const std::string names = column(row, 0).value_or("");
  const std::string commit = column(row, 1).value_or("");
  if (names.empty() || commit == "off" || commit == "local") return std::nullopt;
  const auto required = required_standbys(names);
  const auto connected = count_of(column(row, 2)) + count_of(column(row, 3));
  if (connected >= required) return std::nullopt;
  return "the commit would hang: synchronous_standby_names asks for " + std::to_string(required) +
         " standby(s) and " + std::to_string(connected) + " can confirm";
}

grant_facts read_grant_facts(const result_set& set) {
  grant_facts out;
  if (set.rows.empty()) return out;
  const auto& row = set.rows.front();
  out.pins_waiting = count_of(column(row, 0));
  out.longest_wait = age(column(row, 1)).value_or(elapsed(0));
  out.transaction_id = column(row, 2).value_or("");
  return out;
}

std::optional<change_facts> read_change_facts(const result_set& set) {
  if (set.rows.size() != 1) return std::nullopt;
  const auto& row = set.rows.front();
  return change_facts{column(row, 0).value_or(""), column(row, 1).value_or(""), column(row, 2).value_or("")};
}

std::string single_value(const result_set& set) {
  return set.rows.empty() ? std::string() : column(set.rows.front(), 0).value_or("");
}

} // namespace ledgergate::transition
