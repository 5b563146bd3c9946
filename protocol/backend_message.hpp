// Backend messages: the few fields the gate looks at. Views point into the body that was decoded.
#pragma once

#include <optional>
#include <string_view>

namespace ledgergate::protocol {

/// ParameterStatus: String name, String value.
struct parameter_status {
  std::string_view name;
  std::string_view value;
};

std::optional<parameter_status> decode_parameter_status(std::string_view body);
/// CommandComplete: String tag, such as `INSERT 0 1` or `COMMIT`.
std::optional<std::string_view> decode_command_complete(std::string_view body);
/// ReadyForQuery: Byte1, 'I' idle, 'T' in a transaction block, 'E' in a failed one.
std::optional<char> decode_ready_for_query(std::string_view body);
/// One field of an ErrorResponse or NoticeResponse (Byte1 type, String value, ..., NUL); empty when absent.
/// Works on the front of a body that is not yet whole.
std::string_view error_field(std::string_view body, char field);
/// Authentication: Int32; 0 is AuthenticationOk, 12 AuthenticationSASLFinal; all others ask the client for
/// something.
std::optional<bool> authentication_asks(std::string_view body);

} // namespace ledgergate::protocol
