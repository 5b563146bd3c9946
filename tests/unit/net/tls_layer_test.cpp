#include "proxy/net/tls_layer.hpp"

#include <gmock/gmock.h>
#include <openssl/ssl.h>

#include <array>

#include "proxy/tls/context.hpp"
#include "tests/unit/tls/certificates.hpp"

namespace ledgergate::net {
namespace {

using testing::HasSubstr;

struct TlsLayer : testing::Test {
  TlsLayer() {
    server.mode = config::server_tls_mode::require;
    show("server");
    client.mode = config::upstream_tls_mode::require;
  }

  void show(const std::string& name) {
    server.cert = test::certificate_file(name + ".crt");
    server.key = test::certificate_file(name + ".key");
  }

  void present(const std::string& name) {
    client.cert = test::certificate_file(name + ".crt");
    client.key = test::certificate_file(name + ".key");
  }

  /// Both handshakes, each side's bytes handed over in pieces of `piece`. The status of the side that ended
  /// badly, or ok.
  tls_status shake_hands(const tls_peer& to = {"localhost", false}, std::size_t piece = 1 << 20) {
    acceptor = tls_layer::accepting(*tls::make_server_context(server, "tls", tls::postgres_profile()));
    connector = tls_layer::connecting(*tls::make_upstream_context(client, "tls"), to);
    std::string to_acceptor;
    std::string to_connector;
    tls_status ours = connector->shake_hands({}, to_acceptor);
    tls_status theirs = tls_status::want_input;
    while (!to_acceptor.empty() || !to_connector.empty()) {
      const std::string for_them = to_acceptor.substr(0, piece);
      to_acceptor.erase(0, piece);
      if (theirs == tls_status::want_input && !for_them.empty())
        theirs = acceptor->shake_hands(for_them, to_connector);
      const std::string for_us = to_connector.substr(0, piece);
      to_connector.erase(0, piece);
      if (ours == tls_status::want_input && !for_us.empty())
        ours = connector->shake_hands(for_us, to_acceptor);
      if (theirs == tls_status::failed || ours == tls_status::failed) return tls_status::failed;
    }
    return ours == tls_status::ok && theirs == tls_status::ok ? tls_status::ok : tls_status::want_input;
  }

  std::string open(tls_layer& layer, std::string_view ciphertext, tls_status* status = nullptr) {
    std::string plain(1 << 20, '\0');
    std::string out;
    const tls_layer::opened done = layer.open(ciphertext, plain, out);
    if (status != nullptr) *status = done.status;
    plain.resize(done.bytes);
    return plain;
  }

