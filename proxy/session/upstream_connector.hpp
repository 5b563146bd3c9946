// Connects one socket to the first address that answers, with TLS where that is asked for. Lives on a
// worker's loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/net/event_loop.hpp"
#include "proxy/net/socket_address.hpp"
#include "proxy/net/stream_socket.hpp"
#include "proxy/tls/context.hpp"

namespace ledgergate::session {

/// How a connection to the server is to be encrypted. Unix sockets never are.
struct upstream_encryption {
  config::upstream_tls_mode mode = config::upstream_tls_mode::off;
  tls::context with; ///< unless the mode is off
};

enum class connect_outcome : std::uint8_t { connected, failed, no_descriptor };

/// TCP, then, unless TLS is off, SSLRequest and the handshake (PostgreSQL manual, "SSL Session Encryption").
/// What a server says in clear before that is not believed and not shown: its one byte of answer is all that
/// is read, and more than that ends the attempt.
///
/// Tries the addresses in order. The whole of it ends within the budget; each address gets an equal share of
/// what is left, so that one that swallows packets does not use up the time of those behind it.
class upstream_connector final : public net::event_loop::disposable {
 public:
  using callback = std::function<void(connect_outcome)>;

  /// `done` is called once, possibly from within start(). The owner of `socket` passes its on_ready() on
  /// while connecting.
  upstream_connector(net::event_loop& loop, net::stream_socket& socket, callback done);

  void start(std::vector<net::socket_address> addresses, std::chrono::milliseconds budget,
             upstream_encryption encryption = {});
  void on_ready();
  /// No callback comes any more.
  void abandon();

  /// The one that is being tried or was connected.
  const net::socket_address& address() const { return addresses_[index_]; }
  /// For the log: each address that failed and why.
  const std::string& failures() const { return failures_; }

 private:
  void try_current();
  void try_next(const std::string& why);
  void settle(net::connect_status);
  void finish(connect_outcome);
  void arm();
  void connected();
  void read_answer();
  void take_answer(char answer);
  void shake_hands();
  void on_timer();
  net::event_loop::clock::duration share() const;

  net::stream_socket& socket_;
  callback done_;
  net::timer timer_;
  std::vector<net::socket_address> addresses_;
  std::size_t index_ = 0;
  net::event_loop::clock::time_point deadline_{};         ///< for everything
  net::event_loop::clock::time_point address_deadline_{}; ///< for the current address
  enum class stage : std::uint8_t { connecting, asked, shaking };
  stage stage_ = stage::connecting;
  upstream_encryption encryption_;
  bool busy_ = false; ///< a unix listener's backlog was full: the timer stands for the next attempt
  std::string failures_;
};

} // namespace ledgergate::session
