// The real PostgreSQL grammar (libpg_query) over a candidate text: the text in, facts out, one value per
// statement. That a text cannot be read is a result, not an error. Thread-safe: libpg_query keeps its state
// per thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/sql/statement_facts.hpp"

namespace ledgergate::sql {

/// Longer texts are not given to the parser: at this size it takes some 50 ms, and the other sessions of the
/// thread wait.
inline constexpr std::size_t max_parsed_text_bytes = 256 * 1024;

struct parse_result {
  std::vector<statement_facts> statements;
  const char* error = nullptr; ///< null when read; else a static label: syntax, too_deep, too_long, encoding
  std::string message;         ///< with syntax: the parser's own words
  std::size_t position = 0;    ///< with syntax: where, in characters from 1; 0: it does not say
};

/// Reads `text` as a server with standard_conforming_strings = on would. Never throws but for lack of memory,
/// never crashes.
parse_result parse(std::string_view text);

} // namespace ledgergate::sql
