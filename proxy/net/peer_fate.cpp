#include "proxy/net/peer_fate.hpp"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

namespace ledgergate::net {

namespace {

struct diag_request {
  nlmsghdr header;
  inet_diag_req_v2 body;
};

/// Fills one end of the connection; false for a family that sock_diag's inet part does not know.
bool fill_end(const socket_address& address, __be16& port, __be32 (&words)[4]) {
  if (address.family() == AF_INET) {
    const auto& v4 = *reinterpret_cast<const sockaddr_in*>(address.data());
    port = v4.sin_port;
    words[0] = v4.sin_addr.s_addr;
    return true;
  }
  if (address.family() == AF_INET6) {
    const auto& v6 = *reinterpret_cast<const sockaddr_in6*>(address.data());
    port = v6.sin6_port;
    std::memcpy(words, &v6.sin6_addr, sizeof words);
    return true;
  }
  return false;
}

peer_fate read_answer(int netlink) {
  alignas(nlmsghdr) char buffer[4096];
  const auto got = ::recv(netlink, buffer, sizeof buffer, 0);
  if (got < static_cast<ssize_t>(sizeof(nlmsghdr))) return peer_fate::unknown;
  const auto* header = reinterpret_cast<const nlmsghdr*>(buffer);
  if (!NLMSG_OK(header, static_cast<std::size_t>(got)) || header->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
      header->nlmsg_len < NLMSG_LENGTH(sizeof(inet_diag_msg))) {
    return peer_fate::unknown;
  }
  const auto* found = static_cast<const inet_diag_msg*>(NLMSG_DATA(header));
  return found->idiag_inode == 0 ? peer_fate::gone : peer_fate::half_closed;
}

} // namespace

peer_fate examine_peer(const stream_socket& socket) {
  if (socket.peer_hung_up()) return peer_fate::gone;
  if (socket.is_unix()) return peer_fate::half_closed;

  diag_request request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  const socket_address ours = socket_address::local_of(socket.fd());
  const socket_address theirs = socket_address::peer_of(socket.fd());
  auto& id = request.body.id;
  // The peer's socket is the one whose source is our destination. A socket that is absent proves nothing:
  // behind address translation or in another namespace it is listed elsewhere or under another name.
  if (!fill_end(theirs, id.idiag_sport, id.idiag_src) || !fill_end(ours, id.idiag_dport, id.idiag_dst)) {
    return peer_fate::unknown;
  }
  request.body.sdiag_family = static_cast<std::uint8_t>(ours.family());
  request.body.sdiag_protocol = IPPROTO_TCP;
  request.body.idiag_states = ~0u;
  id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
  id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;

  const unique_fd netlink(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG));
  if (!netlink) return peer_fate::unknown;
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  const auto sent = ::sendto(netlink.get(), &request, sizeof request, 0,
                             reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel);
  if (sent != static_cast<ssize_t>(sizeof request)) return peer_fate::unknown;
  return read_answer(netlink.get());
}

} // namespace ledgergate::net
