// All workers together, as the application sees them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "proxy/observe/metrics.hpp"
#include "proxy/session/worker.hpp"

namespace ledgergate::session {

/// Called from the main thread.
class data_plane {
 public:
  /// `shared` must outlive it. Throws std::system_error as worker does.
  data_plane(const services& shared, observe::metrics& metrics, unsigned threads);

  void start();
  /// Hands an accepted, non-blocking socket to the worker that has the fewest. `listener`: where it was
  /// accepted, as an index into settings.listen.
  void add_client(net::unique_fd client, std::size_t listener = 0);
  /// Idle sessions are ended (57P01), busy ones when they become idle, new ones refused (57P03).
  void drain();
  /// What is left is ended: statements are cancelled on the server.
  void end_sessions();
  /// Replaces the rules, also of the sessions that are running. Each worker takes them in its turn.
  /// `in_force` is called once, on any thread, when no worker is left that judges by older ones: each has
  /// taken them or has ended.
  void publish(const std::shared_ptr<const gate::gate_rules>& rules, std::function<void()> in_force);
  void use_patience(session_patience patience);
  void stop();
  /// All sessions, oldest first. `handler` is called once, on some worker's thread.
  void list_sessions(std::function<void(std::vector<session_info>)> handler) const;

  std::size_t connections() const;
  std::size_t threads() const { return workers_.size(); }

 private:
  std::vector<std::unique_ptr<worker>> workers_;
};

} // namespace ledgergate::session
