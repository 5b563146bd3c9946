// TLS of a session's two legs, and what SCRAM makes of them.
#include <utility>

#include "protocol/error_response.hpp"
#include "proxy/session/session.hpp"

namespace ledgergate::session {

namespace {

tls_offer offer_of(config::server_tls_mode mode) {
  switch (mode) {
  case config::server_tls_mode::off: return tls_offer::none;
  case config::server_tls_mode::allow: return tls_offer::possible;
  case config::server_tls_mode::require: return tls_offer::required;
  }
  return tls_offer::required;
}

} // namespace

void session::choose_tls(std::size_t listener) {
  const tls::context_store* store = host_.shared().tls;
  if (store == nullptr) return;
  const auto contexts = store->current();
  if (listener < contexts->listen.size()) tls_ = contexts->listen[listener];
  dialogue_.offer_tls(offer_of(tls_.mode));
}

/// `received`: the beginning of the handshake that was read already.
void session::begin_tls(std::string_view received) {
  if (!client_.accept_tls(std::move(tls_.with), received)) return over(session_result::startup_refused);
  greeting_ = true;
}

/// limits.client_startup_timeout runs on: a handshake that is drawn out ends there.
void session::greet() {
  switch (client_.shake_hands()) {
  case net::tls_status::want_input: return;
  case net::tls_status::ok: break;
  case net::tls_status::closed:
  case net::tls_status::failed: {
    const std::string& why = client_.tls_failure();
    log().startup_refused(client_name_, "TLS handshake failed: " + (why.empty() ? "it left" : why));
    // It was told why by an alert, which closing at once over unread bytes could tear away from it.
    client_.leave_tls();
    return begin_ending(session_result::startup_refused);
  }
  }
  greeting_ = false;
  if (direct_tls_ && client_.tls()->alpn() != "postgresql") {
    log().startup_refused(client_name_, "TLS from the first byte without ALPN");
    return over(session_result::startup_refused);
  }
  dialogue_.secured();
  read_startup();
}

upstream_encryption session::encryption() const {
  const tls::context_store* store = host_.shared().tls;
  if (store == nullptr) return {};
  const auto contexts = store->current();
  return {contexts->upstream_mode, contexts->upstream};
}

/// The server offers channel binding over TLS. A client without TLS must not see that; one with TLS binds to
/// the certificate that we show it, which must be the server's.
void session::watch_offer() {
  encrypted_ = server_.tls() != nullptr;
  if (!encrypted_) return;
  if (client_.tls() == nullptr) return relay_.watch_offer(offer_policy::cut_binding);
  if (tls_.channel_binding == config::channel_binding_policy::disabled) return;
  if (net::tls_layer::same_certificate(*client_.tls(), *server_.tls())) return;
  relay_.watch_offer(offer_policy::refuse_binding);
}

void session::handle_refused_offer() {
  log().binding_refused(describe() +
                        ": the server shows another certificate than this listener's, so SCRAM's channel "
                        "binding cannot hold: give the listener the server's own, or set "
                        "channel_binding: disabled");
  refuse(session_result::upstream_unreachable, "28000",
         "SCRAM channel binding cannot hold: the proxy shows another certificate than the server");
}

} // namespace ledgergate::session
