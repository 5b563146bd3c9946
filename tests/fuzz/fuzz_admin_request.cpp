// Any bytes as one HTTP request to the admin API: the parser of the server, the router and every call, over a
// backend that remembers what it was asked. The first byte says whether the fuzzer is given the token.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/json/parse.hpp>

#include "proxy/admin/api.hpp"
#include "proxy/admin/http_limits.hpp"
#include "proxy/admin/page_api.hpp"
#include "proxy/admin/router.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/unit/admin/fake_backend.hpp"

using namespace ledgergate;
using test::require;
namespace http = boost::beast::http;

namespace {

/// Not even the name of a field can carry it by chance.
constexpr const char* token = "the-fuzzer-cannot-guess-this-0f8a51c2";

std::string token_path() {
  const auto path = std::filesystem::temp_directory_path() / ("lg-fuzz-token-" + std::to_string(::getpid()));
  std::ofstream(path) << token;
  return path.string();
}

const std::string& written_token() {
  static const std::string path = [] {
    const std::string made = token_path();
    std::atexit([] { std::filesystem::remove(written_token()); });
    return made;
  }();
  return path;
}

/// The request, when the bytes are a whole one within the limits of the server.
bool parse(const std::uint8_t* data, std::size_t size, admin::http_request& request) {
  const admin::http_limits limits;
  http::request_parser<http::string_body> parser;
  parser.header_limit(static_cast<std::uint32_t>(limits.header_bytes));
  parser.body_limit(limits.body_bytes);
  parser.eager(true);
  boost::system::error_code ec;
  while (size > 0 && !ec && !parser.is_done()) {
    const std::size_t taken = parser.put(boost::asio::buffer(data, size), ec);
    if (taken == 0) break;
    data += taken;
    size -= taken;
  }
  if (!ec && !parser.is_done()) parser.put_eof(ec);
  if (ec || !parser.is_done()) return false;
  request = parser.release();
  return true;
}

void check_answer(const admin::http_response& response) {
  const auto status = response.result_int();
  require(status >= 200 && status < 600, "an answer has a status");
  if (status >= 400) {
    boost::json::error_code ec;
    const boost::json::value body = boost::json::parse(response.body(), ec);
    require(!ec, "an error is JSON");
    for (const char* member : {"/error/code", "/error/message", "/error/hint"})
      require(body.find_pointer(member, ec) != nullptr, "an error has code, message and hint");
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const bool trusted = (data[0] & 1U) != 0;
  admin::http_request request;
  if (!parse(data + 1, size - 1, request)) return 0;
  if (trusted) request.set(http::field::authorization, std::string("Bearer ") + token);

  boost::asio::io_context io;
  admin::fake_backend backend;
  backend.history = {admin::planned_record(backend.time)};
  backend.start_result.kind = admin::start_answer::kind::conflict;
  admin::transition_feeds feeds;
  admin::live_feed live(io.get_executor(), backend);
  auto routes = admin::api_routes(backend, feeds);
  for (admin::route& each : admin::page_routes(live))
    routes.push_back(std::move(each));
  admin::router router(backend, admin::token_file(written_token()), std::move(routes));

  unsigned answers = 0;
  router.handle(request, "192.0.2.1:5",
                admin::respond(
                    [&](const admin::http_response& response) {
                      ++answers;
                      check_answer(response);
                    },
                    [&](const std::shared_ptr<admin::event_feed>&) { ++answers; }));
  require(answers == 1, "one answer to a request");
  const bool changed = !backend.started_by.empty() || !backend.planned.empty() ||
                       !backend.cancelled_by.empty() || !backend.drained_by.empty() ||
                       !backend.reloaded_by.empty();
  require(!changed || trusted, "nothing is asked of the backend without the token");
  require(!changed || (request.method() != http::verb::get && request.method() != http::verb::head),
          "a look changes nothing");
  return 0;
}
