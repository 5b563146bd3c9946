// Finds out whether the upstream can be connected to while no client tries: at start, and after a failure
// until it is back.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "proxy/net/name_resolver.hpp"
#include "proxy/session/session_registry.hpp"

namespace ledgergate::app {

/// Connects and closes at once, once a second, and only while the registry does not call the upstream
/// reachable, nothing was learnt yet, or the upstream is in doubt (the control connection is down): a healthy
/// server sees one such connection in the sidecar's life. Main thread.
class upstream_probe {
 public:
  upstream_probe(boost::asio::io_context& context, net::name_resolver& resolver,
                 session::session_registry& registry, std::function<bool()> in_doubt);
  ~upstream_probe();
  upstream_probe(const upstream_probe&) = delete;
  upstream_probe& operator=(const upstream_probe&) = delete;

  void start();
  void stop();
  /// At least one attempt has come to its end.
  bool known() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

} // namespace ledgergate::app
