#include "proxy/session/client_end.hpp"

namespace ledgergate::session {

namespace {

/// A client that said goodbye with statements still running meant them to finish, as they would on a server.
/// They get half a second: a dead client never holds a pin for more than one.
constexpr std::chrono::milliseconds goodbye_grace{500};
/// How long a client that nothing can be learnt about may keep its pin before it counts as gone.
constexpr std::chrono::milliseconds doubt_limit{750};
/// How long the last bytes of a client that is gone may take to get into the server's socket.
constexpr std::chrono::milliseconds forward_limit{1000};

bool is_gone(const client_end_facts& facts) {
  switch (facts.fate) {
  case net::peer_fate::gone: return true;
  case net::peer_fate::half_closed: return false;
  // Another host or network namespace. A client without a pin does no harm and gets its full answer, like a
  // half-closed one.
  case net::peer_fate::unknown: return facts.pinned && facts.since_end >= doubt_limit;
  }
  return false;
}

} // namespace

client_end_step decide_client_end(const client_end_facts& facts) {
  if (is_gone(facts)) {
    if (!facts.raw && facts.replies_outstanding) {
      const bool may_finish = facts.terminated && facts.since_end < goodbye_grace;
      return may_finish ? client_end_step::wait : client_end_step::cancel_and_close;
    }
    const bool delivering = !facts.all_forwarded && facts.since_end < forward_limit;
    return delivering ? client_end_step::wait : client_end_step::close;
  }
  if (!facts.all_read || !facts.all_forwarded) return client_end_step::wait;
  // A server answers in full before it looks at the FIN, so the FIN waits for the replies. Without the engine
  // they are not known; then the server gets it at once, as it would without a proxy.
  // Replies that only a further message of the client would bring (a batch without its Sync) are no reason to
  // wait.
  if (!facts.raw && facts.replies_outstanding && !facts.awaits_client) return client_end_step::wait;
  if (facts.terminated) return client_end_step::close;
  return client_end_step::shut_server;
}

} // namespace ledgergate::session
