// Carries CancelRequests to servers, a bounded number at once: a storm of them must not take the descriptors
// or the time of the sessions. Lives on one worker.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <unordered_map>

#include "proxy/net/event_loop.hpp"
#include "proxy/session/session_host.hpp"
#include "proxy/session/upstream_connector.hpp"

namespace ledgergate::session {

class cancel_job;

class cancel_queue {
 public:
  /// A client's order may wait for its turn as long as its start-up might have taken. `tls`: for servers that are
  /// encrypted; may be null when none is.
  cancel_queue(net::event_loop& loop, session_patience patience, const tls::context_store* tls);
  ~cancel_queue();

  /// An order of the proxy's own (without a client) goes at once; a client's waits for its turn or, when too
  /// many wait or it waited too long, is dropped with its socket closed, as by a server that is out of
  /// connections.
  void submit(cancel_order);
  /// For the orders that come.
  void use_patience(session_patience patience) { patience_ = patience; }

  /// Jobs on their way and orders that wait.
  std::size_t size() const { return jobs_.size() + waiting_.size(); }

 private:
  friend class cancel_job;
  struct waiting_order {
    cancel_order order;
    net::event_loop::clock::time_point deadline;
  };

  upstream_encryption encryption_of(const cancel_target&) const;
  void begin(cancel_order);
  void finished(cancel_job&);

  net::event_loop& loop_;
  session_patience patience_;
  const tls::context_store* const tls_;
  std::deque<waiting_order> waiting_;
  std::unordered_map<cancel_job*, std::unique_ptr<cancel_job>> jobs_;
};

} // namespace ledgergate::session
