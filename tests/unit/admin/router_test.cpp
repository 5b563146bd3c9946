#include "proxy/admin/router.hpp"

#include "tests/unit/admin/api_fixture.hpp"

namespace ledgergate::admin {
namespace {

class AdminRouter : public api_fixture {};

TEST_F(AdminRouter, AnswersAnUnknownPathWithTheListOfCalls) {
  for (const char* target :
       {"/", "/v1", "/v1/status/", "//v1/status", "/v1/transitions/", "/v1/transitions/a/b", "/V1/status",
        "*", "http://127.0.0.1:6433/v1/status", "/v1/../v1/status"}) {
    const http_response response = get(target);
    EXPECT_EQ(response.result(), http_status::not_found) << target;
    const std::string hint = text_at(body_of(response), "/error/hint");
    EXPECT_NE(hint.find("POST /v1/transitions"), std::string::npos) << hint;
    EXPECT_NE(hint.find("GET /livez"), std::string::npos) << hint;
  }
}

TEST_F(AdminRouter, IgnoresTheQuery) { EXPECT_EQ(get("/livez?verbose=1").result(), http_status::ok); }

TEST_F(AdminRouter, AnswersAnotherMethodWithWhatIsAllowed) {
  http_response response = send(request_for("DELETE", "/v1/status"));
  EXPECT_EQ(response.result(), http_status::method_not_allowed);
  EXPECT_EQ(response[http::field::allow], "GET, HEAD");
  EXPECT_EQ(error_code_of(response), "method_not_allowed");
  response = send(request_for("PUT", "/v1/transitions"));
  EXPECT_EQ(response[http::field::allow], "GET, HEAD, POST");
  for (const char* method : {"OPTIONS", "TRACE", "CONNECT", "get", "BREW"}) {
    EXPECT_EQ(send(request_for(method, "/livez")).result(), http_status::method_not_allowed) << method;
  }
}

TEST_F(AdminRouter, AnswersHeadAsGet) {
  EXPECT_EQ(send(request_for("HEAD", "/v1/status")).result(), http_status::ok);
  EXPECT_EQ(send(request_for("HEAD", "/nothing")).result(), http_status::not_found);
}

TEST_F(AdminRouter, RequiresExactlyOneHost) {
  http_request request = request_for("GET", "/livez");
  request.insert(http::field::host, "other");
  EXPECT_EQ(send(request).result(), http_status::bad_request);
  request.erase(http::field::host);
  EXPECT_EQ(send(request).result(), http_status::bad_request);
  request.version(10);
  EXPECT_EQ(send(request).result(), http_status::ok);
}

TEST_F(AdminRouter, ChangesNothingWithoutTheToken) {
  http_request request = post(R"({"to":"ledger"})");
  request.erase(http::field::authorization);
  EXPECT_EQ(error_code_of(send(request)), "token_missing");
  request.set(http::field::authorization, "Bearer guess");
  const http_response response = send(request);
  EXPECT_EQ(response.result(), http_status::forbidden);
  EXPECT_EQ(error_code_of(response), "token_wrong");
  request.set(http::field::authorization, "Basic s3cret");
  EXPECT_EQ(error_code_of(send(request)), "token_malformed");
  EXPECT_TRUE(backend_.started_by.empty());
}

TEST_F(AdminRouter, ChangesNothingWhenNoTokenFileIsConfigured) {
  router without_token(backend_, token_file(std::nullopt), api_routes(backend_, feeds_));
  const http_response response = send_to(without_token, post(R"({"to":"ledger"})"));
  EXPECT_EQ(response.result(), http_status::forbidden);
  EXPECT_EQ(error_code_of(response), "token_not_configured");
  EXPECT_TRUE(backend_.started_by.empty());
}

TEST_F(AdminRouter, SaysWhyItsTokenFileCannotBeRead) {
  std::filesystem::remove(folder_.file("token"));
  const http_response response = send(post(R"({"to":"ledger"})"));
  EXPECT_EQ(response.result(), http_status::forbidden);
  EXPECT_EQ(error_code_of(response), "token_unreadable");
  EXPECT_NE(response.body().find("No such file"), std::string::npos);
}

TEST_F(AdminRouter, RefusesAPageOfAnotherOriginEvenWithTheToken) {
  http_request request = post(R"({"to":"ledger"})");
  request.set(http::field::origin, "https://evil.example");
  const http_response response = send(request);
  EXPECT_EQ(response.result(), http_status::forbidden);
  EXPECT_EQ(error_code_of(response), "cross_origin");
  EXPECT_EQ(response.count("Access-Control-Allow-Origin"), 0u);
  EXPECT_TRUE(backend_.started_by.empty());
}

TEST_F(AdminRouter, RefusesAChangeThatIsNotJson) {
  http_request request = post(R"({"to":"ledger"})");
  for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded", "application/jsonp",
                           "multipart/form-data; boundary=application/json"}) {
    request.set(http::field::content_type, type);
    const http_response response = send(request);
    EXPECT_EQ(response.result(), http_status::unsupported_media_type) << type;
    EXPECT_EQ(error_code_of(response), "not_json");
  }
  request.erase(http::field::content_type);
  EXPECT_EQ(send(request).result(), http_status::unsupported_media_type);
  EXPECT_TRUE(backend_.started_by.empty());
}

