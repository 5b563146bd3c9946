#include "proxy/session/startup_dialogue.hpp"

#include "protocol/error_response.hpp"
#include "protocol/wire.hpp"

namespace ledgergate::session {

namespace {

using kind = startup_step::kind;

/// The content type of a TLS record that holds a handshake (RFC 8446, 5.1).
constexpr char handshake_record = 0x16;

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
  // A client that begins with TLS instead of asking for it: no first packet of the protocol begins like a
  // handshake record, its length would be far beyond what is allowed.
  const bool first = !secured_ && !ssl_asked_ && !gss_asked_;
  if (first && offer_ != tls_offer::none && !bytes.empty() && bytes.front() == handshake_record) {
    startup_step step;
    step.what = kind::direct_tls;
    return step;
  }
  if (bytes.size() < 4) return {};
  const auto length = protocol::startup_packet_length(bytes);
  if (!length) return close_silently("invalid length of start-up packet");
  if (bytes.size() < *length) return {};
  const std::string_view packet = bytes.substr(0, *length);
  const protocol::startup_packet decoded = protocol::decode_startup_packet(packet);
  switch (decoded.what) {
  case protocol::startup_packet::kind::ssl_request:
    return answer(bytes, *length, ssl_asked_, "SSL", offer_ != tls_offer::none);
  case protocol::startup_packet::kind::gss_request:
    return answer(bytes, *length, gss_asked_, "GSSAPI encryption", false);
  // In clear as well where TLS is required, like a server: libpq before 17 has no other way to cancel.
  case protocol::startup_packet::kind::cancel_request: return pass(kind::cancel, packet, decoded);
  case protocol::startup_packet::kind::startup: return begin_session(packet, decoded);
  case protocol::startup_packet::kind::malformed: break;
  }
  return refuse_malformed(packet);
}

startup_step startup_dialogue::begin_session(std::string_view packet,
                                             const protocol::startup_packet& decoded) const {
  if (secured_ || offer_ != tls_offer::required) return pass(kind::startup, packet, decoded);
  return refuse(
      protocol::make_error_response("FATAL", "28000", "connection is not encrypted: TLS is required here"),
      "TLS is required");
}

/// Answers a request for encryption. Another one of its kind, or any one inside TLS, is not understood, as by
/// a server.
startup_step startup_dialogue::answer(std::string_view bytes, std::size_t length, bool& asked,
                                      const char* request, bool yes) {
  if (asked || secured_) {
    return refuse(protocol::make_error_response("FATAL", "0A000", "unsupported frontend protocol"),
                  "encryption asked for twice");
  }
  asked = true;
  // Clear text behind the request would be read as if it had come through the encrypted channel. The server
  // refuses it even though it is about to answer `N`, and so do we.
  if (bytes.size() > length) {
    // Words in clear would only be another thing in front of the handshake.
    if (yes) return close_silently("unencrypted data after an encryption request");
    const std::string message = std::string("received unencrypted data after ") + request + " request";
    return refuse("N" + protocol::make_error_response("FATAL", "08P01", message),
                  "unencrypted data after an encryption request");
  }
  startup_step step;
  step.what = yes ? kind::begin_tls : kind::answer;
  step.consumed = length;
  step.reply = yes ? "S" : "N";
  return step;
}

} // namespace ledgergate::session
