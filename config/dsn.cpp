#include "config/dsn.hpp"

#include <charconv>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include <libpq-fe.h>

namespace ledgergate::config {
namespace {

struct free_options {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};
struct free_text {
  void operator()(char* text) const { PQfreemem(text); }
};

// libpq marks the options that a dialogue must hide: PostgreSQL manual, PQconndefaults, dispchar.
bool is_secret(const PQconninfoOption& option) { return std::string_view{option.dispchar} == "*"; }

void append_option(std::string& text, std::string_view keyword, std::string_view value) {
  if (!text.empty()) text += ' ';
  text.append(keyword).push_back('=');
  if (!value.empty() && value.find_first_of(" \t\n\r\f\v'\\") == std::string_view::npos) {
    text += value;
    return;
  }
  text += '\'';
  for (const char c : value) {
    if (c == '\'' || c == '\\') text += '\\';
    text += c;
  }
  text += '\'';
}

// libpq's messages quote what they stumbled over, which in a string with an unquoted blank is a piece of the
// password. From the first quote to the last, since the quoted piece may hold quotes.
std::string without_secrets(std::string message, const std::string& dsn) {
  while (!message.empty() && message.back() == '\n')
    message.pop_back();
  const bool may_hold_secret =
      dsn.find("password") != std::string::npos || dsn.find("://") != std::string::npos;
  const auto first = message.find('"');
  const auto last = message.rfind('"');
  if (!may_hold_secret || first == std::string::npos || first == last) return message;
  return message.replace(first, last - first + 1, "(hidden)");
}

/// libpq looks at a port only when it connects. Several, or empty ones that mean the default, are separated
/// by commas.
bool are_ports(std::string_view ports) {
  for (;;) {
    const auto comma = ports.find(',');
    const std::string_view one = ports.substr(0, comma);
    unsigned port = 0;
    const auto [end, failure] = std::from_chars(one.data(), one.data() + one.size(), port);
    const bool is_port =
        failure == std::errc{} && end == one.data() + one.size() && port >= 1 && port <= 65535;
    if (!one.empty() && !is_port) return false;
    if (comma == std::string_view::npos) return true;
    ports.remove_prefix(comma + 1);
  }
}

} // namespace

dsn_result parse_dsn(const std::string& dsn) {
  char* raw_message = nullptr;
  const std::unique_ptr<PQconninfoOption, free_options> options{PQconninfoParse(dsn.c_str(), &raw_message)};
  const std::unique_ptr<char, free_text> message{raw_message};
  if (!options) return dsn_error{without_secrets(message ? message.get() : "out of memory", dsn)};

  dsn_facts facts;
  std::string rebuilt;
  bool has_secret = false;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val == nullptr) continue;
    const bool secret = is_secret(*option);
    has_secret = has_secret || secret;
    append_option(rebuilt, option->keyword, secret ? "***" : option->val);
    const std::string_view keyword = option->keyword;
    if (keyword == "dbname") facts.database = option->val;
    if (keyword == "port" && !are_ports(option->val)) return dsn_error{"port must be from 1 to 65535"};
  }
  facts.redacted = has_secret ? std::move(rebuilt) : dsn;
  return facts;
}

} // namespace ledgergate::config
