#include "proxy/admin/http_connection.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <utility>

namespace ledgergate::admin {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

namespace {

constexpr std::size_t read_chunk_bytes = 4096;

api_error malformed(const boost::system::error_code& ec, const http_limits& limits) {
  if (ec == http::error::body_limit) {
    return {http_status::payload_too_large, "body_too_large",
            "the body is larger than " + std::to_string(limits.body_bytes) + " bytes",
            "send one small JSON object"};
  }
  if (ec == http::error::header_limit || ec == http::error::buffer_overflow) {
    return {http_status::request_header_fields_too_large, "header_too_large",
            "the header is larger than " + std::to_string(limits.header_bytes) + " bytes",
            "send fewer fields"};
  }
  if (ec == http::error::bad_version) {
    return {http_status::http_version_not_supported, "bad_version", "this HTTP version is not spoken here",
            "use HTTP/1.1"};
  }
  return {http_status::bad_request, "malformed_request",
          "this is not a valid HTTP request (" + ec.message() + ")",
          "this is the admin port; PostgreSQL clients use the address under 'listen'"};
}

} // namespace

http_connection::http_connection(socket_type socket, std::string peer, std::shared_ptr<connection_pool> pool)
    : stream_(std::move(socket), pool->tls ? pool->tls() : nullptr), peer_(std::move(peer)),
      pool_(std::move(pool)), buffer_(pool_->limits.header_bytes + pool_->limits.body_bytes),
      backend_timer_(stream_.get_executor()) {
  pool_->live.push_back(this);
}

http_connection::~http_connection() { std::erase(pool_->live, this); }

void http_connection::start() {
  if (!stream_.is_tls()) return wait_for_request();
  enter(phase::reading);
  stream_.expires_after(pool_->limits.request_deadline);
  stream_.async_handshake([self = shared_from_this()](error_code ec) {
    // Who speaks no TLS, or shows no certificate that is asked for, gets the alert and no answer.
    if (!ec && self->phase_ == phase::reading) self->wait_for_request();
  });
}

void http_connection::refuse(const api_error& error) {
  // One that was not greeted yet cannot be answered through TLS.
  if (stream_.is_tls() && request_number_ == 0 && !parser_) return close();
  response_ = error_reply(error);
  keep_alive_ = false;
  write();
}

void http_connection::close() {
  enter(phase::lingering);
  feed_.reset();
  backend_timer_.cancel();
  stream_.close();
}

void http_connection::finish() {
  if (phase_ == phase::reading || phase_ == phase::lingering || phase_ == phase::streaming) close();
}

std::optional<std::chrono::steady_clock::time_point> http_connection::waiting_for_client_since() const {
  if (phase_ == phase::handling) return std::nullopt;
  return phase_since_;
}

void http_connection::enter(phase next) {
  phase_ = next;
  phase_since_ = std::chrono::steady_clock::now();
}

// A connection that has nothing to say may stay longer than one that has begun a request.
void http_connection::wait_for_request() {
  enter(phase::reading);
  if (buffer_.size() > 0) {
    read_header();
    return;
  }
  stream_.expires_after(pool_->limits.idle_deadline);
  stream_.async_read_some(buffer_.prepare(read_chunk_bytes),
                          [self = shared_from_this()](error_code ec, std::size_t size) {
                            if (ec) return;
                            self->buffer_.commit(size);
                            self->read_header();
                          });
}

// The deadline set here also covers the body: however slowly the bytes come, the request ends in time.
void http_connection::read_header() {
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(pool_->limits.header_bytes));
  parser_->body_limit(pool_->limits.body_bytes);
  stream_.expires_after(pool_->limits.request_deadline);
  http::async_read_header(stream_, buffer_, *parser_,
                          [self = shared_from_this()](error_code ec, std::size_t) { self->on_header(ec); });
}

void http_connection::on_header(error_code ec) {
  if (ec) {
    refuse_malformed(ec);
    return;
  }
  if (!parser_->is_done() && beast::iequals(parser_->get()[http::field::expect], "100-continue")) {
    continue_expected_body();
    return;
  }
  read_body();
}

void http_connection::continue_expected_body() {
  interim_response_ = {http::status::continue_, 11};
  http::async_write(stream_, interim_response_, [self = shared_from_this()](error_code ec, std::size_t) {
    if (!ec) self->read_body();
  });
}

void http_connection::read_body() {
  http::async_read(stream_, buffer_, *parser_,
                   [self = shared_from_this()](error_code ec, std::size_t) { self->on_body(ec); });
}

void http_connection::on_body(error_code ec) {
  if (ec) {
    refuse_malformed(ec);
    return;
  }
  handle();
}

void http_connection::handle() {
  enter(phase::handling);
  stream_.expires_never();
  head_only_ = parser_->get().method() == http::verb::head;
  keep_alive_ = parser_->get().keep_alive();

  const std::uint64_t number = ++request_number_;
  const std::shared_ptr<http_connection> self = shared_from_this();
  backend_timer_.expires_after(pool_->limits.backend_deadline);
  backend_timer_.async_wait([self, number](error_code ec) {
    if (ec) return;
    self->on_answer(number, error_reply({http_status::gateway_timeout, "no_answer_in_time",
                                         "the sidecar did not finish this request in time",
                                         "what was asked may still happen: look at GET /v1/status"}));
  });
  // The backend may keep the responder for longer than there is an event loop, so it does not keep the
  // connection: the timer does, for as long as an answer is wanted.
  respond::take_response answered = [weak = weak_from_this(), number](http_response response) {
    if (const auto connection = weak.lock()) connection->on_answer(number, std::move(response));
  };
  respond::take_feed streamed = [weak = weak_from_this(), number](std::shared_ptr<event_feed> feed) {
    if (const auto connection = weak.lock()) connection->stream(number, std::move(feed));
  };
  pool_->handler(parser_->get(), peer_, respond(std::move(answered), std::move(streamed)));
}

