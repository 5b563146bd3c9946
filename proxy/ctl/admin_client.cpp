#include "proxy/ctl/admin_client.hpp"

#include <utility>

#include <boost/asio/connect.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace ledgergate::ctl {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace json = boost::json;
using asio::ip::tcp;
using boost::system::error_code;
using request_type = http::request<http::string_body>;

constexpr std::chrono::milliseconds look_up_interval{50};
constexpr std::uint64_t largest_answer_bytes = 32 * 1024 * 1024;

/// One request from connecting to the answer. Each step starts an operation and waits for it in wait(), which
/// also ends it when the time limit or the operator says so; so that no operation is left over, wait() always
/// sees its handler run.
class exchange {
 public:
  exchange(const admin_address& address, const client_tls& files, const std::function<bool()>& interrupted,
           std::chrono::milliseconds limit)
      : address_(address), files_(files), interrupted_(interrupted),
        deadline_(std::chrono::steady_clock::now() + limit) {}

  admin_result run(const request_type& request) {
    if (auto error = connect()) return std::move(*error);
    if (address_.tls) {
      if (auto error = greet()) return std::move(*error);
    }
    const error_code written = write(request);
    if (written) return lost("the connection was lost while the request was sent", written);
    return read();
  }

 private:
  using stage = enum client_error::stage;

  std::optional<client_error> connect() {
    const error_code ec = address_.is_unix() ? connect_unix() : connect_tcp();
    if (!ec) return std::nullopt;
    if (stopped_by_operator_) return client_error{stage::before_sending, "interrupted", {}};
    const std::string where = to_string(address_);
    if (timed_out_) {
      return client_error{stage::before_sending, where + " does not answer",
                          "is this the admin port of a sidecar that runs? (--admin, or GATECTL_ADMIN)"};
    }
    if (ec == asio::error::access_denied) {
      return client_error{stage::before_sending, "may not connect to " + where + ": " + ec.message(),
                          "the socket belongs to the user the sidecar runs as; become that user or root"};
    }
    return client_error{stage::before_sending, "cannot connect to " + where + ": " + ec.message(),
                        "does the sidecar run, and is this its admin.address? (--admin, or GATECTL_ADMIN)"};
  }

  /// The files, then the handshake. Nothing of the request was sent before it has succeeded.
  std::optional<client_error> greet() {
    error_code ec;
    std::string what = files_.ca.value_or("the system's certificates");
    if (files_.ca) {
      context_.load_verify_file(*files_.ca, ec);
    } else {
      context_.set_default_verify_paths(ec);
    }
    if (!ec && files_.cert) {
      what = *files_.cert;
      context_.use_certificate_chain_file(what, ec);
    }
    if (!ec && files_.cert) {
      what = files_.key.value_or(*files_.cert);
      context_.use_private_key_file(what, asio::ssl::context::pem, ec);
    }
    if (ec)
      return client_error{stage::before_sending, "cannot use " + what + ": " + ec.message(),
                          "see --ca, --cert and --key"};
    tls_.emplace(socket_, context_);
    tls_->set_verify_mode(asio::ssl::verify_peer);
    tls_->set_verify_callback(asio::ssl::host_name_verification(address_.host));
    // An address is no name (RFC 6066, section 3).
    error_code not_an_address;
    asio::ip::make_address(address_.host, not_an_address);
    if (not_an_address) ::SSL_set_tlsext_host_name(tls_->native_handle(), address_.host.c_str());
    std::optional<error_code> result;
    tls_->async_handshake(asio::ssl::stream_base::client,
                          [&result](error_code handshake) { result = handshake; });
    wait(result);
    if (!*result) return std::nullopt;
    if (stopped_by_operator_) return client_error{stage::before_sending, "interrupted", {}};
    return client_error{stage::before_sending,
                        "no TLS with " + to_string(address_) + ": " +
                            (timed_out_ ? "timed out" : result->message()),
                        "does it speak https, and is its certificate issued by --ca for this name?"};
  }

  error_code connect_unix() {
    if (address_.unix_path.size() > 107) return make_error_code(boost::system::errc::filename_too_long);
    std::optional<error_code> result;
    socket_.async_connect(asio::local::stream_protocol::endpoint(address_.unix_path),
                          [&result](error_code ec) { result = ec; });
    wait(result);
    return *result;
  }

