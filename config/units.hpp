// The written forms of durations, sizes, lock keys and whole numbers, with the ranges they must lie in.
// Pure functions on text; used for ledgergate.yaml and for the fields of the admin API.
// Every failure is a sentence that says what is allowed, so that it can be shown as it is.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <boost/system/result.hpp>

namespace ledgergate::config {

/// Both ends are allowed values.
struct duration_range {
  std::chrono::milliseconds min;
  std::chrono::milliseconds max;
};

struct size_range {
  std::size_t min;
  std::size_t max;
};

struct number_range {
  std::int64_t min;
  std::int64_t max;
};

/// What is allowed instead: "must be a duration from 100ms to 10m, written like 500ms, 2s or 1m".
struct unit_error {
  std::string message;
};

template <typename T>
using unit_result = boost::system::result<T, unit_error>;

/// `500ms`, `2s`, `1m`, `1h`: digits and a unit, no sign, no fraction, no blank. Overflow counts as out of
/// range.
[[nodiscard]] unit_result<std::chrono::milliseconds> parse_duration(std::string_view text,
                                                                    duration_range range);

/// `64KiB`, `16MiB`, `1GiB`, `512B`; in bytes.
[[nodiscard]] unit_result<std::size_t> parse_size(std::string_view text, size_range range);

/// Decimal without leading zeros, with an optional minus sign.
[[nodiscard]] unit_result<std::int64_t> parse_number(std::string_view text, number_range range);

/// The bigint of a one-argument advisory lock: decimal or `0x`. A hex key above 0x7FFFFFFFFFFFFFFF is an
/// error: PostgreSQL reads it as a numeric, not as a bigint, so the key that was meant would be a guess.
[[nodiscard]] unit_result<std::int64_t> parse_key(std::string_view text);

/// One integer of a two-argument advisory lock: decimal or `0x`, 32-bit signed.
[[nodiscard]] unit_result<std::int32_t> parse_key_part(std::string_view text);

/// The shortest form parse_duration() reads back: the largest unit that divides it.
[[nodiscard]] std::string format_duration(std::chrono::milliseconds value);
[[nodiscard]] std::string format_size(std::size_t bytes);
/// `0x4B55444D`; negative keys in decimal.
[[nodiscard]] std::string format_key(std::int64_t key);

} // namespace ledgergate::config
