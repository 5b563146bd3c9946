#include "proxy/transition/columns.hpp"

#include <algorithm>
#include <cmath>

namespace ledgergate::transition {

std::optional<elapsed> seconds(const sql_value& value) {
  const auto parsed = number<double>(value);
  // A century and more is no duration or moment of ours, and must not overflow.
  if (!parsed || !(std::abs(*parsed) < 1e11)) return std::nullopt;
  return elapsed(std::llround(*parsed * 1e6));
}

std::optional<elapsed> age(const sql_value& value) {
  auto parsed = seconds(value);
  if (parsed) parsed = std::max(*parsed, elapsed(0));
  return parsed;
}

std::optional<wall_time> moment_of(const sql_value& value) {
  const auto parsed = seconds(value);
  if (!parsed) return std::nullopt;
  return wall_time(std::chrono::duration_cast<wall_time::duration>(*parsed));
}

} // namespace ledgergate::transition
