// Whether a peer that sends no more is gone or has only closed its sending half. In the byte stream both are
// one FIN.
#pragma once

#include "proxy/net/stream_socket.hpp"

namespace ledgergate::net {

enum class peer_fate : std::uint8_t {
  half_closed, ///< it still reads
  gone,        ///< nobody owns the other end any more
  unknown,     ///< the other end is not in this kernel's tables (another host or network namespace)
};

/// Asks the kernel. Unix sockets: a closed peer shows as a hang-up, a half-closed one does not. TCP:
/// sock_diag is asked for exactly the peer's socket; one without an inode has no owner. A few microseconds;
/// meant for sessions that end.
peer_fate examine_peer(const stream_socket&);

} // namespace ledgergate::net