  error_code connect_tcp() {
    std::optional<error_code> result;
    tcp::resolver::results_type found;
    resolver_.async_resolve(address_.host, address_.port,
                            [&](error_code ec, tcp::resolver::results_type entries) {
                              result = ec;
                              found = std::move(entries);
                            });
    wait(result);
    if (*result) return *result;
    for (const auto& entry : found) {
      error_code ignored;
      socket_.close(ignored);
      result.reset();
      socket_.async_connect(entry.endpoint(), [&result](error_code ec) { result = ec; });
      wait(result);
      if (!*result || timed_out_ || stopped_by_operator_) break;
    }
    return result.value_or(asio::error::host_not_found);
  }

  error_code write(const request_type& request) {
    std::optional<error_code> result;
    const auto done = [&result](error_code ec, std::size_t) { result = ec; };
    if (tls_) {
      http::async_write(*tls_, request, done);
    } else {
      http::async_write(socket_, request, done);
    }
    wait(result);
    return *result;
  }

  admin_result read() {
    beast::flat_buffer buffer;
    http::response_parser<http::string_body> parser;
    parser.body_limit(largest_answer_bytes);
    std::optional<error_code> result;
    const auto done = [&result](error_code ec, std::size_t) { result = ec; };
    if (tls_) {
      http::async_read(*tls_, buffer, parser, done);
    } else {
      http::async_read(socket_, buffer, parser, done);
    }
    wait(result);
    if (*result) return lost("no complete answer came", *result);
    admin_answer answer;
    answer.status = parser.get().result_int();
    error_code ec;
    answer.body = json::parse(parser.get().body(), ec);
    if (ec) {
      return client_error{stage::after_sending, to_string(address_) + " does not answer in JSON",
                          "is this the admin port of a ledgergate sidecar?"};
    }
    return answer;
  }

  client_error lost(const std::string& what, const error_code& ec) const {
    if (stopped_by_operator_) return {stage::interrupted, "interrupted", {}};
    return {stage::after_sending,
            what + " from " + to_string(address_) + ": " + (timed_out_ ? "timed out" : ec.message()),
            "is this the admin port of a ledgergate sidecar, and does it still run?"};
  }

  void wait(const std::optional<error_code>& result) {
    while (!result) {
      io_.restart();
      io_.run_one_for(look_up_interval);
      if (result) return;
      if (interrupted_()) stopped_by_operator_ = true;
      if (std::chrono::steady_clock::now() >= deadline_) timed_out_ = true;
      if (stopped_by_operator_ || timed_out_) {
        error_code ignored;
        resolver_.cancel();
        socket_.close(ignored);
      }
    }
  }

  const admin_address& address_;
  const client_tls& files_;
  const std::function<bool()>& interrupted_;
  const std::chrono::steady_clock::time_point deadline_;
  bool timed_out_ = false;
  bool stopped_by_operator_ = false;
  asio::io_context io_;
  tcp::resolver resolver_{io_};
  asio::generic::stream_protocol::socket socket_{io_};
  asio::ssl::context context_{asio::ssl::context::tls_client};
  std::optional<asio::ssl::stream<asio::generic::stream_protocol::socket&>> tls_;
};

request_type make_request(http::verb verb, std::string_view path, const admin_address& address,
                          const std::optional<std::string>& token) {
  request_type request(verb, beast::string_view(path.data(), path.size()), 11);
  request.set(http::field::host,
              address.is_unix() ? std::string("localhost") : to_string(address).substr(address.tls ? 8 : 7));
  request.set(http::field::user_agent, "gatectl");
  request.set(http::field::accept, "application/json");
  request.keep_alive(false);
  if (token) request.set(http::field::authorization, "Bearer " + *token);
  return request;
}

} // namespace

admin_client::admin_client(admin_address address, std::optional<std::string> token,
                           std::function<bool()> interrupted, client_tls tls, client_limits limits)
    : address_(std::move(address)), token_(std::move(token)), interrupted_(std::move(interrupted)),
      tls_(std::move(tls)), limits_(limits) {}

admin_result admin_client::get(std::string_view path) const {
  const request_type request = make_request(http::verb::get, path, address_, token_);
  return exchange(address_, tls_, interrupted_, limits_.read).run(request);
}

admin_result admin_client::remove(std::string_view path) const {
  request_type request = make_request(http::verb::delete_, path, address_, token_);
  request.set(http::field::content_type, "application/json");
  return exchange(address_, tls_, interrupted_, limits_.change).run(request);
}

admin_result admin_client::post(std::string_view path, const json::value& body) const {
  request_type request = make_request(http::verb::post, path, address_, token_);
  request.set(http::field::content_type, "application/json");
  request.body() = json::serialize(body);
  request.prepare_payload();
  return exchange(address_, tls_, interrupted_, limits_.change).run(request);
}

} // namespace ledgergate::ctl
