#include "proxy/tls/context_set.hpp"

#include <gmock/gmock.h>

#include "tests/unit/tls/certificates.hpp"

namespace ledgergate::tls {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string path(const char* name) { return test::certificate_file(name); }

/// TLS on both legs, with the server's own certificate in the listener.
config::settings both_legs(const char* certificate = "server") {
  config::settings made;
  config::listen_settings& listener = made.listen.emplace_back();
  listener.tls.mode = config::server_tls_mode::allow;
  listener.tls.cert = path((std::string(certificate) + ".crt").c_str());
  listener.tls.key = path((std::string(certificate) + ".key").c_str());
  made.upstream.hosts.push_back({"localhost", 5432, {}});
  made.upstream.tls.mode = config::upstream_tls_mode::verify_full;
  made.upstream.tls.ca = path("ca.crt");
  return made;
}

std::string errors_of(const config::settings& settings) {
  const context_set_result made = make_context_set(settings);
  std::string text;
  if (made) return text;
  for (const setup_error& each : made.error())
    text += each.key + ": " + each.message + "\n";
  return text;
}

TEST(ContextSet, HasNoContextWhereTheModeIsOff) {
  config::settings settings = both_legs();
  settings.listen.emplace_back();
  const context_set_result made = make_context_set(settings);
  ASSERT_TRUE(made.has_value());
  ASSERT_EQ((*made)->listen.size(), 2U);
  EXPECT_NE((*made)->listen[0].with, nullptr);
  EXPECT_EQ((*made)->listen[1].with, nullptr);
  EXPECT_NE((*made)->upstream, nullptr);
}

TEST(ContextSet, CollectsTheErrorsOfEveryListenerAndOfTheUpstream) {
  config::settings settings = both_legs();
  settings.listen.push_back(settings.listen[0]);
  settings.listen[1].tls.cert = path("expired.crt");
  settings.upstream.tls.ca = path("absent.crt");
  EXPECT_THAT(errors_of(settings), AllOf(HasSubstr("listen[1].tls.cert: "), HasSubstr("upstream.tls.ca: ")));
}

TEST(ContextSet, TakesTheServersOwnCertificateOnBothLegs) { EXPECT_EQ(errors_of(both_legs()), ""); }

TEST(ContextSet, RefusesACertificateThatTheServersAuthorityDidNotIssue) {
  EXPECT_THAT(errors_of(both_legs("stranger")),
              AllOf(HasSubstr("listen[0].tls.cert: "), HasSubstr("cannot be the server's own certificate"),
                    HasSubstr("channel binding")));
}

TEST(ContextSet, RefusesACertificateThatNamesNoneOfTheServersHosts) {
  EXPECT_THAT(errors_of(both_legs("misnamed")), HasSubstr("it names none of the hosts of upstream.host"));
  config::settings settings = both_legs("misnamed");
  settings.upstream.tls.mode = config::upstream_tls_mode::verify_ca;
  EXPECT_EQ(errors_of(settings), "");
}

TEST(ContextSet, TakesAnyCertificateWhenOneLegIsClear) {
  config::settings settings = both_legs("stranger");
  settings.upstream.tls.mode = config::upstream_tls_mode::off;
  EXPECT_EQ(errors_of(settings), "");
}

TEST(ContextSet, TakesAnyCertificateWhenNoClientBindsChannels) {
  config::settings settings = both_legs("stranger");
  settings.listen[0].tls.channel_binding = config::channel_binding_policy::disabled;
  EXPECT_EQ(errors_of(settings), "");
}

TEST(ContextStore, HandsOutTheSetThatWasPutInLast) {
  context_store store(*make_context_set(both_legs()));
  const std::shared_ptr<const context_set> before = store.current();
  store.replace(*make_context_set(both_legs("renewed")));
  EXPECT_NE(store.current(), before);
  EXPECT_NE(before->listen[0].with, nullptr);
}

} // namespace
} // namespace ledgergate::tls
