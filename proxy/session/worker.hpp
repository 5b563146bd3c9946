// One data-plane thread: an event loop and the sessions that live on it, from accept to close.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "proxy/net/event_loop.hpp"
#include "proxy/session/cancel_queue.hpp"
#include "proxy/session/session_host.hpp"
#include "proxy/session/session_info.hpp"

namespace ledgergate::session {

class session;

class worker final : private session_host {
 public:
  /// Throws std::system_error when the kernel gives no event loop: a set-up error.
  worker(const services& shared, observe::worker_counters& counters);
  ~worker();
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  void start();
  /// Ends the thread. Sessions that are left are cut off. Not from the worker's own thread.
  void stop();

  // From any thread.
  /// `listener`: where it was accepted, as an index into settings.listen.
  void add_client(net::unique_fd client, std::size_t listener);
  void drain();
  void end_sessions();
  /// Rules for the sessions that are there and for those that come. `taken` is let go when they are in force,
  /// on the worker's thread, or with the worker when that ends before.
  void publish(std::shared_ptr<const gate::gate_rules> rules, std::shared_ptr<void> taken);
  /// For the sessions and cancel requests that come.
  void use_patience(session_patience patience);
  /// `handler` is called once, on the worker's thread.
  void list_sessions(std::function<void(std::vector<session_info>)> handler);
  /// Connections that are still held, those that are just ending included.
  std::size_t connections() const { return connections_.load(std::memory_order_relaxed); }

 private:
  net::event_loop& loop() override { return loop_; }
  const services& shared() const override { return shared_; }
  const std::shared_ptr<const gate::gate_rules>& rules() const override { return rules_; }
  const session_patience& patience() const override { return patience_; }
  relay_tools& tools() override { return tools_; }
  void resolve_upstream(std::uint64_t session_id) override;
  void ask_control_row(std::uint64_t session_id) override;
  void ask_catalog(std::uint64_t session_id) override;
  void catalog_changed() override;
  void order_cancel(cancel_order order) override { cancels_.submit(std::move(order)); }
  void session_over(std::uint64_t session_id) override;

  void begin_session(net::unique_fd client, std::size_t listener);

  const services& shared_;
  std::shared_ptr<const gate::gate_rules> rules_;
  session_patience patience_;
  net::event_loop loop_;
  std::vector<char> scratch_;
  gate::actions actions_;
  relay_tools tools_;
  cancel_queue cancels_;
  std::unordered_map<std::uint64_t, std::unique_ptr<session>> sessions_;
  std::uint64_t last_id_ = 0;
  bool draining_ = false;
  std::atomic<std::size_t> connections_{0};
  std::thread thread_;
};

} // namespace ledgergate::session