TEST_F(AdminRouter, TakesJsonWithParameters) {
  backend_.start_result = {start_answer::kind::accepted, planned_record(backend_.time), {}, {}, {}};
  http_request request = post(R"({"to":"ledger"})");
  request.set(http::field::content_type, "Application/JSON ; charset=utf-8");
  EXPECT_EQ(send(request).result(), http_status::accepted);
}

TEST_F(AdminRouter, TellsTheBackendWhomItTurnedAway) {
  http_request request = post(R"({"to":"ledger"})");
  request.set(http::field::authorization, "Bearer guess");
  send(request);
  ASSERT_EQ(backend_.refusals.size(), 1u);
  EXPECT_EQ(backend_.refusals[0].peer, "127.0.0.1:5");
  EXPECT_EQ(backend_.refusals[0].method, "POST");
  EXPECT_EQ(backend_.refusals[0].target, "/v1/transitions");
  EXPECT_EQ(backend_.refusals[0].code, "token_wrong");
}

TEST_F(AdminRouter, ReadsWithoutToken) {
  for (const char* target :
       {"/livez", "/readyz", "/startupz", "/metrics", "/v1/status", "/v1/transitions", "/v1/config"}) {
    EXPECT_EQ(get(target).result(), http_status::ok) << target;
  }
  EXPECT_TRUE(backend_.started_by.empty());
}

TEST_F(AdminRouter, ReadsNeedATokenOnceAViewersTokenIsConfigured) {
  const auto token = folder_.write("operator", "s3cret\n");
  router guarded(backend_, token_file(token), api_routes(backend_, feeds_),
                 token_file(folder_.write("viewer", "look\n")));
  const auto status_of = [&](const std::string& method, const std::string& target, const std::string& shown) {
    http_request request = request_for(method, target);
    request.set(http::field::content_type, "application/json");
    request.body() = "{}";
    if (!shown.empty()) request.set(http::field::authorization, "Bearer " + shown);
    return send_to(guarded, request).result_int();
  };
  for (const char* target : {"/v1/status", "/v1/pins", "/v1/sessions", "/v1/config", "/metrics"}) {
    SCOPED_TRACE(target);
    EXPECT_EQ(status_of("GET", target, ""), 403u);
    EXPECT_EQ(status_of("HEAD", target, ""), 403u);
    EXPECT_EQ(status_of("GET", target, "wrong"), 403u);
    EXPECT_NE(status_of("GET", target, "look"), 403u);
    EXPECT_NE(status_of("GET", target, "s3cret"), 403u);
  }
  EXPECT_EQ(status_of("GET", "/livez", ""), 200u) << "probes carry no token";
  EXPECT_EQ(status_of("POST", "/v1/drain", "look"), 403u) << "a viewer changes nothing";
  EXPECT_TRUE(backend_.drained_by.empty());
  EXPECT_EQ(status_of("POST", "/v1/drain", "s3cret"), 202u);
}

TEST_F(AdminRouter, TurnsAPeerAwayThatAsksTooOftenButNeverTheOperator) {
  const auto token = folder_.write("operator", "s3cret\n");
  router strict(backend_, token_file(token), api_routes(backend_, feeds_), token_file(std::nullopt),
                {.per_second = 0.001, .burst = 2, .peers = 8});
  const auto ask = [&](const std::string& shown) {
    http_request request = request_for("GET", "/v1/status");
    if (!shown.empty()) request.set(http::field::authorization, "Bearer " + shown);
    return send_to(strict, request);
  };
  EXPECT_EQ(ask("").result_int(), 200u);
  EXPECT_EQ(ask("").result_int(), 200u);
  const http_response refused = ask("");
  EXPECT_EQ(refused.result_int(), 429u);
  EXPECT_EQ(error_code_of(refused), "too_many_requests");
  EXPECT_EQ(refused[http::field::retry_after], "1");
  EXPECT_EQ(ask("wrong").result_int(), 429u);
  EXPECT_EQ(ask("s3cret").result_int(), 200u);
  EXPECT_EQ(send_to(strict, request_for("GET", "/livez")).result_int(), 200u);
}

} // namespace
} // namespace ledgergate::admin
