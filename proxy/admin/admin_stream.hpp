// The bytes of one connection to the admin port, in clear or through TLS: what is above sees no difference.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/basic_stream.hpp>

namespace ledgergate::admin {

/// Null: no TLS. An SSL_CTX of OpenSSL, shared by the connections that were made with it.
using tls_context = std::shared_ptr<ssl_ctx_st>;

/// An AsyncStream of Beast.
class admin_stream {
 public:
  using plain_stream = boost::beast::basic_stream<boost::asio::generic::stream_protocol>;
  using executor_type = plain_stream::executor_type;

  admin_stream(boost::asio::generic::stream_protocol::socket socket, const tls_context& tls)
      : plain_(std::move(socket)) {
    // The SSL keeps the context; the stream owns the SSL.
    if (tls) tls_.emplace(plain_, ::SSL_new(tls.get()));
  }

  executor_type get_executor() { return plain_.get_executor(); }
  bool is_tls() const { return tls_.has_value(); }

  template <typename Handler>
  void async_handshake(Handler&& handler) {
    tls_->async_handshake(boost::asio::ssl::stream_base::server, std::forward<Handler>(handler));
  }
  /// Says goodbye and waits for the client's; no other operation may be under way.
  template <typename Handler>
  void async_goodbye(Handler&& handler) {
    tls_->async_shutdown(std::forward<Handler>(handler));
  }
  template <typename Buffers, typename Handler>
  void async_read_some(const Buffers& buffers, Handler&& handler) {
    if (tls_) return tls_->async_read_some(buffers, std::forward<Handler>(handler));
    plain_.async_read_some(buffers, std::forward<Handler>(handler));
  }
  template <typename Buffers, typename Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
    if (tls_) return tls_->async_write_some(buffers, std::forward<Handler>(handler));
    plain_.async_write_some(buffers, std::forward<Handler>(handler));
  }

  void expires_after(std::chrono::steady_clock::duration limit) { plain_.expires_after(limit); }
  void expires_never() { plain_.expires_never(); }
  plain_stream::socket_type& socket() { return plain_.socket(); }
  void close() { plain_.close(); }

 private:
  plain_stream plain_;
  std::optional<boost::asio::ssl::stream<plain_stream&>> tls_;
};

} // namespace ledgergate::admin
