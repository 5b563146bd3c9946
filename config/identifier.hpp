// Names of tables, columns and functions as an operator writes them, read as PostgreSQL reads them in SQL.
// Source: PostgreSQL manual, "Identifiers and Key Words": unquoted names are folded to lower case, quoted
// names are kept, and a name is at most NAMEDATALEN - 1 = 63 bytes long.
#pragma once

#include <string>
#include <string_view>

#include <boost/system/result.hpp>

namespace ledgergate::config {

/// A name without its quotes. `schema` is empty when none was written.
struct qualified_name {
  std::string schema;
  std::string name;
  bool operator==(const qualified_name&) const = default;
};

/// What is allowed instead.
struct name_error {
  std::string message;
};

template <typename T>
using name_result = boost::system::result<T, name_error>;

/// `name` or `"Name"`.
[[nodiscard]] name_result<std::string> parse_identifier(std::string_view text);

/// `name`, `schema.name`, each part quoted or not. The server would cut a longer name and go on; here it is
/// an error, since two long names may become one.
[[nodiscard]] name_result<qualified_name> parse_qualified_name(std::string_view text);

/// The name as it must be written so that the functions above read it back: in quotes only where they are
/// needed.
[[nodiscard]] std::string quote_identifier(std::string_view name);
[[nodiscard]] std::string quote_identifier(const qualified_name& name);

} // namespace ledgergate::config
