#include "protocol/backend_message.hpp"

#include "protocol/reader.hpp"

namespace ledgergate::protocol {

std::optional<parameter_status> decode_parameter_status(std::string_view body) {
  reader in(body);
  parameter_status message;
  message.name = in.cstring();
  message.value = in.cstring();
  if (!in.at_end()) return std::nullopt;
  return message;
}

std::optional<std::string_view> decode_command_complete(std::string_view body) {
  reader in(body);
  const std::string_view tag = in.cstring();
  if (!in.at_end()) return std::nullopt;
  return tag;
}

std::optional<char> decode_ready_for_query(std::string_view body) {
  if (body.size() != 1 || (body[0] != 'I' && body[0] != 'T' && body[0] != 'E')) return std::nullopt;
  return body[0];
}

std::string_view error_field(std::string_view body, char field) {
  reader in(body);
  while (in.ok()) {
    const char type = in.byte();
    if (type == '\0') return {};
    const std::string_view value = in.cstring();
    if (in.ok() && type == field) return value;
  }
  return {};
}

std::optional<bool> authentication_asks(std::string_view body) {
  reader in(body);
  const std::uint32_t kind = in.int32();
  if (!in.ok()) return std::nullopt;
  return kind != 0 && kind != 12;
}

} // namespace ledgergate::protocol
