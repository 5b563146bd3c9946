// What to do once a client sends no more. Pure: the facts in, one step out.
#pragma once

#include <chrono>
#include <cstdint>

#include "proxy/net/peer_fate.hpp"

namespace ledgergate::session {

/// The facts about a client whose stream has ended (FIN seen, or reset).
struct client_end_facts {
  net::peer_fate fate = net::peer_fate::unknown;
  bool terminated = false; ///< its Terminate was forwarded: it left in good order
  bool raw = false;        ///< relayed without the engine: nothing is known of replies
  bool replies_outstanding = false;
  bool awaits_client = false; ///< the outstanding replies come only after a further message of the client
  bool pinned = false;
  bool all_read = false;      ///< its last byte was read
  bool all_forwarded = false; ///< everything it sent was handed to the server's socket
  std::chrono::milliseconds since_end{0};
};

enum class client_end_step : std::uint8_t {
  wait,             ///< look again later, relaying on
  shut_server,      ///< send the FIN on, relay what the server still says
  close,            ///< both sides
  cancel_and_close, ///< its statement is cancelled on the server, then both sides are closed
};

/// How often the facts are looked at again while the step is `wait` or after `shut_server`.
inline constexpr std::chrono::milliseconds client_end_interval{250};

client_end_step decide_client_end(const client_end_facts&);

} // namespace ledgergate::session
