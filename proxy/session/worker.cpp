#include "proxy/session/worker.hpp"

#include <pthread.h>
#include <signal.h>

#include <utility>

#include "proxy/session/session.hpp"

namespace ledgergate::session {

namespace {

/// Large enough that bulk COPY spends its time in copying and not in system calls, small enough to stay in
/// the cache.
constexpr std::size_t scratch_bytes = 256 * 1024;

} // namespace

session_patience patience_of(const config::settings& settings) {
  return {settings.limits.client_startup_timeout, settings.upstream.connect_timeout};
}

worker::worker(const services& shared, observe::worker_counters& counters)
    : shared_(shared), rules_(shared.rules), patience_(patience_of(*shared.settings)),
      scratch_(scratch_bytes), tools_{scratch_, actions_, counters}, cancels_(loop_, patience_, shared.tls) {}

worker::~worker() { stop(); }

void worker::start() {
  // Signals are the main thread's business.
  sigset_t all{};
  sigset_t before{};
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { loop_.run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void worker::stop() {
  if (!thread_.joinable()) return;
  loop_.stop();
  thread_.join();
}

void worker::add_client(net::unique_fd client, std::size_t listener) {
  connections_.fetch_add(1, std::memory_order_relaxed);
  auto shared_client =
      std::make_shared<net::unique_fd>(std::move(client)); // std::function wants to be copyable
  loop_.post([this, shared_client, listener] { begin_session(std::move(*shared_client), listener); });
}

void worker::begin_session(net::unique_fd client, std::size_t listener) {
  const std::uint64_t id = ++last_id_;
  auto made = std::make_unique<session>(id, static_cast<session_host&>(*this));
  session& begun = *made;
  sessions_.emplace(id, std::move(made));
  begun.begin(std::move(client), listener);
  if (draining_) begun.begin_drain();
}

void worker::session_over(std::uint64_t session_id) {
  auto node = sessions_.extract(session_id);
  if (node.empty()) return;
  loop_.dispose(std::move(node.mapped()));
  connections_.fetch_sub(1, std::memory_order_relaxed);
}

void worker::resolve_upstream(std::uint64_t session_id) {
  shared_.upstream.resolve([this, session_id](const net::resolution& found) {
    loop_.post([this, session_id, found] {
      const auto at = sessions_.find(session_id);
      if (at != sessions_.end()) at->second->on_addresses(found);
    });
  });
}

void worker::ask_control_row(std::uint64_t session_id) {
  auto answer = [this, session_id](std::optional<std::uint64_t> writer) {
    loop_.post([this, session_id, writer] {
      const auto at = sessions_.find(session_id);
      if (at != sessions_.end()) at->second->on_control_row(writer);
    });
  };
  shared_.read_control_row(std::move(answer));
}

void worker::ask_catalog(std::uint64_t session_id) {
  auto answer = [this, session_id](bool current) {
    loop_.post([this, session_id, current] {
      const auto at = sessions_.find(session_id);
      if (at != sessions_.end()) at->second->on_catalog(current);
    });
  };
  shared_.read_catalog(std::move(answer));
}

void worker::catalog_changed() {
  shared_.read_catalog([](bool) {});
}

void worker::publish(std::shared_ptr<const gate::gate_rules> rules, std::shared_ptr<void> taken) {
  loop_.post([this, rules = std::move(rules), taken = std::move(taken)] {
    rules_ = rules;
    for (const auto& [id, each] : sessions_)
      each->use_rules(rules_);
  });
}

void worker::use_patience(session_patience patience) {
  loop_.post([this, patience] {
    patience_ = patience;
    cancels_.use_patience(patience);
  });
}

void worker::list_sessions(std::function<void(std::vector<session_info>)> handler) {
  loop_.post([this, handler = std::move(handler)] {
    std::vector<session_info> all;
    all.reserve(sessions_.size());
    for (const auto& [id, each] : sessions_)
      all.push_back(each->info());
    handler(std::move(all));
  });
}

void worker::drain() {
  loop_.post([this] {
    draining_ = true;
    std::vector<session*> all;
    for (const auto& [id, each] : sessions_)
      all.push_back(each.get());
    for (session* each : all)
      each->begin_drain();
  });
}

void worker::end_sessions() {
  loop_.post([this] {
    std::vector<session*> all;
    for (const auto& [id, each] : sessions_)
      all.push_back(each.get());
    for (session* each : all)
      each->end_now();
  });
}

} // namespace ledgergate::session
