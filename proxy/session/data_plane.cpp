#include "proxy/session/data_plane.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

namespace ledgergate::session {

data_plane::data_plane(const services& shared, observe::metrics& metrics, unsigned threads) {
  for (unsigned i = 0; i < std::max(threads, 1U); ++i) {
    workers_.push_back(std::make_unique<worker>(shared, metrics.add_worker()));
  }
}

void data_plane::start() {
  for (const auto& each : workers_)
    each->start();
}

void data_plane::add_client(net::unique_fd client, std::size_t listener) {
  const auto least =
      std::min_element(workers_.begin(), workers_.end(), [](const auto& left, const auto& right) {
        return left->connections() < right->connections();
      });
  (*least)->add_client(std::move(client), listener);
}

void data_plane::drain() {
  for (const auto& each : workers_)
    each->drain();
}

void data_plane::end_sessions() {
  for (const auto& each : workers_)
    each->end_sessions();
}

void data_plane::publish(const std::shared_ptr<const gate::gate_rules>& rules,
                         std::function<void()> in_force) {
  // Whoever lets go of it last calls: also when a worker ends with the rules still in its queue.
  const std::shared_ptr<void> taken(nullptr, [in_force = std::move(in_force)](void*) { in_force(); });
  for (const auto& each : workers_)
    each->publish(rules, taken);
}

void data_plane::use_patience(session_patience patience) {
  for (const auto& each : workers_)
    each->use_patience(patience);
}

void data_plane::stop() {
  for (const auto& each : workers_)
    each->stop();
}

void data_plane::list_sessions(std::function<void(std::vector<session_info>)> handler) const {
  struct gathering {
    std::mutex mutex;
    std::vector<session_info> sessions;
    std::size_t missing = 0;
    std::function<void(std::vector<session_info>)> handler;
  };
  const auto all = std::make_shared<gathering>();
  all->missing = workers_.size();
  all->handler = std::move(handler);
  for (const auto& each : workers_) {
    each->list_sessions([all](std::vector<session_info> found) {
      std::unique_lock lock(all->mutex);
      all->sessions.insert(all->sessions.end(), std::make_move_iterator(found.begin()),
                           std::make_move_iterator(found.end()));
      if (--all->missing > 0) return;
      lock.unlock();
      std::stable_sort(
          all->sessions.begin(), all->sessions.end(),
          [](const session_info& left, const session_info& right) { return left.age > right.age; });
      all->handler(std::move(all->sessions));
    });
  }
}

std::size_t data_plane::connections() const {
  std::size_t total = 0;
  for (const auto& each : workers_)
    total += each->connections();
  return total;
}

} // namespace ledgergate::session
