// What a service manager that started the process is told: systemd's notification protocol, a datagram of
// NAME=VALUE lines to the socket in $NOTIFY_SOCKET (manual page sd_notify(3)). The protocol is small and
// promised to stay, and libsystemd would bring five more libraries into the process.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace ledgergate::app {

/// What the environment says: empty or nullopt where it says nothing, or nothing to this process.
struct service_environment {
  std::string socket;                                ///< path, or @name of an abstract socket
  std::optional<std::chrono::microseconds> watchdog; ///< the manager kills what is silent for so long
};

service_environment read_service_environment();

/// Main thread. Without a socket every call does nothing. A notification that cannot be sent is dropped: the
/// manager's own timeouts say what happens then.
class service_manager {
 public:
  /// `ask_all` calls its argument, on any thread, when every thread of the process has answered: what the
  /// watchdog is told depends on it, so that one thread that hangs is enough to be noticed.
  service_manager(boost::asio::io_context& io, service_environment environment,
                  std::function<void(std::function<void()>)> ask_all);

  /// Clients can connect.
  void ready(const std::string& status);
  /// The end has begun and may take as long as `patience`.
  void stopping(std::chrono::milliseconds patience);

 private:
  void send(const std::string& lines) const;
  void feed_watchdog();

  boost::asio::io_context& io_;
  const service_environment environment_;
  const std::function<void(std::function<void()>)> ask_all_;
  boost::asio::steady_timer timer_;
};

} // namespace ledgergate::app
