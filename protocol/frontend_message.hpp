// Frontend messages: decoding what the gate must know of them, and building the ones the proxy sends itself.
// Views point into the body that was decoded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ledgergate::protocol {

/// Parse: String statement, String query, Int16 n, Int32[n] parameter types.
struct parse_message {
  std::string_view statement;
  std::string_view query;
  std::string_view types; ///< four bytes for each
};

/// Bind: String portal, String statement, then formats and values (never looked at).
struct bind_message {
  std::string_view portal;
  std::string_view statement;
};

/// Describe and Close: Byte1 'S' (statement) or 'P' (portal), String name.
struct target_message {
  char target;
  std::string_view name;
};

/// Nothing when the body is not well formed: the server will refuse it without running anything.
std::optional<std::string_view> decode_query(std::string_view body);
std::optional<parse_message> decode_parse(std::string_view body);
/// Needs only the front of the body, up to the second NUL.
std::optional<bind_message> decode_bind(std::string_view body_front);
std::optional<target_message> decode_target(std::string_view body);
/// Execute: String portal, Int32 maximum number of rows.
std::optional<std::string_view> decode_execute(std::string_view body);

/// FunctionCall of a function with one int8 argument in binary format, result in binary format.
std::string make_function_call(std::uint32_t function_oid, std::int64_t argument);
/// FunctionCall of a function with one text argument, argument and result in text format.
std::string make_function_call(std::uint32_t function_oid, std::string_view argument);
/// FunctionCall of a function without arguments, result in binary format. The OID 0 belongs to no function:
/// such a call fails without looking at anything, in every transaction state.
std::string make_function_call(std::uint32_t function_oid);

void append_query(std::string& out, std::string_view query);
void append_parse(std::string& out, std::string_view statement, std::string_view query);
void append_bind(std::string& out, std::string_view portal, std::string_view statement);
void append_describe(std::string& out, char target, std::string_view name);
void append_execute(std::string& out, std::string_view portal);
void append_close(std::string& out, char target, std::string_view name);
void append_sync(std::string& out);
void append_flush(std::string& out);

} // namespace ledgergate::protocol
