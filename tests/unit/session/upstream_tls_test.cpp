// TLS towards a server that says all kinds of things when it is asked for it.
#include <gmock/gmock.h>

#include <optional>
#include <thread>

#include "proxy/net/tls_layer.hpp"
#include "proxy/session/upstream_connector.hpp"
#include "tests/unit/net/sockets.hpp"
#include "tests/unit/tls/certificates.hpp"

namespace ledgergate::session {
namespace {

using config::upstream_tls_mode;
using testing::HasSubstr;

constexpr std::string_view ssl_request{"\0\0\0\x08\x04\xd2\x16\x2f", 8};

tls::context server_context(const std::string& name) {
  config::server_tls_settings settings;
  settings.mode = config::server_tls_mode::require;
  settings.cert = test::certificate_file(name + ".crt");
  settings.key = test::certificate_file(name + ".key");
  return *tls::make_server_context(settings, "tls", tls::postgres_profile());
}

/// Plays the server's part of one connection: reads the request, answers, and, with a context, shakes hands.
void serve(int listening, std::string_view answer, tls::context with) {
  const net::unique_fd client(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC));
  std::array<char, 4096> buffer{};
  if (::recv(client.get(), buffer.data(), ssl_request.size(), MSG_WAITALL) != 8) return;
  EXPECT_EQ(std::string_view(buffer.data(), 8), ssl_request);
  ::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
  if (!with) return;
  const auto layer = net::tls_layer::accepting(std::move(with));
  for (;;) {
    const auto got = ::recv(client.get(), buffer.data(), buffer.size(), 0);
    if (got <= 0) return;
    std::string out;
    const auto status = layer->shake_hands({buffer.data(), static_cast<std::size_t>(got)}, out);
    ::send(client.get(), out.data(), out.size(), MSG_NOSIGNAL);
    if (status == net::tls_status::failed) return;
    if (status == net::tls_status::ok) break;
  }
  while (::recv(client.get(), buffer.data(), buffer.size(), 0) > 0) {
  }
}

struct UpstreamTls : testing::Test, net::stream_socket::owner {
  void on_ready(net::stream_socket&) override { connector->on_ready(); }

  connect_outcome connect(upstream_tls_mode mode, std::string_view answer, tls::context with = nullptr,
                          const std::string& host = "localhost") {
    outcome.reset();
    std::thread server([&] { serve(listening.get(), answer, std::move(with)); });
    config::upstream_tls_settings settings;
    settings.mode = mode;
    if (mode == upstream_tls_mode::verify_ca || mode == upstream_tls_mode::verify_full)
      settings.ca = test::certificate_file("ca.crt");
    net::socket_address address = net::socket_address::local_of(listening.get());
    address.set_name(host);
    connector.emplace(loop, socket, [this](connect_outcome given) { outcome = given; });
    connector->start({address}, test::deadline, {mode, *tls::make_upstream_context(settings, "tls")});
    EXPECT_TRUE(test::run_until(loop, [&] { return outcome.has_value(); }));
    encrypted = socket.tls() != nullptr;
    socket.close();
    server.join();
    return outcome.value_or(connect_outcome::failed);
  }

  net::event_loop loop;
  net::stream_socket socket{loop, *this};
  std::optional<connect_outcome> outcome;
  std::optional<upstream_connector> connector;
  net::unique_fd listening = test::tcp_listener();
  bool encrypted = false;
};

TEST_F(UpstreamTls, IsUsedWhenTheServerHasIt) {
  EXPECT_EQ(connect(upstream_tls_mode::prefer, "S", server_context("stranger")), connect_outcome::connected);
  EXPECT_TRUE(encrypted);
}

TEST_F(UpstreamTls, GoesOnInClearWhenItIsOnlyPreferred) {
  EXPECT_EQ(connect(upstream_tls_mode::prefer, "N"), connect_outcome::connected);
  EXPECT_FALSE(encrypted);
}

TEST_F(UpstreamTls, DoesNotGoOnInClearWhenItIsRequired) {
  EXPECT_EQ(connect(upstream_tls_mode::require, "N"), connect_outcome::failed);
  EXPECT_THAT(connector->failures(), HasSubstr("does not offer TLS"));
}

TEST_F(UpstreamTls, RefusesWhatComesInClearBehindTheAnswer) {
  EXPECT_EQ(connect(upstream_tls_mode::prefer, "SEvil"), connect_outcome::failed);
  EXPECT_THAT(connector->failures(), HasSubstr("unencrypted data"));
}

TEST_F(UpstreamTls, DoesNotRepeatWhatAServerSaysInClear) {
  EXPECT_EQ(connect(upstream_tls_mode::prefer, "E"), connect_outcome::failed);
  EXPECT_THAT(connector->failures(), HasSubstr("answered the request for TLS with an error"));
}

TEST_F(UpstreamTls, DoesNotTakeAnythingElseForAnAnswer) {
  EXPECT_EQ(connect(upstream_tls_mode::prefer, "x"), connect_outcome::failed);
  EXPECT_THAT(connector->failures(), HasSubstr("no valid answer"));
}

TEST_F(UpstreamTls, FailsWhenTheServerClosesInsteadOfAnswering) {
  EXPECT_EQ(connect(upstream_tls_mode::prefer, ""), connect_outcome::failed);
  EXPECT_THAT(connector->failures(), HasSubstr("closed the connection when asked for TLS"));
}

TEST_F(UpstreamTls, TakesOnlyCertificatesOfItsAuthority) {
  EXPECT_EQ(connect(upstream_tls_mode::verify_ca, "S", server_context("stranger")), connect_outcome::failed);
  EXPECT_THAT(connector->failures(), HasSubstr("TLS handshake failed"));
}

TEST_F(UpstreamTls, LooksAtTheNameInFullVerificationAlone) {
  EXPECT_EQ(connect(upstream_tls_mode::verify_ca, "S", server_context("misnamed")),
            connect_outcome::connected);
  EXPECT_EQ(connect(upstream_tls_mode::verify_full, "S", server_context("misnamed")),
            connect_outcome::failed);
}

TEST_F(UpstreamTls, ComparesNamesAndLiteralAddresses) {
  EXPECT_EQ(connect(upstream_tls_mode::verify_full, "S", server_context("server")),
            connect_outcome::connected);
  EXPECT_EQ(connect(upstream_tls_mode::verify_full, "S", server_context("server"), "127.0.0.1"),
            connect_outcome::connected);
  EXPECT_EQ(connect(upstream_tls_mode::verify_full, "S", server_context("server"), "127.0.0.2"),
            connect_outcome::failed);
}

} // namespace
} // namespace ledgergate::session
