// One listening socket of the admin port: binding it, and accepting from it until it is closed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "config/settings.hpp"
#include "proxy/admin/http_connection.hpp"

namespace ledgergate::admin {

class admin_listener {
 public:
  /// Takes an accepted socket and the name of its peer.
  using accept_handler = std::function<void(http_connection::socket_type socket, std::string peer)>;

  virtual ~admin_listener() = default;

  /// Accepts until close(). After an error (no descriptors left) it waits a moment and goes on.
  virtual void accept(accept_handler handler) = 0;

  virtual void close() = 0;

  /// 0 for a unix socket.
  virtual std::uint16_t port() const = 0;
};

/// The listeners of one address, or, in their place, what went wrong.
using bound_listeners = std::variant<std::vector<std::shared_ptr<admin_listener>>, std::string>;

/// Binds `host:port` on every address the host stands for, or a unix socket of mode 0600 (see
/// http_server::listen).
[[nodiscard]] bound_listeners bind_admin_address(boost::asio::any_io_executor executor,
                                                 const config::endpoint& address);

} // namespace ledgergate::admin
