// What a connection says before it is a session: SSLRequest, GSSENCRequest, CancelRequest or StartupMessage.
// Pure: bytes in, one step out. PostgreSQL manual, "Start-up"; limits as in ProcessStartupPacket of the
// server.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/startup_message.hpp"

namespace ledgergate::session {

struct startup_step {
  enum class kind : std::uint8_t {
    need_more,  ///< the packet is not whole yet
    answer,     ///< send `reply` (`N`: no encryption here) and go on with the next packet
    begin_tls,  ///< send `reply` (`S`), then the handshake, then secured()
    direct_tls, ///< the bytes are a handshake already, all of them; then secured()
    startup,    ///< a StartupMessage: `packet` is to be forwarded as it is, `decoded` says for whom
    cancel,     ///< a CancelRequest: `packet` is to be forwarded to the session's own server
    refuse,     ///< send `reply`, then close: what a server refuses in words
    close,      ///< close without a word: what a server does not answer either
  };
  kind what = kind::need_more;
  std::size_t consumed = 0;         ///< bytes of the packet
  std::string_view packet;          ///< views the bytes given to next()
  protocol::startup_packet decoded; ///< views them as well
  std::string reply;
  const char* reason = ""; ///< for the log
};

/// What the endpoint says about TLS.
enum class tls_offer : std::uint8_t { none, possible, required };

class startup_dialogue {
 public:
  void offer_tls(tls_offer offer) { offer_ = offer; }
  /// The handshake is done: what follows comes through it.
  void secured() { secured_ = true; }

  /// `bytes`: everything received and not yet consumed. A step that is not need_more consumes one packet.
  startup_step next(std::string_view bytes);

 private:
  startup_step answer(std::string_view bytes, std::size_t length, bool& asked, const char* request, bool yes);
  startup_step begin_session(std::string_view packet, const protocol::startup_packet& decoded) const;

  tls_offer offer_ = tls_offer::none;
  bool secured_ = false;
  bool ssl_asked_ = false;
  bool gss_asked_ = false;
};

} // namespace ledgergate::session
