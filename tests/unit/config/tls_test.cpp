// The `tls:` sections.
#include <gmock/gmock.h>

#include "config/describe.hpp"
#include "tests/unit/config/sample.hpp"

namespace ledgergate::config::test {
namespace {

using testing::HasSubstr;

std::string listening(const std::string& tls) {
  return with(sample, "  - address: 127.0.0.1:6432\n", "  - address: 127.0.0.1:6432\n    tls: " + tls + "\n");
}

std::string connecting(const std::string& tls) {
  return with(sample, "  host: 127.0.0.1\n", "  host: 127.0.0.1\n  tls: " + tls + "\n");
}

TEST(TlsSettings, AreOffWhenLeftOut) {
  const settings value = loaded(sample);
  EXPECT_EQ(value.listen[0].tls.mode, server_tls_mode::off);
  EXPECT_EQ(value.upstream.tls.mode, upstream_tls_mode::off);
}

TEST(TlsSettings, AreReadForListenersAndTheUpstream) {
  const settings value =
      loaded(with(listening("{ mode: allow, cert: server.crt, key: server.key, client_ca: clients.crt }"),
                  "  host: 127.0.0.1\n",
                  "  host: 127.0.0.1\n  tls: { mode: verify-full, ca: root.crt, min_version: TLSv1.3 }\n"));
  EXPECT_EQ(value.listen[0].tls.mode, server_tls_mode::allow);
  EXPECT_EQ(value.listen[0].tls.cert, "server.crt");
  EXPECT_EQ(value.listen[0].tls.key, "server.key");
  EXPECT_EQ(value.listen[0].tls.client_ca, "clients.crt");
  EXPECT_EQ(value.listen[0].tls.client_certificate, client_certificate_policy::required);
  EXPECT_EQ(value.upstream.tls.mode, upstream_tls_mode::verify_full);
  EXPECT_EQ(value.upstream.tls.ca, "root.crt");
  EXPECT_EQ(value.upstream.tls.min_version, tls_version::v1_3);
  EXPECT_EQ(value.upstream.tls.max_version, tls_version::v1_3);
}

TEST(TlsSettings, NeedAMode) {
  EXPECT_EQ(errors_of(listening("{ cert: a, key: b }")),
            "f.yaml:3:5: listen[0].tls.mode: is missing; must be one of off, allow, require\n");
  EXPECT_EQ(errors_of(connecting("{ ca: a }")), "f.yaml:5:3: upstream.tls.mode: is missing; must be one of "
                                                "off, prefer, require, verify-ca, verify-full\n");
}

TEST(TlsSettings, NameTheAllowedModes) {
  EXPECT_THAT(errors_of(listening("{ mode: prefer, cert: a, key: b }")),
              HasSubstr("listen[0].tls.mode: \"prefer\" is not allowed; must be one of off, allow, require"));
  EXPECT_THAT(errors_of(connecting("{ mode: allow }")), HasSubstr("must be one of off, prefer, require"));
}

TEST(TlsSettings, NameTheFilesThatAModeNeeds) {
  const std::string errors = errors_of(listening("{ mode: require }"));
  EXPECT_THAT(errors,
              HasSubstr("listen[0].tls.cert: is missing; mode: require needs the path of a PEM file"));
  EXPECT_THAT(errors, HasSubstr("listen[0].tls.key: is missing"));
  EXPECT_THAT(errors_of(connecting("{ mode: verify-ca }")), HasSubstr("upstream.tls.ca: is missing"));
  EXPECT_THAT(errors_of(connecting("{ mode: require, cert: a }")), HasSubstr("upstream.tls.key: is missing"));
  EXPECT_THAT(errors_of(connecting("{ mode: require, key: a }")), HasSubstr("upstream.tls.cert: is missing"));
  EXPECT_THAT(errors_of(connecting("{ mode: require, crl: a }")), HasSubstr("upstream.tls.ca: is missing"));
  EXPECT_THAT(errors_of(listening("{ mode: allow, cert: a, key: b, client_certificate: optional }")),
              HasSubstr("listen[0].tls.client_ca: is missing"));
}

TEST(TlsSettings, RefuseVersionsThatContradictEachOther) {
  EXPECT_THAT(errors_of(connecting("{ mode: require, min_version: TLSv1.3, max_version: TLSv1.2 }")),
              HasSubstr("upstream.tls.max_version: TLSv1.2 is below min_version TLSv1.3"));
}

TEST(TlsSettings, AreRefusedOnAUnixSocket) {
  EXPECT_THAT(
      errors_of(with(listening("{ mode: allow, cert: a, key: b }"), "127.0.0.1:6432", "unix:/run/lg")),
      HasSubstr("listen[0].tls.mode: must be off on a unix socket"));
}

TEST(TlsSettings, AreShownWithTheirDefaultsAndReadBack) {
  const settings value =
      loaded(with(listening("{ mode: require, cert: s.crt, key: s.key, client_ca: c.crt }"),
                  "  host: 127.0.0.1\n", "  host: 127.0.0.1\n  tls: { mode: verify-ca, ca: root.crt }\n"));
  const std::string shown = describe(value);
  EXPECT_THAT(shown, HasSubstr("      mode: require\n      cert: \"s.crt\"\n      key: \"s.key\"\n"
                               "      client_ca: \"c.crt\"\n      client_crl: null  # default\n"
                               "      client_certificate: required  # default\n"));
  EXPECT_THAT(shown, HasSubstr("    mode: verify-ca\n    ca: \"root.crt\"\n    crl: null  # default\n"));
  EXPECT_EQ(loaded(shown).listen[0].tls.client_ca, "c.crt");
}

TEST(TlsSettings, GiveTheirPlaceToErrorsThatAreFoundLater) {
  const settings value = loaded(listening("{ mode: allow, cert: a, key: b }"));
  EXPECT_EQ(to_string(error_at_key(value, "f.yaml", "listen[0].tls.cert", "has expired")),
            "f.yaml:3:31: listen[0].tls.cert: has expired");
  EXPECT_EQ(to_string(error_at_key(value, "f.yaml", "listen[0].tls.client_ca", "x")),
            "f.yaml:3:5: listen[0].tls.client_ca: x");
}

} // namespace
} // namespace ledgergate::config::test
