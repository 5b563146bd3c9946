// One connection of the admin port: reads a request, has it handled, writes the answer, and again, until one
// side ends it. Every wait has a deadline of its own (http_limits). Lives on the admin thread; kept alive by
// its pending operation.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/admin/admin_stream.hpp"
#include "proxy/admin/http_limits.hpp"
#include "proxy/admin/replies.hpp"

namespace ledgergate::admin {

class http_connection;

/// The live connections and what they share. Outlives the server for as long as a connection does.
struct connection_pool {
  http_limits limits;
  request_handler handler;
  std::vector<http_connection*> live; ///< in the order of accepting
  bool stopping = false;              ///< no connection reads another request
  std::function<tls_context()> tls;   ///< what a new connection is made with; none: in clear
};

class http_connection : public std::enable_shared_from_this<http_connection> {
 public:
  /// TCP and unix sockets are one type, so that all above them is written once.
  using socket_type = boost::asio::generic::stream_protocol::socket;

  http_connection(socket_type socket, std::string peer, std::shared_ptr<connection_pool> pool);
  http_connection(const http_connection&) = delete;
  http_connection& operator=(const http_connection&) = delete;
  ~http_connection();

  /// With TLS its handshake comes first.
  void start();

  /// Answers with this error, then closes; for a connection that is one too many.
  void refuse(const api_error& error);

  /// Closes at once.
  void close();

  /// Ends with the answer that is under way, at once if there is none.
  void finish();

  /// Empty while the backend works on the request. Otherwise the client is waited for, since then; a
  /// connection may be closed in that time to make room for another.
  std::optional<std::chrono::steady_clock::time_point> waiting_for_client_since() const;

 private:
  using error_code = boost::system::error_code;

  enum class phase {
    reading,   ///< waits for a request or for the rest of one
    handling,  ///< the backend works on the request
    writing,   ///< the client takes its answer
    streaming, ///< the client is told events as they come
    lingering, ///< all is said; waits for the client to close
  };

  void enter(phase next);

  void wait_for_request();
  void read_header();
  void on_header(error_code ec);
  void continue_expected_body();
  void read_body();
  void on_body(error_code ec);
  void handle();
  void on_answer(std::uint64_t request_number, http_response response);
  void write();
  void on_written(error_code ec);
  void stream(std::uint64_t request_number, std::shared_ptr<event_feed> feed);
  void stream_on();
  void write_events(std::string text);
  void await_end_of_client();
  void refuse_malformed(error_code ec);
  void linger();
  void swallow();

  admin_stream stream_;
  std::string peer_;
  std::shared_ptr<connection_pool> pool_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  boost::asio::steady_timer backend_timer_; ///< of the answer, or until the next sign of life of a feed
  std::optional<http_response> response_;
  /// The answer to HEAD: the head of what GET would have been answered.
  std::optional<boost::beast::http::response<boost::beast::http::empty_body>> head_response_;
  boost::beast::http::response<boost::beast::http::empty_body> interim_response_;
  std::shared_ptr<event_feed> feed_; ///< while streaming
  std::string events_;               ///< being written
  phase phase_ = phase::reading;
  std::chrono::steady_clock::time_point phase_since_ = std::chrono::steady_clock::now();
  std::uint64_t request_number_ = 0; ///< so that a late answer is not taken for the next request's
  bool head_only_ = false;
  bool writing_events_ = false;
  bool keep_alive_ = false;
};

} // namespace ledgergate::admin
