#include "config/identifier.hpp"

#include <optional>
#include <utility>

namespace ledgergate::config {
namespace {

constexpr std::size_t name_bytes_max = 63;

bool is_high(char c) { return static_cast<unsigned char>(c) >= 0x80; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) { return is_lower(c) || is_upper(c) || c == '_' || is_high(c); }
bool continues_name(char c) { return starts_name(c) || is_digit(c) || c == '$'; }

// Takes one part off the front of `rest`; nothing when it does not begin with one. Only ASCII letters are
// folded, as the server does in a multibyte encoding.
std::optional<std::string> take_part(std::string_view& rest) {
  std::string part;
  if (rest.starts_with('"')) {
    rest.remove_prefix(1);
    while (!rest.empty()) {
      const char c = rest.front();
      rest.remove_prefix(1);
      if (c != '"') {
        part.push_back(c);
        continue;
      }
      if (!rest.starts_with('"')) return part.empty() ? std::nullopt : std::optional{part};
      part.push_back('"');
      rest.remove_prefix(1);
    }
    return std::nullopt;
  }
  if (rest.empty() || !starts_name(rest.front())) return std::nullopt;
  while (!rest.empty() && continues_name(rest.front())) {
    const char c = rest.front();
    part.push_back(is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c);
    rest.remove_prefix(1);
  }
  return part;
}

bool too_long(const std::string& part) { return part.size() > name_bytes_max; }

name_error length_error(const std::string& part) {
  return {"is too long: a name has at most " + std::to_string(name_bytes_max) + " bytes, this one has " +
          std::to_string(part.size())};
}

} // namespace

name_result<std::string> parse_identifier(std::string_view text) {
  auto part = take_part(text);
  if (!part || !text.empty()) {
    return name_error{"must be one PostgreSQL name, such as balance or \"Balance\" (quotes keep upper case)"};
  }
  if (too_long(*part)) return length_error(*part);
  // Said in full: C++20 would also build the error from a string.
  return name_result<std::string>{boost::system::in_place_value, std::move(*part)};
}

name_result<qualified_name> parse_qualified_name(std::string_view text) {
  const name_error form{"must be a PostgreSQL name: name, schema.name or \"Name\" (quotes keep upper case)"};
  auto first = take_part(text);
  if (!first) return form;
  std::optional<std::string> second;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    second = take_part(text);
    if (!second) return form;
  }
  if (!text.empty()) return form;
  if (too_long(*first)) return length_error(*first);
  if (!second) return qualified_name{{}, std::move(*first)};
  if (too_long(*second)) return length_error(*second);
  return qualified_name{std::move(*first), std::move(*second)};
}

std::string quote_identifier(std::string_view name) {
  bool plain = !name.empty() && (is_lower(name.front()) || name.front() == '_');
  for (const char c : name)
    plain = plain && (is_lower(c) || is_digit(c) || c == '_');
  if (plain) return std::string{name};
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"') text.push_back('"');
    text.push_back(c);
  }
  text.push_back('"');
  return text;
}

std::string quote_identifier(const qualified_name& name) {
  if (name.schema.empty()) return quote_identifier(name.name);
  return quote_identifier(name.schema) + "." + quote_identifier(name.name);
}

} // namespace ledgergate::config
