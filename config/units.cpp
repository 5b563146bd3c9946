#include "config/units.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

namespace ledgergate::config {
namespace {

struct unit {
  std::string_view suffix;
  std::uint64_t factor;
};

// Largest first: formatting takes the first that divides, and parsing must see "ms" and "s" apart by the
// whole suffix.
constexpr std::array<unit, 4> duration_units{{{"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr std::array<unit, 4> size_units{
    {{"GiB", 1ULL << 30}, {"MiB", 1ULL << 20}, {"KiB", 1ULL << 10}, {"B", 1}}};

std::optional<std::uint64_t> parse_digits(std::string_view text, int base) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, ec] = std::from_chars(text.data(), end, value, base);
  if (text.empty() || ec != std::errc{} || stop != end) return std::nullopt;
  return value;
}

template <std::size_t Count>
std::optional<std::uint64_t> parse_with_unit(std::string_view text, const std::array<unit, Count>& units) {
  const auto digits = text.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return std::nullopt;
  const auto number = parse_digits(text.substr(0, digits), 10);
  if (!number) return std::nullopt;
  for (const auto& [suffix, factor] : units) {
    if (text.substr(digits) != suffix) continue;
    if (*number > std::numeric_limits<std::uint64_t>::max() / factor) return std::nullopt;
    return *number * factor;
  }
  return std::nullopt;
}

template <std::size_t Count>
std::string format_with_unit(std::uint64_t value, const std::array<unit, Count>& units,
                             std::string_view zero) {
  if (value == 0) return std::string{zero};
  for (const auto& [suffix, factor] : units) {
    if (value % factor == 0) return std::to_string(value / factor).append(suffix);
  }
  return std::to_string(value);
}

// The magnitude and the sign are read apart, so that the smallest value of the range has a form as well.
std::optional<std::int64_t> parse_signed(std::string_view text, bool hex_allowed) {
  if (hex_allowed && (text.starts_with("0x") || text.starts_with("0X"))) {
    const auto value = parse_digits(text.substr(2), 16);
    if (!value || !std::in_range<std::int64_t>(*value)) return std::nullopt;
    return static_cast<std::int64_t>(*value);
  }
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  // A leading zero is octal to some YAML readers and decimal to others.
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  const auto magnitude = parse_digits(text, 10);
  if (!magnitude) return std::nullopt;
  constexpr auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (*magnitude > limit + (negative ? 1 : 0)) return std::nullopt;
  return static_cast<std::int64_t>(negative ? 0 - *magnitude : *magnitude);
}

} // namespace

unit_result<std::chrono::milliseconds> parse_duration(std::string_view text, duration_range range) {
  const auto value = parse_with_unit(text, duration_units);
  if (value && std::cmp_greater_equal(*value, range.min.count()) &&
      std::cmp_less_equal(*value, range.max.count())) {
    return std::chrono::milliseconds{static_cast<std::chrono::milliseconds::rep>(*value)};
  }
  return unit_error{"must be a duration from " + format_duration(range.min) + " to " +
                    format_duration(range.max) + ", written like 500ms, 2s or 1m"};
}

unit_result<std::size_t> parse_size(std::string_view text, size_range range) {
  const auto value = parse_with_unit(text, size_units);
  if (value && *value >= range.min && *value <= range.max) return static_cast<std::size_t>(*value);
  return unit_error{"must be a size from " + format_size(range.min) + " to " + format_size(range.max) +
                    ", written like 64KiB or 16MiB"};
}

unit_result<std::int64_t> parse_number(std::string_view text, number_range range) {
  const auto value = parse_signed(text, false);
  if (value && *value >= range.min && *value <= range.max) return *value;
  return unit_error{"must be a whole number from " + std::to_string(range.min) + " to " +
                    std::to_string(range.max)};
}

unit_result<std::int64_t> parse_key(std::string_view text) {
  const auto value = parse_signed(text, true);
  if (value) return *value;
  return unit_error{
      "must be a 64-bit advisory lock key from -9223372036854775808 to 9223372036854775807 in decimal, or "
      "from 0x0 to 0x7FFFFFFFFFFFFFFF"};
}

unit_result<std::int32_t> parse_key_part(std::string_view text) {
  const auto value = parse_signed(text, true);
  if (value && std::in_range<std::int32_t>(*value)) return static_cast<std::int32_t>(*value);
  return unit_error{
      "must be a 32-bit advisory lock namespace from -2147483648 to 2147483647 in decimal, or from 0x0 to "
      "0x7FFFFFFF"};
}

std::string format_duration(std::chrono::milliseconds value) {
  return format_with_unit(static_cast<std::uint64_t>(value.count()), duration_units, "0s");
}

std::string format_size(std::size_t bytes) { return format_with_unit(bytes, size_units, "0B"); }

std::string format_key(std::int64_t key) {
  if (key < 0) return std::to_string(key);
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), key, 16).ptr;
  std::string text = "0x";
  for (const char* digit = digits.data(); digit != end; ++digit) {
    text.push_back(*digit >= 'a' ? static_cast<char>(*digit - 'a' + 'A') : *digit);
  }
  return text;
}

} // namespace ledgergate::config
