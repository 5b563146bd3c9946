// How sessions end: by the server, by the client, by a violation, by a client that vanished.
#include <utility>

#include "protocol/error_response.hpp"
#include "protocol/startup_message.hpp"
#include "protocol/wire.hpp"
#include "proxy/session/client_end.hpp"
#include "proxy/session/session.hpp"

namespace ledgergate::session {

namespace {

using namespace std::chrono_literals;

/// A client that takes none of its last bytes for so long does not get them.
constexpr auto flush_patience = 60s;
/// How long a client may leave its socket open after it got everything and the FIN.
constexpr auto close_patience = 1s;
/// A cancel can come before the statement it is meant for was read: it is repeated until the server has let
/// go.
constexpr auto cancel_interval = 250ms;
constexpr unsigned max_cancels = 20;
/// Reads that only throw away, per turn.
constexpr int discards_per_turn = 16;

std::string make_cancel_request(std::string_view backend_key) {
  std::string packet;
  protocol::append_int32(packet, static_cast<std::uint32_t>(8 + backend_key.size()));
  protocol::append_int32(packet, protocol::cancel_request_code);
  packet.append(backend_key);
  return packet;
}

} // namespace

void session::handle_disturbance() {
  if (relay_.offer_refused()) return handle_refused_offer();
  if (relay_.close_reason() != gate::close_reason::none) return handle_server_violation();
  if (relay_.server_ended()) return handle_server_end();
  if (relay_.client_ended()) handle_client_end();
}

/// Fail closed: what the server says can no longer be followed, so neither side gets another byte of it.
void session::handle_server_violation() {
  log().protocol_violation(describe() + ": the server sent a message that makes no sense");
  begin_ending(session_result::protocol_violation);
}

void session::handle_server_end() {
  if (relay_.server_spoke()) {
    if (violated_) return begin_ending(session_result::protocol_violation);
    return begin_ending(relay_.client_ended() ? session_result::completed : session_result::server_closed);
  }
  host_.shared().registry.upstream_failed("closed the connection during start-up");
  log().upstream_failed("it closed the connection during start-up");
  refuse(session_result::upstream_unreachable, "08006", "upstream server closed the connection unexpectedly");
}

void session::handle_client_end() {
  const auto now = net::event_loop::clock::now();
  if (!end_seen_) {
    end_seen_ = true;
    end_began_ = now;
    const bool fate_matters = relay_.is_raw() || relay_.replies_outstanding() || !relay_.client_terminated();
    if (fate_matters) end_fate_ = net::examine_peer(client_);
  }
  client_end_facts facts;
  facts.fate = relay_.client_broken() ? net::peer_fate::gone : end_fate_;
  facts.terminated = relay_.client_terminated();
  facts.raw = relay_.is_raw();
  facts.replies_outstanding = relay_.replies_outstanding();
  facts.awaits_client = relay_.awaits_client();
  facts.pinned = relay_.pinned();
  facts.all_read = relay_.client_all_read();
  facts.all_forwarded = relay_.client_forwarded();
  facts.since_end = std::chrono::duration_cast<std::chrono::milliseconds>(now - end_began_);
  switch (decide_client_end(facts)) {
  case client_end_step::cancel_and_close: return abandon(session_result::client_lost);
  case client_end_step::close:
    return over(facts.terminated || !relay_.client_reset() ? session_result::completed
                                                           : session_result::client_lost);
  case client_end_step::shut_server:
    if (!std::exchange(server_shut_, true)) server_.shut_write();
    break;
  case client_end_step::wait: break;
  }
  if (!timer_.armed()) timer_.expire_after(client_end_interval);
}

/// The server is done with; the client gets what is left for it, then a FIN, and a moment to close by itself:
/// closing at once with bytes of its own unread would send a reset that can overtake the last words.
void session::begin_ending(session_result result) {
  result_ = result;
  phase_ = phase::ending;
  if (connector_) {
    connector_->abandon();
    host_.loop().dispose(std::move(connector_));
  }
  server_.close();
  timer_.expire_after(flush_patience);
  continue_ending();
}

void session::continue_ending() {
  relay_.flush_client();
  if (relay_.client_broken()) return over(result_);
  if (!relay_.client_flushed()) return;
  if (!std::exchange(client_shut_, true)) {
    client_.shut_write();
    timer_.expire_after(close_patience);
  }
  discard(client_);
}

/// Reads and throws away until the end of the stream, which is the end of the session.
void session::discard(net::stream_socket& socket) {
  for (int i = 0; i < discards_per_turn; ++i) {
    if (!socket.can_read()) return;
    const net::io_result result = socket.read(host_.tools().scratch);
    if (result.status == net::io_status::end || result.status == net::io_status::failed) return over(result_);
  }
  host_.loop().resume_later(*this);
}

/// A statement whose client went away, or must go, while it runs or waits: cancelled at once, so that nobody
/// dead keeps a pin. The server's socket stays until the server has let go, because a cancel that comes too
/// early is not remembered by it.
void session::abandon(session_result result) {
  if (backend_key_.empty()) return over(session_result::completed); // still logging in: nothing of it runs
  host_.tools().counters.abandoned.add();
  log().client_abandoned(describe() +
                         (result == session_result::drained ? ": cut off" : ": client went away") +
                         ", its statement is cancelled");
  result_ = result;
  phase_ = phase::abandoned;
  client_.close();
  server_.shut_write();
  order_cancel();
  discard(server_);
}

void session::order_cancel() {
  if (cancels_sent_ == max_cancels) return over(result_);
  ++cancels_sent_;
  const cancel_target target{server_address_, encrypted_};
  host_.order_cancel({make_cancel_request(backend_key_), target, net::parting_socket()});
  timer_.expire_after(cancel_interval);
}

void session::over(session_result result) {
  if (phase_ == phase::over) return;
  phase_ = phase::over;
  timer_.cancel();
  if (connector_) {
    connector_->abandon();
    host_.loop().dispose(std::move(connector_));
  }
  client_.close();
  server_.close();
  const services& shared = host_.shared();
  if (!backend_key_.empty()) shared.cancels.remove(backend_key_);
  if (admitted_) shared.registry.release();
  shared.registry.count_end(result);
  if (observe::logs(config::log_level::debug) && result != session_result::probe) {
    const auto age =
        std::chrono::duration_cast<std::chrono::milliseconds>(net::event_loop::clock::now() - began_);
    observe::log(config::log_level::debug, describe() + " ended: " + to_string(result) + " after " +
                                               std::to_string(age.count()) + " ms");
  }
  host_.session_over(id_);
}

} // namespace ledgergate::session
