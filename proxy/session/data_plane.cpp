#include "proxy/session/data_plane.hpp"

#include <algorithm>
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

void data_plane::add_client(net::unique_fd client) {
  const auto least =
      std::min_element(workers_.begin(), workers_.end(), [](const auto& left, const auto& right) {
        return left->connections() < right->connections();
      });
  (*least)->add_client(std::move(client));
}

void data_plane::drain() {
  for (const auto& each : workers_)
    each->drain();
}

void data_plane::end_sessions() {
  for (const auto& each : workers_)
    each->end_sessions();
}

void data_plane::publish(const std::shared_ptr<const gate::gate_rules>& rules) {
  for (const auto& each : workers_)
    each->publish(rules);
}

void data_plane::stop() {
  for (const auto& each : workers_)
    each->stop();
}

std::size_t data_plane::connections() const {
  std::size_t total = 0;
  for (const auto& each : workers_)
    total += each->connections();
  return total;
}

} // namespace ledgergate::session
