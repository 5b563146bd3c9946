// Quoting for the texts that the transition sends. The control session's client_encoding is UTF8, so that no
// byte of a multi-byte character can be mistaken for a quote.
#pragma once

#include <string>
#include <string_view>

namespace ledgergate::transition {

/// A string constant that means the same with and without standard_conforming_strings (manual,
/// section 4.1.2.2). Bytes of value zero, which PostgreSQL cannot store, are left out.
std::string quote_literal(std::string_view text);

/// `"name"`, inner quotes doubled.
std::string quote_identifier(std::string_view name);

/// A table as the configuration has it (possibly schema-qualified, read by config/identifier.hpp), each part
/// quoted. A text that is no such name becomes one quoted identifier as a whole: the server then says that it
/// does not exist.
std::string quote_name(std::string_view written);

} // namespace ledgergate::transition
