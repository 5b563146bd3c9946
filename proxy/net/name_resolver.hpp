// Names to addresses for the workers, by the system's resolver.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/net/socket_address.hpp"

namespace ledgergate::net {

struct resolution {
  std::vector<socket_address>
      addresses;        ///< places in the given order, each place's addresses in the resolver's order
  std::string failures; ///< for the log: names that were not found, or not in time
};

/// Never blocks a caller. Nothing is cached: each answer comes from look-ups that began after it was asked
/// for (those that are asked for while one of the same name runs share the next one). Names are looked up
/// independently of each other, each on a thread of its own while it lasts, since getaddrinfo blocks and may
/// take long for one of them.
class name_resolver {
 public:
  using callback = std::function<void(const resolution&)>;

  /// `patience`: how long an answer waits for all names. After it, it consists of what was found by then.
  name_resolver(boost::asio::io_context& context, std::vector<place> places,
                std::chrono::milliseconds patience);
  /// A look-up that still runs is left behind; its answer goes nowhere.
  ~name_resolver();
  name_resolver(const name_resolver&) = delete;
  name_resolver& operator=(const name_resolver&) = delete;

  /// All places are literal addresses or unix sockets: literal_addresses() answers at once, resolve() is not
  /// needed.
  bool is_literal() const { return is_literal_; }
  const std::vector<socket_address>& literal_addresses() const { return literal_addresses_; }

  /// From any thread. `done` runs on the io_context's thread, or never when the io_context stops first.
  void resolve(callback done);

 private:
  struct state;
  std::shared_ptr<state> state_;
  bool is_literal_ = true;
  std::vector<socket_address> literal_addresses_;
};

} // namespace ledgergate::net
