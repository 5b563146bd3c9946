// An admin server over a fake backend on a thread of its own, and a blocking client that can misbehave.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "proxy/admin/api.hpp"
#include "proxy/admin/http_server.hpp"
#include "proxy/admin/router.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/admin/fake_backend.hpp"

namespace ledgergate::admin {

namespace asio = boost::asio;
namespace http = boost::beast::http;

/// Long enough for any machine; only a failing test ever waits for it.
inline constexpr std::chrono::seconds patience{20};

/// Polls until the condition holds or patience ends.
inline bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < deadline) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

class running_server {
 public:
  explicit running_server(http_limits limits = {}, config::endpoint address = {"127.0.0.1", 0, {}})
      : token_path_(folder_.write("token", "s3cret\n")),
        router_(std::make_unique<router>(backend, token_file(token_path_), api_routes(backend, feeds))) {
    server_ = std::make_unique<http_server>(
        io_.get_executor(),
        [this](const http_request& request, const std::string& peer, respond answer) {
          router_->handle(request, peer, std::move(answer));
        },
        limits);
    for (const std::string& problem : server_->listen(address))
      ADD_FAILURE() << problem;
    port_ = server_->port();
    thread_ = std::thread([this] { io_.run(); });
  }
  ~running_server() {
    on_admin_thread([this] { server_.reset(); });
    work_.reset();
    io_.stop();
    thread_.join();
  }

  /// Runs it where the backend and the server live, and waits for it.
  void on_admin_thread(std::function<void()> action) {
    std::promise<void> done;
    asio::post(io_, [&] {
      action();
      done.set_value();
    });
    done.get_future().wait();
  }

  std::uint16_t port() const { return port_; }
  std::size_t connection_count() {
    std::size_t count = 0;
    on_admin_thread([&] { count = server_->connection_count(); });
    return count;
  }
  void stop() {
    on_admin_thread([this] { server_->stop(); });
  }

  fake_backend backend;   ///< touch it only on the admin thread
  transition_feeds feeds; ///< likewise

 private:
  temporary_folder folder_;
  std::string token_path_;
  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  std::unique_ptr<router> router_;
  std::unique_ptr<http_server> server_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

class raw_client {
 public:
  explicit raw_client(const running_server& server)
      : raw_client(asio::ip::tcp::endpoint(asio::ip::make_address("127.0.0.1"), server.port())) {}
  explicit raw_client(const asio::generic::stream_protocol::endpoint& endpoint) {
    socket_.connect(endpoint);
    const timeval limit{patience.count(), 0};
    ::setsockopt(socket_.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }

  /// A server may have closed already: writing then is no failure of the test.
  void send(const std::string& bytes) {
    boost::system::error_code ignored;
    asio::write(socket_, asio::buffer(bytes), ignored);
  }

  void half_close() { socket_.shutdown(asio::socket_base::shutdown_send); }

  /// The next answer; `expect_body` is false after HEAD. Status 0 when the connection ended instead.
  http_response read_response(bool expect_body = true) {
    http::response_parser<http::string_body> parser;
    parser.skip(!expect_body);
    parser.body_limit(std::numeric_limits<std::uint64_t>::max());
    boost::system::error_code ec;
    http::read(socket_, buffer_, parser, ec);
    http_response response;
    if (ec) {
      response.result(0u);
      response.body() = ec.message();
      return response;
    }
    return parser.release();
  }

  /// Reads until the text has come, and returns all up to its end. A failure of the test when it never does.
  std::string read_until(const std::string& wanted) {
    boost::system::error_code ec;
    const std::size_t size = asio::read_until(socket_, asio::dynamic_buffer(pending_), wanted, ec);
    if (ec)
      ADD_FAILURE() << "waited in vain for " << wanted << " (" << ec.message() << ") after " << pending_;
    std::string text = pending_.substr(0, size);
    pending_.erase(0, size);
    return text;
  }

  std::string read_until_closed() {
    boost::system::error_code ec;
    asio::read(socket_, asio::dynamic_buffer(pending_), ec);
    EXPECT_TRUE(ec == asio::error::eof || ec == asio::error::connection_reset) << ec.message();
    return std::exchange(pending_, {});
  }

  /// True when the server closes and has said nothing more.
  bool is_closed_by_server() {
    char byte = 0;
    boost::system::error_code ec;
    if (buffer_.size() > 0) return false;
    socket_.read_some(asio::buffer(&byte, 1), ec);
    return ec == asio::error::eof || ec == asio::error::connection_reset;
  }

  http_response exchange(const std::string& request) {
    send(request);
    return read_response();
  }

 private:
  asio::io_context io_;
  asio::generic::stream_protocol::socket socket_{io_};
  boost::beast::flat_buffer buffer_;
  std::string pending_; ///< of read_until()
};

inline std::string get_request(const std::string& target, const std::string& more_fields = {}) {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + more_fields + "\r\n";
}

inline std::string post_request(const std::string& body, const std::string& token = "s3cret",
                                const std::string& more_fields = {}) {
  return "POST /v1/transitions HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
         "application/json\r\nAuthorization: Bearer " +
         token + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + more_fields + "\r\n" + body;
}

} // namespace ledgergate::admin
