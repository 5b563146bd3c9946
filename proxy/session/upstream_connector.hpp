// Connects one socket to the first address that answers. Lives on a worker's loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "proxy/net/event_loop.hpp"
#include "proxy/net/socket_address.hpp"
#include "proxy/net/stream_socket.hpp"

namespace ledgergate::session {

enum class connect_outcome : std::uint8_t { connected, failed, no_descriptor };

/// Tries the addresses in order. The whole of it ends within the budget; each address gets an equal share of
/// what is left, so that one that swallows packets does not use up the time of those behind it.
class upstream_connector final : public net::event_loop::disposable {
 public:
  using callback = std::function<void(connect_outcome)>;

  /// `done` is called once, possibly from within start(). The owner of `socket` passes its on_ready() on
  /// while connecting.
  upstream_connector(net::event_loop& loop, net::stream_socket& socket, callback done);

  void start(std::vector<net::socket_address> addresses, std::chrono::milliseconds budget);
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
  void on_timer();
  net::event_loop::clock::duration share() const;

  net::stream_socket& socket_;
  callback done_;
  net::timer timer_;
  std::vector<net::socket_address> addresses_;
  std::size_t index_ = 0;
  net::event_loop::clock::time_point deadline_{};         ///< for everything
  net::event_loop::clock::time_point address_deadline_{}; ///< for the current address
  bool busy_ = false; ///< a unix listener's backlog was full: the timer stands for the next attempt
  std::string failures_;
};

} // namespace ledgergate::session
