#include "proxy/transition/sql_text.hpp"

#include "config/identifier.hpp"

namespace ledgergate::transition {

namespace {

std::string doubled(std::string_view text, char quote) {
  std::string out;
  out.reserve(text.size() + 2);
  for (char c : text) {
    if (c == '\0') continue; // the client library would take it for the end of the whole text
    if (c == quote) out += c;
    out += c;
  }
  return out;
}

} // namespace

std::string quote_literal(std::string_view text) {
  if (text.find('\\') == std::string_view::npos) return "'" + doubled(text, '\'') + "'";
  return "E'" + doubled(doubled(text, '\''), '\\') + "'";
}

std::string quote_identifier(std::string_view name) { return '"' + doubled(name, '"') + '"'; }

std::string quote_name(std::string_view written) {
  const auto name = config::parse_qualified_name(written);
  if (!name) return quote_identifier(written);
  if (name->schema.empty()) return quote_identifier(name->name);
  return quote_identifier(name->schema) + "." + quote_identifier(name->name);
}

} // namespace ledgergate::transition
