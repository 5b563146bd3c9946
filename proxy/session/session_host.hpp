// What a session gets from the worker it lives on.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/gate/actions.hpp"
#include "proxy/gate/gate_rules.hpp"
#include "proxy/net/event_loop.hpp"
#include "proxy/net/name_resolver.hpp"
#include "proxy/net/stream_socket.hpp"
#include "proxy/observe/touch_report.hpp"
#include "proxy/observe/worker_counters.hpp"
#include "proxy/session/cancel_directory.hpp"
#include "proxy/session/session_log.hpp"
#include "proxy/session/session_registry.hpp"
#include "proxy/tls/context_set.hpp"

namespace ledgergate::session {

/// The transaction (xid8) that last wrote the control row; nothing when it could not be read.
using control_row_handler = std::function<void(std::optional<std::uint64_t>)>;
/// Whether the catalog was read, and every worker was told the rules that follow from it.
using catalog_handler = std::function<void(bool current)>;

/// What a reload may change for the sessions that come.
struct session_patience {
  std::chrono::milliseconds client_startup{}; ///< limits.client_startup_timeout
  std::chrono::milliseconds connect{};        ///< upstream.connect_timeout
};
session_patience patience_of(const config::settings& settings);

/// Shared by all workers; outlives them. Everything in it is immutable or thread-safe.
struct services {
  std::shared_ptr<const config::settings> settings; ///< to begin with: a reload changes no key that is read
                                                    ///< here but for the patience, which data_plane replaces
  std::shared_ptr<const gate::gate_rules> rules;    ///< to begin with: data_plane::publish() replaces them
  net::name_resolver& upstream;
  session_registry& registry;
  cancel_directory& cancels;
  session_log& log;
  /// Reads the control row anew, on whatever thread and connection: may be called from any thread, and may
  /// answer on any.
  std::function<void(control_row_handler)> read_control_row;
  /// Reads the catalog anew, in the same way.
  std::function<void(catalog_handler)> read_catalog;
  /// The certificates in force; none: no TLS on either side.
  const tls::context_store* tls = nullptr;
  /// Where gate.mode observe notes what it sees; none: nowhere.
  observe::touch_report* observed = nullptr;
};

/// What the relays of one worker share: they run one after the other, so one set is enough and stays in the
/// cache.
struct relay_tools {
  std::span<char> scratch;
  gate::actions& actions; ///< cleared before each engine call
  observe::worker_counters& counters;
  unsigned bursts = 0; ///< for sampling the added latency
};

/// A CancelRequest on its way to a server.
struct cancel_order {
  std::string packet; ///< the whole CancelRequest
  cancel_target target;
  net::parting_socket
      client; ///< who asked, closed when the server has acted; none when the proxy cancels by itself
};

class session_host {
 public:
  virtual net::event_loop& loop() = 0;
  virtual const services& shared() const = 0;
  /// The rules in force now.
  virtual const std::shared_ptr<const gate::gate_rules>& rules() const = 0;
  virtual const session_patience& patience() const = 0;
  virtual relay_tools& tools() = 0;

  /// Asks the resolver for the upstream's addresses; the session gets on_addresses() unless it is over by
  /// then.
  virtual void resolve_upstream(std::uint64_t session_id) = 0;
  /// Reads the control row; the session gets on_control_row() unless it is over by then.
  virtual void ask_control_row(std::uint64_t session_id) = 0;
  /// Reads the catalog; the session gets on_catalog() unless it is over by then.
  virtual void ask_catalog(std::uint64_t session_id) = 0;
  /// Something was defined that may be worth a reading; nobody waits for it.
  virtual void catalog_changed() = 0;
  virtual void order_cancel(cancel_order) = 0;
  /// The session has closed its sockets; it is destroyed at the end of the turn.
  virtual void session_over(std::uint64_t session_id) = 0;

 protected:
  ~session_host() = default;
};

} // namespace ledgergate::session
