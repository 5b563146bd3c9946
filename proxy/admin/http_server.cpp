#include "proxy/admin/http_server.hpp"

#include <algorithm>
#include <utility>

#include "proxy/admin/admin_listener.hpp"
#include "proxy/admin/http_connection.hpp"

namespace ledgergate::admin {
namespace {

/// So many connections beyond the limit are told that they are too many; further ones are only closed.
constexpr std::size_t refusals_at_once = 16;

/// The connection that has waited longest for its client: idle, or slow. Null when all are being served.
http_connection* longest_waiting(const connection_pool& pool) {
  http_connection* longest = nullptr;
  for (http_connection* candidate : pool.live) {
    const auto since = candidate->waiting_for_client_since();
    if (since && (longest == nullptr || *since < *longest->waiting_for_client_since())) longest = candidate;
  }
  return longest;
}

void admit(const std::shared_ptr<connection_pool>& pool, http_connection::socket_type socket,
           std::string peer) {
  const std::size_t live = pool->live.size();
  http_connection* const victim = live >= pool->limits.connections ? longest_waiting(*pool) : nullptr;
  if (victim == nullptr && live >= pool->limits.connections + refusals_at_once) return;
  const auto connection = std::make_shared<http_connection>(std::move(socket), std::move(peer), pool);
  if (victim != nullptr) {
    victim->close();
  } else if (live >= pool->limits.connections) {
    connection->refuse({http_status::service_unavailable, "too_many_connections",
                        "all connections of the admin port are in use", "try again in a moment"});
    return;
  }
  connection->start();
}

} // namespace

http_server::http_server(boost::asio::any_io_executor executor, request_handler handler, http_limits limits)
    : executor_(std::move(executor)), pool_(std::make_shared<connection_pool>()) {
  pool_->limits = limits;
  pool_->handler = std::move(handler);
}

http_server::~http_server() {
  stop();
  // What the handler refers to may be gone before the last connection is.
  pool_->handler = nullptr;
}

std::vector<std::string> http_server::listen(const config::endpoint& address) {
  bound_listeners bound = bind_admin_address(executor_, address);
  if (auto* problem = std::get_if<std::string>(&bound)) return {std::move(*problem)};
  listeners_ = std::get<std::vector<std::shared_ptr<admin_listener>>>(std::move(bound));
  for (const auto& listener : listeners_) {
    listener->accept([pool = pool_](http_connection::socket_type socket, std::string peer) {
      admit(pool, std::move(socket), std::move(peer));
    });
  }
  return {};
}

void http_server::use_tls(std::function<tls_context()> tls) { pool_->tls = std::move(tls); }

std::uint16_t http_server::port() const {
  return listeners_.empty() ? std::uint16_t{0} : listeners_.front()->port();
}

void http_server::stop() {
  for (const auto& listener : listeners_)
    listener->close();
  listeners_.clear();
  pool_->stopping = true;
  const std::vector<http_connection*> live = pool_->live;
  for (http_connection* connection : live)
    connection->finish();
}

std::size_t http_server::connection_count() const { return pool_->live.size(); }

} // namespace ledgergate::admin
