// The order in which a running sidecar ends: no new clients, idle sessions told, busy ones awaited, then
// everything else.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>

#include "config/settings.hpp"

namespace ledgergate::app {

/// What shutdown acts on, as calls, so that it depends on no part.
struct shutdown_steps {
  std::function<void()> stop_listening;
  std::function<void()> drain_sessions;
  std::function<void(std::function<void()> done)> stop_control;
  std::function<void()> end_sessions;
  std::function<std::size_t()> connections;
  std::function<void()> finish; ///< called once, last
};

/// Main thread.
class shutdown {
 public:
  shutdown(boost::asio::io_context& context, const config::drain_settings& drain, shutdown_steps steps);

  /// The first request drains, after drain.accept_for and bounded by drain.timeout; a second one is out of
  /// patience.
  void request();
  /// For a drain that begins later.
  void set_drain(const config::drain_settings& drain) { drain_ = drain; }
  bool requested() const { return requests_ > 0; }

 private:
  void begin_drain();
  void look_again();
  void look();
  void end_sessions();

  boost::asio::steady_timer timer_;
  config::drain_settings drain_;
  shutdown_steps steps_;
  unsigned requests_ = 0;
  bool draining_ = false;
  bool control_stopped_ = false;
  bool sessions_ended_ = false;
  bool finished_ = false;
  std::chrono::steady_clock::time_point deadline_{}; ///< of the drain, then of the end
};

} // namespace ledgergate::app
