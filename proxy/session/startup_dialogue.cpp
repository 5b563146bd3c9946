#include "proxy/session/startup_dialogue.hpp"

#include "protocol/error_response.hpp"
#include "protocol/wire.hpp"

namespace ledgergate::session {

namespace {

using kind = startup_step::kind;

startup_step close_silently(const char* reason) {
  startup_step step;
  step.what = kind::close;
  step.reason = reason;
  return step;
}

startup_step refuse(std::string reply, const char* reason) {
  startup_step step;
  step.what = kind::refuse;
  step.reply = std::move(reply);
  step.reason = reason;
  return step;
}

startup_step pass(kind what, std::string_view packet, const protocol::startup_packet& decoded) {
  startup_step step;
  step.what = what;
  step.consumed = packet.size();
  step.packet = packet;
  step.decoded = decoded;
  return step;
}

/// The code of a packet that could not be decoded decides whether a server would answer it.
startup_step refuse_malformed(std::string_view packet) {
  if (protocol::load_int32(packet.data() + 4) == protocol::cancel_request_code) {
    return close_silently("malformed cancel request");
  }
  return refuse(protocol::make_error_response(
                    "FATAL", "08P01", "invalid startup packet layout: expected terminator as last byte"),
                "malformed start-up packet");
}

} // namespace

startup_step startup_dialogue::next(std::string_view bytes) {
  if (bytes.size() < 4) return {};
  const auto length = protocol::startup_packet_length(bytes);
  if (!length) return close_silently("invalid length of start-up packet");
  if (bytes.size() < *length) return {};
  const std::string_view packet = bytes.substr(0, *length);
  const protocol::startup_packet decoded = protocol::decode_startup_packet(packet);
  switch (decoded.what) {
  case protocol::startup_packet::kind::ssl_request: return answer_no(bytes, *length, ssl_asked_, "SSL");
  case protocol::startup_packet::kind::gss_request:
    return answer_no(bytes, *length, gss_asked_, "GSSAPI encryption");
  case protocol::startup_packet::kind::cancel_request: return pass(kind::cancel, packet, decoded);
  case protocol::startup_packet::kind::startup: return pass(kind::startup, packet, decoded);
  case protocol::startup_packet::kind::malformed: break;
  }
  return refuse_malformed(packet);
}

startup_step startup_dialogue::answer_no(std::string_view bytes, std::size_t length, bool& asked,
                                         const char* request) {
  if (asked) {
    return refuse(protocol::make_error_response("FATAL", "0A000", "unsupported frontend protocol"),
                  "encryption asked for twice");
  }
  asked = true;
  // Clear text behind the request would be read as if it had come through the encrypted channel. The server
  // refuses it even though it is about to answer `N`, and so do we.
  if (bytes.size() > length) {
    const std::string message = std::string("received unencrypted data after ") + request + " request";
    return refuse("N" + protocol::make_error_response("FATAL", "08P01", message),
                  "unencrypted data after an encryption request");
  }
  startup_step step;
  step.what = kind::answer;
  step.consumed = length;
  step.reply = "N";
  return step;
}

} // namespace ledgergate::session
