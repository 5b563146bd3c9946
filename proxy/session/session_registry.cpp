#include "proxy/session/session_registry.hpp"

namespace ledgergate::session {

const char* to_string(session_result result) {
  switch (result) {
  case session_result::completed: return "completed";
  case session_result::client_lost: return "client_lost";
  case session_result::server_closed: return "server_closed";
  case session_result::protocol_violation: return "protocol_violation";
  case session_result::upstream_unreachable: return "upstream_unreachable";
  case session_result::too_many_clients: return "too_many_clients";
  case session_result::startup_refused: return "startup_refused";
  case session_result::startup_timeout: return "startup_timeout";
  case session_result::probe: return "probe";
  case session_result::cancel_request: return "cancel_request";
  case session_result::drained: return "drained";
  }
  return "unknown";
}

bool session_registry::admit() {
  const std::size_t before = clients_.fetch_add(1, std::memory_order_relaxed);
  if (before < max_clients_.load(std::memory_order_relaxed)) return true;
  release();
  return false;
}

void session_registry::count_end(session_result result) {
  ended_[static_cast<std::size_t>(result)].fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t session_registry::ended(session_result result) const {
  return ended_[static_cast<std::size_t>(result)].load(std::memory_order_relaxed);
}

observe::client_figures session_registry::figures() const {
  observe::client_figures made;
  made.now = clients();
  made.ungated = ungated();
  for (std::size_t i = 0; i < session_result_count; ++i) {
    const auto result = static_cast<session_result>(i);
    made.ended.emplace_back(to_string(result), ended(result));
  }
  return made;
}

void session_registry::upstream_connected() {
  if (upstream_reachable_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(upstream_mutex_);
  upstream_ = {};
  upstream_reachable_.store(true, std::memory_order_relaxed);
}

void session_registry::upstream_failed(const std::string& why) {
  const std::lock_guard lock(upstream_mutex_);
  upstream_.reachable = false;
  ++upstream_.failures_in_a_row;
  upstream_.last_failure = why;
  upstream_reachable_.store(false, std::memory_order_relaxed);
}

upstream_health session_registry::upstream() const {
  const std::lock_guard lock(upstream_mutex_);
  return upstream_;
}

} // namespace ledgergate::session
