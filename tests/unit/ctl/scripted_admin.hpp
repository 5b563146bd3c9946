// An admin port whose answers a test writes down beforehand, and a console that a test reads.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include "proxy/ctl/console.hpp"

namespace ledgergate::ctl {

namespace http = boost::beast::http;

/// Answers on a thread of its own, one connection after the other. `Protocol` is tcp or
/// local::stream_protocol.
template <typename Protocol>
class scripted_server {
 public:
  explicit scripted_server(const typename Protocol::endpoint& endpoint) : acceptor_(io_, endpoint) {
    thread_ = std::thread([this] { serve(); });
  }
  ~scripted_server() {
    stopping_ = true;
    typename Protocol::socket wake(io_);
    boost::system::error_code ignored;
    wake.connect(acceptor_.local_endpoint(), ignored);
    thread_.join();
  }

  typename Protocol::endpoint endpoint() { return acceptor_.local_endpoint(); }

  /// The next answer to "GET /path" and so on; the last one given is repeated. Status 0: close without an
  /// answer.
  void answer(const std::string& call, unsigned status, const std::string& body) {
    const std::lock_guard lock(mutex_);
    answers_[call].push_back({status, body});
  }

  std::vector<http::request<http::string_body>> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  std::size_t request_count(const std::string& call) {
    std::size_t count = 0;
    for (const auto& request : requests())
      count += call_of(request) == call ? 1u : 0u;
    return count;
  }

 private:
  struct canned {
    unsigned status;
    std::string body;
  };

  static std::string call_of(const http::request<http::string_body>& request) {
    return std::string(request.method_string()) + ' ' + std::string(request.target());
  }

  void serve() {
    while (!stopping_) {
      typename Protocol::socket socket(io_);
      boost::system::error_code ec;
      acceptor_.accept(socket, ec);
      if (ec || stopping_) continue;
      boost::beast::flat_buffer buffer;
      http::request<http::string_body> request;
      http::read(socket, buffer, request, ec);
      if (ec) continue;
      const canned next = take(request);
      if (next.status == 0) continue;
      http::response<http::string_body> response(http::int_to_status(next.status), 11);
      response.body() = next.body;
      response.prepare_payload();
      http::write(socket, response, ec);
    }
  }

  canned take(const http::request<http::string_body>& request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    auto& waiting = answers_[call_of(request)];
    if (waiting.empty()) return {599, R"({"error":{"code":"not_in_the_script","message":"","hint":""}})"};
    const canned next = waiting.front();
    if (waiting.size() > 1) waiting.pop_front();
    return next;
  }

  boost::asio::io_context io_;
  typename Protocol::acceptor acceptor_;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  std::map<std::string, std::deque<canned>> answers_;
  std::vector<http::request<http::string_body>> requests_;
  std::thread thread_;
};

class scripted_admin : public scripted_server<boost::asio::ip::tcp> {
 public:
  scripted_admin() : scripted_server({boost::asio::ip::make_address("127.0.0.1"), 0}) {}
  std::string url() { return "http://127.0.0.1:" + std::to_string(endpoint().port()); }
};

/// Streams in memory and a clock that only pause() moves.
struct test_console {
  std::ostringstream out, err;
  std::istringstream in;
  std::chrono::steady_clock::time_point time{};
  int pauses = 0;
  int interrupt_after_pauses = -1; ///< Ctrl-C during this pause; never when negative
  console terminal{
      .out = out,
      .err = err,
      .in = in,
      .in_is_terminal = false,
      .out_is_terminal = false,
      .colours = false,
      .size =
          [] {
            return terminal_size{100, 30};
          },
      .interrupted = [this] { return interrupt_after_pauses >= 0 && pauses > interrupt_after_pauses; },
      .pause =
          [this](std::chrono::milliseconds duration) {
            time += duration;
            ++pauses;
          },
      .now = [this] { return time; },
      .catch_interrupts = [] {}};
};

/// The text of a page, styles dropped.
inline std::string plain(const page& content) {
  std::string text;
  for (const line& one : content) {
    for (const span& piece : one)
      text += piece.text;
    text += '\n';
  }
  return text;
}

} // namespace ledgergate::ctl
