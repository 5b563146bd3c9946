// The manners of the server towards honest clients.
#include "proxy/admin/http_server.hpp"

#include "tests/unit/admin/running_server.hpp"

namespace ledgergate::admin {
namespace {

using namespace std::chrono_literals;

TEST(HttpServer, ServesSeveralRequestsOnOneConnection) {
  running_server server;
  raw_client client(server);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(client.exchange(get_request("/livez")).result_int(), 200u);
  EXPECT_EQ(server.connection_count(), 1u);
}

TEST(HttpServer, AnswersPipelinedRequestsInOrder) {
  running_server server;
  raw_client client(server);
  client.send(get_request("/livez") + get_request("/nothing") + get_request("/metrics") +
              post_request("{}", "wrong"));
  EXPECT_EQ(client.read_response().result_int(), 200u);
  EXPECT_EQ(client.read_response().result_int(), 404u);
  EXPECT_EQ(client.read_response().body(), "ledgergate_clients 3\n");
  EXPECT_EQ(client.read_response().result_int(), 403u);
}

TEST(HttpServer, AcceptsARequestByteByByte) {
  running_server server;
  raw_client client(server);
  for (const char byte : post_request(R"({"to":"ledger"})", "wrong"))
    client.send(std::string(1, byte));
  EXPECT_EQ(client.read_response().result_int(), 403u);
}

TEST(HttpServer, AnswersHeadWithTheHeadOfGet) {
  running_server server;
  raw_client client(server);
  client.send("HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const http_response head = client.read_response(false);
  EXPECT_EQ(head.result_int(), 200u);
  EXPECT_EQ(head[http::field::content_length], "21");
  EXPECT_EQ(client.exchange(get_request("/livez")).result_int(), 200u);
}

TEST(HttpServer, ClosesWhenTheClientAsksForIt) {
  running_server server;
  raw_client client(server);
  const http_response response = client.exchange(get_request("/livez", "Connection: close\r\n"));
  EXPECT_EQ(response.result_int(), 200u);
  EXPECT_FALSE(response.keep_alive());
  EXPECT_TRUE(client.is_closed_by_server());
}

TEST(HttpServer, AnswersOldClientsAndCloses) {
  running_server server;
  raw_client client(server);
  EXPECT_EQ(client.exchange("GET /livez HTTP/1.0\r\n\r\n").result_int(), 200u);
  EXPECT_TRUE(client.is_closed_by_server());
}

TEST(HttpServer, AnswersAClientThatHalfClosed) {
  running_server server;
  raw_client client(server);
  client.send(get_request("/livez"));
  client.half_close();
  EXPECT_EQ(client.read_response().result_int(), 200u);
  EXPECT_TRUE(client.is_closed_by_server());
}

TEST(HttpServer, InvitesTheBodyThatIsAnnouncedFirst) {
  running_server server;
  server.on_admin_thread([&] {
    server.backend.start_result = {start_answer::kind::unknown_mode, {}, {}, "no such mode", {}};
  });
  raw_client client(server);
  const std::string request = post_request(R"({"to":"x"})", "s3cret", "Expect: 100-continue\r\n");
  const std::size_t body_begin = request.find("\r\n\r\n") + 4;
  client.send(request.substr(0, body_begin));
  EXPECT_EQ(client.read_response().result_int(), 100u);
  EXPECT_EQ(client.exchange(request.substr(body_begin)).result_int(), 400u);
}

TEST(HttpServer, ReadsAChunkedBody) {
  running_server server;
  server.on_admin_thread([&] {
    server.backend.start_result = {
        start_answer::kind::accepted, planned_record(server.backend.time), {}, {}, {}};
  });
  raw_client client(server);
  const http_response response =
      client.exchange("POST /v1/transitions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                      "Authorization: Bearer s3cret\r\nTransfer-Encoding: "
                      "chunked\r\n\r\n6\r\n{\"to\":\r\n9\r\n\"ledger\"}\r\n0\r\n\r\n");
  EXPECT_EQ(response.result_int(), 202u) << response.body();
}

TEST(HttpServer, SaysSoWhenTheBackendDoesNotAnswerAndIgnoresTheLateAnswer) {
  http_limits limits;
  limits.backend_deadline = 50ms;
  running_server server(limits);
  server.on_admin_thread([&] { server.backend.hold_answers = true; });
  raw_client client(server);
  const http_response response = client.exchange(post_request(R"({"to":"ledger"})"));
  EXPECT_EQ(response.result_int(), 504u);
  EXPECT_NE(response.body().find("may still happen"), std::string::npos);
  client.send(post_request(R"({"to":"shadow"})"));
  ASSERT_TRUE(eventually([&] {
    std::size_t held = 0;
    server.on_admin_thread([&] { held = server.backend.held_handlers.size(); });
    return held == 2;
  }));
  server.on_admin_thread([&] {
    server.backend.held_handlers[0]({start_answer::kind::accepted, planned_record({}), {}, {}, {}});
  });
  EXPECT_EQ(client.read_response().result_int(), 504u);
}

TEST(HttpServer, FinishesTheAnswerUnderWayWhenItStops) {
  running_server server;
  server.on_admin_thread([&] { server.backend.hold_answers = true; });
  raw_client idle(server);
  ASSERT_EQ(idle.exchange(get_request("/livez")).result_int(), 200u);
  raw_client busy(server);
  busy.send(post_request(R"({"to":"ledger"})"));
  ASSERT_TRUE(eventually([&] {
    bool asked = false;
    server.on_admin_thread([&] { asked = !server.backend.held_handlers.empty(); });
    return asked;
  }));
  server.stop();
  EXPECT_TRUE(idle.is_closed_by_server());
  server.on_admin_thread([&] {
    server.backend.held_handlers[0]({start_answer::kind::unavailable, {}, {}, "down", {}});
  });
  EXPECT_EQ(busy.read_response().result_int(), 503u);
  EXPECT_TRUE(busy.is_closed_by_server());
}

TEST(HttpServer, ListensOnEveryAddressOfAName) {
  running_server server({}, {"localhost", 0, {}});
  EXPECT_NE(server.port(), 0u);
  EXPECT_EQ(server.connection_count(), 0u);
}

TEST(HttpServer, SaysWhyItCannotListen) {
  running_server first;
  asio::io_context io;
  http_server second(io.get_executor(), [](const http_request&, const std::string&, const respond&) {});
  std::vector<std::string> problems = second.listen({"127.0.0.1", first.port(), {}});
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].find("already in use"), std::string::npos) << problems[0];
  EXPECT_NE(problems[0].find("admin.address"), std::string::npos);
  problems = second.listen({"203.0.113.1", 6433, {}});
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(second.port(), 0u);
}

} // namespace
} // namespace ledgergate::admin
