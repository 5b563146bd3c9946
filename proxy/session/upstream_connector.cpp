#include "proxy/session/upstream_connector.hpp"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "protocol/startup_message.hpp"
#include "protocol/wire.hpp"

namespace ledgergate::session {

namespace {

/// How soon a full backlog of a unix socket is tried again; the kernel announces nothing there.
constexpr std::chrono::milliseconds busy_retry{5};

std::string reason(int error) { return std::generic_category().message(error); }

} // namespace

upstream_connector::upstream_connector(net::event_loop& loop, net::stream_socket& socket, callback done)
    : socket_(socket), done_(std::move(done)), timer_(loop, [this] { on_timer(); }) {}

void upstream_connector::start(std::vector<net::socket_address> addresses, std::chrono::milliseconds budget,
                               upstream_encryption encryption) {
  addresses_ = std::move(addresses);
  encryption_ = std::move(encryption);
  deadline_ = net::event_loop::clock::now() + budget;
  if (addresses_.empty()) return finish(connect_outcome::failed);
  address_deadline_ = net::event_loop::clock::now() + share();
  try_current();
}

net::event_loop::clock::duration upstream_connector::share() const {
  const auto left = deadline_ - net::event_loop::clock::now();
  return left / static_cast<std::int64_t>(addresses_.size() - index_);
}

void upstream_connector::try_current() {
  stage_ = stage::connecting;
  settle(socket_.start_connect(addresses_[index_]));
}

void upstream_connector::settle(net::connect_status status) {
  switch (status) {
  case net::connect_status::connected: return connected();
  case net::connect_status::no_descriptor: return finish(connect_outcome::no_descriptor);
  case net::connect_status::failed: return try_next(reason(socket_.last_error()));
  case net::connect_status::in_progress: busy_ = false; return arm();
  case net::connect_status::busy:
    if (net::event_loop::clock::now() + busy_retry >= address_deadline_) return try_next("backlog is full");
    busy_ = true;
    timer_.expire_after(busy_retry);
    return;
  }
}

void upstream_connector::arm() {
  timer_.expire_after(std::max(address_deadline_ - net::event_loop::clock::now(), decltype(share()){}));
}

void upstream_connector::connected() {
  if (encryption_.mode == config::upstream_tls_mode::off || addresses_[index_].is_unix()) {
    return finish(connect_outcome::connected);
  }
  busy_ = false;
  stage_ = stage::asked;
  std::string request;
  protocol::append_int32(request, protocol::min_startup_bytes);
  protocol::append_int32(request, protocol::ssl_request_code);
  // Eight bytes on a fresh connection: the kernel takes them whole.
  if (socket_.write(request).bytes != request.size()) return try_next("cannot be written to");
  arm();
  read_answer();
}

void upstream_connector::read_answer() {
  std::array<char, 2> answer{};
  const net::io_result result = socket_.read(answer);
  switch (result.status) {
  case net::io_status::would_block: return;
  case net::io_status::ok: break;
  case net::io_status::end:
  case net::io_status::failed: return try_next("closed the connection when asked for TLS");
  }
  // Whoever is on the way could have put it there, and behind the handshake it would count as the server's.
  if (result.bytes > 1) return try_next("sent unencrypted data with its answer to the request for TLS");
  take_answer(answer[0]);
}

void upstream_connector::take_answer(char answer) {
  switch (answer) {
  case 'S': break;
  case 'N':
    if (encryption_.mode == config::upstream_tls_mode::prefer) return finish(connect_outcome::connected);
    return try_next("does not offer TLS, which upstream.tls.mode demands");
  case 'E': return try_next("answered the request for TLS with an error");
  default: return try_next("gave no valid answer to the request for TLS");
  }
  const bool must_name = encryption_.mode == config::upstream_tls_mode::verify_full;
  const net::tls_peer to{addresses_[index_].name(), must_name};
  if (!socket_.connect_tls(encryption_.with, to)) return try_next("TLS cannot be begun");
  stage_ = stage::shaking;
  shake_hands();
}

void upstream_connector::shake_hands() {
  switch (socket_.shake_hands()) {
  case net::tls_status::want_input: return;
  case net::tls_status::ok: return finish(connect_outcome::connected);
  case net::tls_status::closed:
  case net::tls_status::failed: break;
  }
  const std::string& why = socket_.tls_failure();
  try_next("TLS handshake failed: " + (why.empty() ? "the connection was closed" : why));
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
  if (stage_ == stage::asked) return read_answer();
  if (stage_ == stage::shaking) return shake_hands();
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
