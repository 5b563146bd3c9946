#include "proxy/tls/context.hpp"

#include <gmock/gmock.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include "tests/support/temporary_folder.hpp"
#include "tests/unit/tls/certificates.hpp"

namespace ledgergate::tls {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string path(const char* name) { return test::certificate_file(name); }

config::server_tls_settings server_settings() {
  config::server_tls_settings made;
  made.mode = config::server_tls_mode::require;
  made.cert = path("server.crt");
  made.key = path("server.key");
  return made;
}

std::vector<std::string> shown(const context_result& result) {
  std::vector<std::string> lines;
  if (result) return lines;
  for (const setup_error& each : result.error())
    lines.push_back(each.key + ": " + each.message);
  return lines;
}

std::vector<std::string> errors_of(const config::server_tls_settings& settings) {
  return shown(make_server_context(settings, "listen[0].tls", postgres_profile()));
}

std::vector<std::string> errors_of(const config::upstream_tls_settings& settings) {
  return shown(make_upstream_context(settings, "upstream.tls"));
}

struct TlsContext : testing::Test {
  /// A copy of a file that the test may spoil.
  std::string copy_of(const char* name, mode_t mode = 0600) {
    const std::string made = folder.write(name, test::certificate_text(name));
    EXPECT_EQ(::chmod(made.c_str(), mode), 0);
    return made;
  }
  temporary_folder folder;
};

TEST_F(TlsContext, IsBuiltFromACertificateItsKeyAndTheClientsAuthority) {
  config::server_tls_settings settings = server_settings();
  settings.client_ca = path("ca.crt");
  settings.client_crl = path("ca.crl");
  EXPECT_THAT(errors_of(settings), IsEmpty());
  config::upstream_tls_settings upstream;
  upstream.ca = path("ca.crt");
  upstream.crl = path("ca.crl");
  upstream.cert = path("app.crt");
  upstream.key = path("app.key");
  EXPECT_THAT(errors_of(upstream), IsEmpty());
}

TEST_F(TlsContext, ShowsTheErrorsOfAllFilesAtOnce) {
  config::server_tls_settings settings = server_settings();
  settings.cert = folder.file("absent.crt");
  settings.key = folder.write("no.key", "nothing");
  ::chmod(settings.key.c_str(), 0600);
  settings.client_ca = path("server.key");
  settings.client_crl = path("ca.crt");
  EXPECT_THAT(
      errors_of(settings),
      ElementsAre("listen[0].tls.cert: " + settings.cert + " cannot be read: No such file or directory",
                  "listen[0].tls.key: " + settings.key + " holds no private key in PEM form, or a broken one",
                  "listen[0].tls.client_ca: " + settings.client_ca +
                      " holds no certificate in PEM form, or a broken one",
                  "listen[0].tls.client_crl: " + settings.client_crl +
                      " holds no certificate revocation list in PEM form, or a broken one"));
}

TEST_F(TlsContext, RefusesAKeyOfAnotherCertificate) {
  config::server_tls_settings settings = server_settings();
  settings.key = path("renewed.key");
  EXPECT_THAT(errors_of(settings),
              ElementsAre("listen[0].tls.key: " + settings.key + " is not the key of " + settings.cert));
}

TEST_F(TlsContext, RefusesAnExpiredCertificate) {
  config::server_tls_settings settings = server_settings();
  settings.cert = path("expired.crt");
  settings.key = path("expired.key");
  EXPECT_THAT(errors_of(settings),
              ElementsAre("listen[0].tls.cert: " + settings.cert + " has expired (subject CN=localhost)"));
}

TEST_F(TlsContext, RefusesAKeyThatOthersCanRead) {
  config::server_tls_settings settings = server_settings();
  settings.key = copy_of("server.key", 0644);
  EXPECT_THAT(errors_of(settings), ElementsAre(HasSubstr("(mode 0644); must have mode 0600 or less")));
  ::chmod(settings.key.c_str(), 0600);
  EXPECT_THAT(errors_of(settings), IsEmpty());
}

TEST_F(TlsContext, RefusesAKeyUnderAPassphrase) {
  config::server_tls_settings settings = server_settings();
  settings.key = path("locked.key");
  EXPECT_THAT(errors_of(settings), ElementsAre("listen[0].tls.key: " + settings.key +
                                               " is protected by a passphrase; must be a key without one"));
}

TEST_F(TlsContext, RefusesAFolderAndABrokenCertificate) {
  config::upstream_tls_settings upstream;
  upstream.ca = folder.file("");
  EXPECT_THAT(errors_of(upstream), ElementsAre(HasSubstr("is not a file")));
  std::string text = test::certificate_text("ca.crt");
  text.resize(text.size() / 2);
  upstream.ca = folder.write("half.crt", text);
  EXPECT_THAT(errors_of(upstream), ElementsAre(HasSubstr("or a broken one")));
}

TEST_F(TlsContext, KeepsToTheVersionsOfTheSettings) {
  config::server_tls_settings settings = server_settings();
  settings.max_version = config::tls_version::v1_2;
  const context_result made = make_server_context(settings, "tls", postgres_profile());
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(SSL_CTX_get_min_proto_version(made->get()), TLS1_2_VERSION);
  EXPECT_EQ(SSL_CTX_get_max_proto_version(made->get()), TLS1_2_VERSION);
}

TEST_F(TlsContext, IsNotChangedByFilesThatChangeLater) {
  config::server_tls_settings settings = server_settings();
  settings.cert = copy_of("server.crt");
  settings.key = copy_of("server.key");
  const context_result made = make_server_context(settings, "tls", postgres_profile());
  ASSERT_TRUE(made.has_value());
  folder.write("server.crt", "gone");
  EXPECT_NE(SSL_CTX_get0_certificate(made->get()), nullptr);
  EXPECT_THAT(errors_of(settings), ElementsAre(HasSubstr("server.crt holds no certificate")));
}

} // namespace
} // namespace ledgergate::tls
