// The routes of the admin API over a fake backend, without a socket.
#pragma once

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <string>

#include "proxy/admin/api.hpp"
#include "proxy/admin/router.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/admin/fake_backend.hpp"

namespace ledgergate::admin {

namespace http = boost::beast::http;
namespace json = boost::json;

class api_fixture : public testing::Test {
 protected:
  temporary_folder folder_;
  fake_backend backend_;
  transition_feeds feeds_;
  router router_{backend_, token_file(folder_.write("token", "s3cret\n")), api_routes(backend_, feeds_)};

  static http_request request_for(const std::string& method, const std::string& target) {
    http_request request;
    request.method_string(method);
    request.target(target);
    request.version(11);
    request.set(http::field::host, "127.0.0.1:6433");
    return request;
  }

  static http_request post(const std::string& body) {
    http_request request = request_for("POST", "/v1/transitions");
    request.set(http::field::authorization, "Bearer s3cret");
    request.set(http::field::content_type, "application/json");
    request.body() = body;
    return request;
  }

  http_response send(const http_request& request) { return send_to(router_, request); }

  static http_response send_to(router& routes, const http_request& request) {
    std::optional<http_response> answer;
    routes.handle(request, "127.0.0.1:5",
                  [&answer](http_response response) { answer = std::move(response); });
    if (!answer) {
      ADD_FAILURE() << "no answer";
      return {};
    }
    return *answer;
  }

  http_response get(const std::string& target) { return send(request_for("GET", target)); }

  static json::value body_of(const http_response& response) {
    EXPECT_EQ(response[http::field::content_type], "application/json");
    return json::parse(response.body());
  }

  static std::string text_at(const json::value& value, const char* pointer) {
    json::error_code ec;
    const json::value* found = value.find_pointer(pointer, ec);
    if (found == nullptr) return std::string("nothing at ") + pointer;
    return found->is_string() ? std::string(found->get_string()) : json::serialize(*found);
  }

  /// The code of an error answer, after a look at its shape.
  static std::string error_code_of(const http_response& response) {
    const json::value body = body_of(response);
    for (const char* member : {"/error/code", "/error/message", "/error/hint"}) {
      EXPECT_FALSE(text_at(body, member).empty()) << member;
      EXPECT_EQ(text_at(body, member).find("nothing at"), std::string::npos) << response.body();
    }
    return text_at(body, "/error/code");
  }
};

} // namespace ledgergate::admin
