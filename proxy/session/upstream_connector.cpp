#include "proxy/session/upstream_connector.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace ledgergate::session {

namespace {

/// How soon a full backlog of a unix socket is tried again; the kernel announces nothing there.
constexpr std::chrono::milliseconds busy_retry{5};

std::string reason(int error) { return std::generic_category().message(error); }

} // namespace

upstream_connector::upstream_connector(net::event_loop& loop, net::stream_socket& socket, callback done)
    : socket_(socket), done_(std::move(done)), timer_(loop, [this] { on_timer(); }) {}

void upstream_connector::start(std::vector<net::socket_address> addresses, std::chrono::milliseconds budget) {
  addresses_ = std::move(addresses);
  deadline_ = net::event_loop::clock::now() + budget;
  if (addresses_.empty()) return finish(connect_outcome::failed);
  address_deadline_ = net::event_loop::clock::now() + share();
  try_current();
}

net::event_loop::clock::duration upstream_connector::share() const {
  const auto left = deadline_ - net::event_loop::clock::now();
  return left / static_cast<std::int64_t>(addresses_.size() - index_);
}

void upstream_connector::try_current() { settle(socket_.start_connect(addresses_[index_])); }

void upstream_connector::settle(net::connect_status status) {
  switch (status) {
  case net::connect_status::connected: return finish(connect_outcome::connected);
  case net::connect_status::no_descriptor: return finish(connect_outcome::no_descriptor);
  case net::connect_status::failed: return try_next(reason(socket_.last_error()));
  case net::connect_status::in_progress:
    busy_ = false;
    timer_.expire_after(std::max(address_deadline_ - net::event_loop::clock::now(), decltype(share()){}));
    return;
  case net::connect_status::busy:
    if (net::event_loop::clock::now() + busy_retry >= address_deadline_) return try_next("backlog is full");
    busy_ = true;
    timer_.expire_after(busy_retry);
    return;
  }
}

void upstream_connector::try_next(const std::string& why) {
  if (!failures_.empty()) failures_ += "; ";
  failures_ += addresses_[index_].to_text() + ": " + why;
  if (index_ + 1 == addresses_.size()) return finish(connect_outcome::failed);
  ++index_;
  address_deadline_ = net::event_loop::clock::now() + share();
  try_current();
}

void upstream_connector::on_ready() {
  if (busy_ || !done_) return;
  const net::connect_status status = socket_.finish_connect();
  if (status != net::connect_status::in_progress) settle(status);
}

void upstream_connector::on_timer() {
  if (busy_) {
    try_current();
  } else {
    try_next("timed out");
  }
}

void upstream_connector::abandon() {
  timer_.cancel();
  done_ = nullptr;
}

void upstream_connector::finish(connect_outcome outcome) {
  timer_.cancel();
  if (outcome != connect_outcome::connected) socket_.close();
  const callback done = std::exchange(done_, nullptr);
  if (done) done(outcome);
}

} // namespace ledgergate::session