void http_connection::on_answer(std::uint64_t request_number, http_response response) {
  if (phase_ != phase::handling || request_number != request_number_) return;
  backend_timer_.cancel();
  response_ = std::move(response);
  write();
}

void http_connection::write() {
  enter(phase::writing);
  if (pool_->stopping) keep_alive_ = false;
  response_->keep_alive(keep_alive_);
  stream_.expires_after(pool_->limits.write_deadline);
  auto done = [self = shared_from_this()](error_code ec, std::size_t) { self->on_written(ec); };
  if (head_only_) {
    head_response_.emplace(response_->base());
    http::async_write(stream_, *head_response_, std::move(done));
  } else {
    http::async_write(stream_, *response_, std::move(done));
  }
}

void http_connection::on_written(error_code ec) {
  if (ec) return;
  if (!keep_alive_ || pool_->stopping) {
    linger();
    return;
  }
  wait_for_request();
}

// The end of the events is the end of the connection: there is no length to announce.
void http_connection::stream(std::uint64_t request_number, std::shared_ptr<event_feed> feed) {
  if (phase_ != phase::handling || request_number != request_number_) return;
  enter(phase::streaming);
  keep_alive_ = false;
  feed_ = std::move(feed);
  feed_->on_news([weak = weak_from_this()] {
    if (const auto connection = weak.lock()) connection->stream_on();
  });
  stream_.expires_never();
  await_end_of_client();
  write_events("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
               "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n");
}

void http_connection::stream_on() {
  if (phase_ != phase::streaming || writing_events_) return;
  if (feed_->dropped()) {
    close();
    return;
  }
  std::string text = feed_->take();
  if (!text.empty()) {
    write_events(std::move(text));
  } else if (feed_->finished()) {
    feed_.reset();
    backend_timer_.cancel();
    // The read that awaits the client's end goes on as the swallowing of what it still sends.
    enter(phase::lingering);
    error_code ignored;
    stream_.socket().shutdown(boost::asio::socket_base::shutdown_send, ignored);
    backend_timer_.expires_after(pool_->limits.linger_deadline);
    backend_timer_.async_wait([self = shared_from_this()](error_code ec) {
      if (!ec) self->stream_.close();
    });
  }
}

void http_connection::write_events(std::string text) {
  events_ = std::move(text);
  writing_events_ = true;
  stream_.expires_after(pool_->limits.write_deadline);
  asio::async_write(stream_, asio::buffer(events_), [self = shared_from_this()](error_code ec, std::size_t) {
    self->writing_events_ = false;
    if (self->phase_ != phase::streaming) return;
    if (ec) {
      self->close();
      return;
    }
    self->backend_timer_.expires_after(self->pool_->limits.event_silence);
    self->backend_timer_.async_wait([self](error_code silence) {
      // A comment, by which proxies and the client see that it still lives.
      if (!silence && self->phase_ == phase::streaming && !self->writing_events_) self->write_events(":\n\n");
    });
    self->stream_on();
  });
}

/// A client that leaves is noticed at once, and what it sends is of no interest.
void http_connection::await_end_of_client() {
  buffer_.clear();
  stream_.async_read_some(buffer_.prepare(read_chunk_bytes),
                          [self = shared_from_this()](error_code ec, std::size_t) {
                            if (!ec) {
                              self->await_end_of_client();
                            } else if (self->phase_ == phase::streaming || self->feed_ == nullptr) {
                              self->close();
                            }
                          });
}

// A client that went away, was too slow or sent nothing gets no answer; one that sent nonsense gets one, then
// the end: where its next request begins cannot be known.
void http_connection::refuse_malformed(error_code ec) {
  if (ec == http::error::end_of_stream || ec == http::error::partial_message ||
      ec.category() != http::make_error_code(http::error::bad_method).category()) {
    return;
  }
  refuse(malformed(ec, pool_->limits));
}

// Closing a socket with unread input makes the kernel send a reset, which can overtake the answer. So the end
// of the answer is announced first, and what the client still sends is swallowed until it closes too, or the
// deadline.
void http_connection::linger() {
  enter(phase::lingering);
  stream_.expires_after(pool_->limits.linger_deadline);
  if (stream_.is_tls()) {
    stream_.async_goodbye([self = shared_from_this()](error_code) { self->stream_.close(); });
    return;
  }
  error_code ignored;
  stream_.socket().shutdown(boost::asio::socket_base::shutdown_send, ignored);
  swallow();
}

void http_connection::swallow() {
  buffer_.clear();
  stream_.async_read_some(buffer_.prepare(read_chunk_bytes),
                          [self = shared_from_this()](error_code ec, std::size_t) {
                            if (!ec) self->swallow();
                          });
}

} // namespace ledgergate::admin
