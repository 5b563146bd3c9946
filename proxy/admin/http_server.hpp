// Listens on the admin address and owns the connections. Runs on the main thread's event loop; nothing here
// blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "config/settings.hpp"
#include "proxy/admin/admin_stream.hpp"
#include "proxy/admin/http_limits.hpp"
#include "proxy/admin/replies.hpp"

namespace ledgergate::admin {

struct connection_pool;
class admin_listener;

class http_server {
 public:
  http_server(boost::asio::any_io_executor executor, request_handler handler, http_limits limits = {});
  ~http_server();
  /// From the next connection on: `tls` is asked for the context of each, and null means in clear.
  void use_tls(std::function<tls_context()> tls);
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  /// Binds and begins to accept. A name that stands for several addresses is listened to on all of them.
  /// Returns what went wrong, one sentence each, empty when all is well; after an error nothing is listened
  /// to.
  ///
  /// A unix socket gets mode 0600. One that a dead process left behind is replaced; one that somebody still
  /// listens to, or a path that is not a socket, is left alone and is an error.
  [[nodiscard]] std::vector<std::string> listen(const config::endpoint& address);

  /// The TCP port listened to, useful when the address said port 0; 0 on a unix socket.
  std::uint16_t port() const;

  /// Stops accepting and removes the unix socket. Connections end with the answer they are about to give.
  void stop();

  std::size_t connection_count() const;

 private:
  boost::asio::any_io_executor executor_;
  std::shared_ptr<connection_pool> pool_;
  std::vector<std::shared_ptr<admin_listener>> listeners_;
};

} // namespace ledgergate::admin
