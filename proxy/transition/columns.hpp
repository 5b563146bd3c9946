// Columns of a row as values. One that is missing or cannot be read counts as NULL.
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>

#include "proxy/transition/sql_result.hpp"

namespace ledgergate::transition {

inline sql_value column(const sql_row& row, std::size_t index) {
  return index < row.size() ? row[index] : std::nullopt;
}

template <typename Number>
std::optional<Number> number(const sql_value& value) {
  if (!value) return std::nullopt;
  Number out{};
  const char* end = value->data() + value->size();
  const auto [last, ec] = std::from_chars(value->data(), end, out);
  if (ec != std::errc() || last != end) return std::nullopt;
  return out;
}

/// Seconds with a fraction, as extract(epoch ..) writes them.
std::optional<elapsed> seconds(const sql_value& value);
/// The same, never negative: clocks of backends may disagree by a hair.
std::optional<elapsed> age(const sql_value& value);
/// Seconds since 1970.
std::optional<wall_time> moment_of(const sql_value& value);

inline std::size_t count_of(const sql_value& value) { return number<std::size_t>(value).value_or(0); }

} // namespace ledgergate::transition
