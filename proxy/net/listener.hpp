// Accepts clients on the main thread and hands their sockets on.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>

#include "proxy/net/listening_socket.hpp"
#include "proxy/net/unique_fd.hpp"

namespace ledgergate::net {

/// One listening socket. When the process is out of descriptors it pauses a moment instead of spinning; when
/// that lasts it turns clients away with a descriptor that it keeps in reserve.
class listener {
 public:
  using accepted = std::function<void(unique_fd)>;
  /// `turn_away` gets a socket that is closed right afterwards; it may send a few last bytes.
  listener(boost::asio::io_context& context, listening_socket socket, accepted accept, accepted turn_away);
  ~listener();
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;

  void start();
  /// Stops listening and removes a unix socket's file. No callback comes afterwards.
  void stop();
  const socket_address& address() const { return address_; }

 private:
  struct state;
  std::shared_ptr<state> state_;
  socket_address address_;
};

} // namespace ledgergate::net