  config::server_tls_settings server;
  config::upstream_tls_settings client;
  std::unique_ptr<tls_layer> acceptor;
  std::unique_ptr<tls_layer> connector;
};

TEST_F(TlsLayer, CarriesBytesBothWaysInEachVersion) {
  for (const config::tls_version version : {config::tls_version::v1_2, config::tls_version::v1_3}) {
    client.min_version = client.max_version = version;
    ASSERT_EQ(shake_hands(), tls_status::ok);
    EXPECT_STREQ(acceptor->version(), version == config::tls_version::v1_2 ? "TLSv1.2" : "TLSv1.3");
    std::string sealed;
    ASSERT_TRUE(connector->seal("select 1", sealed));
    EXPECT_EQ(sealed.find("select"), std::string::npos);
    EXPECT_EQ(open(*acceptor, sealed), "select 1");
    sealed.clear();
    ASSERT_TRUE(acceptor->seal("one", sealed));
    EXPECT_EQ(open(*connector, sealed), "one");
  }
}

TEST_F(TlsLayer, TakesAHandshakeInPiecesOfAnySize) {
  for (const std::size_t piece : {1U, 2U, 3U, 7U, 100U})
    EXPECT_EQ(shake_hands({"localhost", false}, piece), tls_status::ok) << piece;
}

TEST_F(TlsLayer, KeepsWhatDoesNotFitUntilItIsAskedAgain) {
  ASSERT_EQ(shake_hands(), tls_status::ok);
  std::string sealed;
  const std::string much(100'000, 'x');
  ASSERT_TRUE(connector->seal(much, sealed));
  std::array<char, 1000> small{};
  std::string out;
  std::string got;
  std::string_view input = sealed;
  for (;;) {
    const tls_layer::opened done = acceptor->open(input, small, out);
    input = {};
    got.append(small.data(), done.bytes);
    if (done.status != tls_status::ok) break;
  }
  EXPECT_EQ(got, much);
}

TEST_F(TlsLayer, SendsClientsNoRecordThatTheyCannotDrainAtOnce) {
  ASSERT_EQ(shake_hands(), tls_status::ok);
  std::string sealed;
  ASSERT_TRUE(acceptor->seal(std::string(100'000, 'x'), sealed));
  // A record: content type, two bytes of version, two of length (RFC 8446, 5.1).
  for (std::size_t at = 0; at < sealed.size();) {
    const std::size_t length =
        static_cast<unsigned char>(sealed[at + 3]) * 256U + static_cast<unsigned char>(sealed[at + 4]);
    EXPECT_LE(length, 8192U + 256U);
    at += 5 + length;
  }
  EXPECT_EQ(open(*connector, sealed).size(), 100'000U);
}

TEST_F(TlsLayer, TellsTheEndFromWhatStandsInFrontOfIt) {
  ASSERT_EQ(shake_hands(), tls_status::ok);
  std::string sealed;
  ASSERT_TRUE(connector->seal("last words", sealed));
  connector->say_goodbye(sealed);
  tls_status status = tls_status::ok;
  EXPECT_EQ(open(*acceptor, sealed, &status), "last words");
  EXPECT_EQ(status, tls_status::closed);
  EXPECT_EQ(open(*acceptor, {}, &status), "");
  EXPECT_EQ(status, tls_status::closed);
  sealed.clear();
  ASSERT_TRUE(acceptor->seal("the answer", sealed)) << "the other half is still open";
  EXPECT_EQ(open(*connector, sealed), "the answer");
}

TEST_F(TlsLayer, FailsForGoodOnBytesThatWereChanged) {
  ASSERT_EQ(shake_hands(), tls_status::ok);
  std::string sealed;
  ASSERT_TRUE(connector->seal("select 1", sealed));
  sealed.back() = static_cast<char>(sealed.back() ^ 1);
  tls_status status = tls_status::ok;
  EXPECT_EQ(open(*acceptor, sealed, &status), "");
  EXPECT_EQ(status, tls_status::failed);
  EXPECT_NE(acceptor->failure(), "");
  std::string out;
  EXPECT_FALSE(acceptor->seal("x", out));
}

TEST_F(TlsLayer, FailsOnAnythingButAHandshake) {
  for (const std::string& bytes : {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(100, '\0'),
                                   std::string("\x16\x03\x01\xff\xff", 5)}) {
    const auto layer =
        tls_layer::accepting(*tls::make_server_context(server, "tls", tls::postgres_profile()));
    std::string out;
    EXPECT_EQ(layer->shake_hands(bytes, out), tls_status::failed);
    EXPECT_NE(layer->failure(), "");
  }
}

TEST_F(TlsLayer, ChecksIssuerAndNameOfTheServer) {
  client.ca = test::certificate_file("other_ca.crt");
  EXPECT_EQ(shake_hands(), tls_status::failed);
  EXPECT_THAT(connector->failure(), HasSubstr("unable to get local issuer certificate"));
  client.ca = test::certificate_file("ca.crt");
  EXPECT_EQ(shake_hands({"localhost", true}), tls_status::ok);
  EXPECT_EQ(shake_hands({"127.0.0.1", true}), tls_status::ok);
  EXPECT_EQ(shake_hands({"db.internal", true}), tls_status::failed);
  EXPECT_THAT(connector->failure(), HasSubstr("ostname mismatch"));
  EXPECT_EQ(shake_hands({"127.0.0.2", true}), tls_status::failed);
}

TEST_F(TlsLayer, ChecksTheCertificatesOfClients) {
  client.max_version =
      config::tls_version::v1_2; // in 1.3 a client is done before its certificate was looked at
  server.client_ca = test::certificate_file("ca.crt");
  server.client_crl = test::certificate_file("ca.crl");
  EXPECT_EQ(shake_hands(), tls_status::failed) << "none";
  present("stranger");
  EXPECT_EQ(shake_hands(), tls_status::failed) << "of another authority";
  present("revoked");
  EXPECT_EQ(shake_hands(), tls_status::failed);
  EXPECT_THAT(acceptor->failure(), HasSubstr("certificate revoked"));
  present("app");
  EXPECT_EQ(shake_hands(), tls_status::ok);
}

TEST_F(TlsLayer, LetsClientsWithoutACertificateInWhereItIsOptional) {
  client.max_version = config::tls_version::v1_2;
  server.client_ca = test::certificate_file("ca.crt");
  server.client_certificate = config::client_certificate_policy::optional;
  EXPECT_EQ(shake_hands(), tls_status::ok);
  present("stranger");
  EXPECT_EQ(shake_hands(), tls_status::failed);
}

/// A client that OpenSSL drives itself, for what tls_layer never does.
struct raw_client {
  explicit raw_client(const tls_context& with) : ssl(SSL_new(with.get())) {
    SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(ssl);
  }
  ~raw_client() { SSL_free(ssl); }
  raw_client(const raw_client&) = delete;
  raw_client& operator=(const raw_client&) = delete;

  void give(const std::string& bytes) const {
    if (!bytes.empty()) BIO_write(SSL_get_rbio(ssl), bytes.data(), static_cast<int>(bytes.size()));
  }
  std::string take() const {
    std::string bytes(1 << 16, '\0');
    const int got = BIO_read(SSL_get_wbio(ssl), bytes.data(), static_cast<int>(bytes.size()));
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }
  std::string read() const {
    std::array<char, 100> buffer{};
    const int got = SSL_read(ssl, buffer.data(), buffer.size());
    return {buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
  }

  SSL* ssl;
};

TEST_F(TlsLayer, FollowsAClientThatChangesItsKeysAndAsksForOurs) {
  acceptor = tls_layer::accepting(*tls::make_server_context(server, "tls", tls::postgres_profile()));
  const raw_client raw(*tls::make_upstream_context(client, "tls"));
  tls_status status = tls_status::want_input;
  while (SSL_do_handshake(raw.ssl) != 1 || status == tls_status::want_input) {
    std::string out;
    status = acceptor->shake_hands(raw.take(), out);
    ASSERT_NE(status, tls_status::failed);
    raw.give(out);
  }
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(SSL_key_update(raw.ssl, SSL_KEY_UPDATE_REQUESTED), 1);
    ASSERT_EQ(SSL_write(raw.ssl, "question", 8), 8);
    std::string plain(100, '\0');
    std::string out;
    const tls_layer::opened done = acceptor->open(raw.take(), plain, out);
    ASSERT_EQ(plain.substr(0, done.bytes), "question");
    ASSERT_TRUE(acceptor->seal("answer", out));
    raw.give(out);
    ASSERT_EQ(raw.read(), "answer");
  }
}

TEST_F(TlsLayer, AgreesOnTheNameOfTheProtocol) {
  ASSERT_EQ(shake_hands(), tls_status::ok);
  EXPECT_EQ(acceptor->alpn(), "postgresql");
  EXPECT_EQ(connector->alpn(), "postgresql");
}

TEST_F(TlsLayer, KnowsWhetherTwoLegsShowOneCertificate) {
  ASSERT_EQ(shake_hands(), tls_status::ok);
  EXPECT_TRUE(tls_layer::same_certificate(*acceptor, *connector));
  const std::unique_ptr<tls_layer> first = std::move(acceptor);
  show("renewed");
  ASSERT_EQ(shake_hands(), tls_status::ok);
  EXPECT_FALSE(tls_layer::same_certificate(*first, *connector));
}

} // namespace
} // namespace ledgergate::net
