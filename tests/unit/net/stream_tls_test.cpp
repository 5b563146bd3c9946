// Two sockets with TLS between them, on one loop, over TCP and over a unix socket.
#include <gtest/gtest.h>

#include <array>

#include "proxy/net/stream_socket.hpp"
#include "proxy/tls/context.hpp"
#include "tests/unit/net/sockets.hpp"
#include "tests/unit/tls/certificates.hpp"

namespace ledgergate::net {
namespace {

tls_context server_context() {
  config::server_tls_settings settings;
  settings.mode = config::server_tls_mode::require;
  settings.cert = test::certificate_file("server.crt");
  settings.key = test::certificate_file("server.key");
  return *tls::make_server_context(settings, "tls", tls::postgres_profile());
}

tls_context client_context() {
  config::upstream_tls_settings settings;
  settings.mode = config::upstream_tls_mode::require;
  return *tls::make_upstream_context(settings, "tls");
}

struct StreamTls : testing::TestWithParam<bool>, stream_socket::owner {
  StreamTls() {
    auto [ours, theirs] = GetParam() ? test::unix_pair() : test::tcp_pair();
    ::fcntl(theirs.get(), F_SETFL, O_NONBLOCK);
    EXPECT_TRUE(server.adopt(std::move(ours)));
    EXPECT_TRUE(client.adopt(std::move(theirs)));
  }

  void on_ready(stream_socket& which) override {
    tls_status& status = &which == &server ? server_status : client_status;
    if (status == tls_status::want_input && which.tls() != nullptr) status = which.shake_hands();
  }

  void begin() {
    ASSERT_TRUE(server.accept_tls(server_context(), {}));
    ASSERT_TRUE(client.connect_tls(client_context(), {"localhost", false}));
    client_status = client.shake_hands();
    ASSERT_TRUE(test::run_until(
        loop, [&] { return server_status == tls_status::ok && client_status == tls_status::ok; }));
  }

  /// One read of what is there.
  std::string read(stream_socket& from) {
    std::array<char, 4096> buffer{};
    return {buffer.data(), from.read(buffer).bytes};
  }

  event_loop loop;
  stream_socket server{loop, *this};
  stream_socket client{loop, *this};
  tls_status server_status = tls_status::want_input;
  tls_status client_status = tls_status::want_input;
};

TEST_P(StreamTls, CarriesWhatIsWritten) {
  begin();
  EXPECT_EQ(client.write("select 1").bytes, 8U);
  std::string got;
  ASSERT_TRUE(test::run_until(loop, [&] { return !(got += read(server)).empty(); }));
  EXPECT_EQ(got, "select 1");
  EXPECT_FALSE(server.can_read());
}

TEST_P(StreamTls, JoinsSeveralPieces) {
  begin();
  std::string first = "one ";
  std::string second = "two";
  const std::array<iovec, 2> pieces{{{first.data(), first.size()}, {second.data(), second.size()}}};
  EXPECT_EQ(client.write(pieces).bytes, 7U);
  std::string got;
  ASSERT_TRUE(test::run_until(loop, [&] { return (got += read(server)).size() == 7; }));
  EXPECT_EQ(got, "one two");
}

TEST_P(StreamTls, KeepsNoMoreThanOneWriteWhileThePeerDoesNotRead) {
  begin();
  const std::string much(1 << 20, 'x');
  std::size_t written = 0;
  for (;;) {
    const io_result result = client.write(std::string_view(much));
    written += result.bytes;
    if (result.status == io_status::would_block) break;
    ASSERT_EQ(result.status, io_status::ok);
  }
  EXPECT_TRUE(client.write_waits());
  std::size_t arrived = 0;
  ASSERT_TRUE(test::run_until(loop, [&] {
    for (std::size_t got = read(server).size(); got > 0; got = read(server).size())
      arrived += got;
    return arrived == written;
  }));
  EXPECT_FALSE(client.write_waits()) << "what waited went by itself";
}

TEST_P(StreamTls, MovesBytesBothWaysAtOnce) {
  begin();
  constexpr std::size_t total = 20'000'000;
  const std::string block(100'000, 'x');
  std::size_t sent[2] = {0, 0};
  std::size_t arrived[2] = {0, 0};
  const auto pump = [&](stream_socket& from, std::size_t which) {
    for (;;) {
      if (sent[which] < total) sent[which] += from.write(std::string_view(block)).bytes;
      const std::size_t got = read(from).size();
      arrived[which] += got;
      if (got == 0) return;
    }
  };
  ASSERT_TRUE(test::run_until(loop, [&] {
    pump(client, 0);
    pump(server, 1);
    return sent[0] >= total && sent[1] >= total && arrived[0] == sent[1] && arrived[1] == sent[0];
  }));
}

TEST_P(StreamTls, AnEndInOneDirectionLeavesTheOther) {
  begin();
  client.write("question");
  client.shut_write();
  std::string got;
  std::array<char, 64> buffer{};
  io_status last = io_status::would_block;
  ASSERT_TRUE(test::run_until(loop, [&] {
    const io_result result = server.read(buffer);
    got.append(buffer.data(), result.bytes);
    last = result.status;
    return last == io_status::end;
  }));
  EXPECT_EQ(got, "question");
  EXPECT_EQ(server.write("answer").bytes, 6U);
  ASSERT_TRUE(test::run_until(loop, [&] { return read(client) == "answer"; }));
}

TEST_P(StreamTls, AnEndThatMustWaitForItsTurnComesBehindEverything) {
  begin();
  const std::string much(8 << 20, 'x');
  const std::size_t written = client.write(std::string_view(much)).bytes;
  ASSERT_TRUE(client.write_waits());
  client.shut_write();
  std::size_t arrived = 0;
  std::string buffer(1 << 16, '\0');
  ASSERT_TRUE(test::run_until(loop, [&] {
    for (;;) {
      const io_result result = server.read(buffer);
      arrived += result.bytes;
      if (result.status != io_status::ok) return result.status == io_status::end;
    }
  }));
  EXPECT_EQ(arrived, written);
}

TEST_P(StreamTls, AConnectionThatIsGivenAwayIsClosedWithAGoodbye) {
  begin();
  parting_socket away = client.release();
  EXPECT_FALSE(client.is_open());
  EXPECT_TRUE(away);
  away.close();
  std::array<char, 64> buffer{};
  ASSERT_TRUE(test::run_until(loop, [&] { return server.read(buffer).status == io_status::end; }));
}

TEST_P(StreamTls, ClearTextInsteadOfAHandshakeIsRefused) {
  ASSERT_TRUE(server.accept_tls(server_context(), {}));
  client.write("select 1 in clear text, long enough to be a record");
  ASSERT_TRUE(test::run_until(loop, [&] { return server_status == tls_status::failed; }));
  EXPECT_NE(server.tls_failure(), "");
}

TEST_P(StreamTls, APeerThatLeavesWithinTheHandshakeIsAFailure) {
  ASSERT_TRUE(server.accept_tls(server_context(), {"\x16\x03\x01", 3}));
  client.close();
  ASSERT_TRUE(test::run_until(loop, [&] { return server_status == tls_status::failed; }));
}

INSTANTIATE_TEST_SUITE_P(Kinds, StreamTls, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "Unix" : "Tcp"; });

} // namespace
} // namespace ledgergate::net
