#include "protocol/startup_message.hpp"

#include "protocol/reader.hpp"

namespace ledgergate::protocol {

std::optional<std::size_t> startup_packet_length(std::string_view at_least_four_bytes) {
  const std::uint32_t length = load_int32(at_least_four_bytes.data());
  if (length < min_startup_bytes || length > max_startup_bytes) return std::nullopt;
  return length;
}

namespace {

startup_packet decode_parameters(reader in, std::uint32_t version) {
  startup_packet packet;
  packet.version = version;
  if ((version >> 16U) != 3) {
    packet.what = startup_packet::kind::startup;
    return packet;
  }
  for (;;) {
    const std::string_view name = in.cstring();
    if (!in.ok()) return packet;
    if (name.empty()) break;
    const std::string_view value = in.cstring();
    if (!in.ok()) return packet;
    if (name == "user") packet.user = value;
    if (name == "database") packet.database = value;
    if (name == "replication") packet.replication = value;
    if (name == "application_name") packet.application = value;
  }
  if (!in.at_end()) return packet;
  if (packet.database.empty()) packet.database = packet.user;
  packet.what = startup_packet::kind::startup;
  return packet;
}

} // namespace

startup_packet decode_startup_packet(std::string_view whole) {
  startup_packet packet;
  reader in(whole);
  const std::uint32_t length = in.int32();
  const std::uint32_t code = in.int32();
  if (!in.ok() || length != whole.size() || length > max_startup_bytes) return packet;
  switch (code) {
  case ssl_request_code:
    if (in.at_end()) packet.what = startup_packet::kind::ssl_request;
    return packet;
  case gss_request_code:
    if (in.at_end()) packet.what = startup_packet::kind::gss_request;
    return packet;
  case cancel_request_code:
    packet.cancel_process_id = in.int32();
    packet.cancel_key = in.rest();
    if (in.ok() && !packet.cancel_key.empty()) packet.what = startup_packet::kind::cancel_request;
    return packet;
  default: return decode_parameters(in, code);
  }
}

} // namespace ledgergate::protocol
