#include "proxy/app/certificates.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/support/temporary_folder.hpp"
#include "tests/unit/tls/certificates.hpp"

namespace ledgergate::app {
namespace {

struct Certificates : testing::Test {
  Certificates() {
    put("server");
    const config::load_result loaded =
        config::load_text("listen:\n"
                          "  - address: 127.0.0.1:6432\n"
                          "    tls: { mode: require, cert: \"" +
                              folder.file("tls.crt") + "\", key: \"" + folder.file("tls.key") +
                              "\" }\n"
                              "upstream: { host: 127.0.0.1 }\n"
                              "gate: { mode: off }\n",
                          "f.yaml");
    EXPECT_TRUE(loaded.has_value()) << config::to_string(loaded.error());
    settings = *loaded;
  }

  void put(const std::string& name) {
    folder.write("tls.crt", test::certificate_text(name + ".crt"));
    const std::string key = folder.write("tls.key", test::certificate_text(name + ".key"));
    ::chmod(key.c_str(), 0600);
  }

  temporary_folder folder;
  config::settings settings;
  tls::context_store in_force{std::make_shared<const tls::context_set>()};
};

TEST_F(Certificates, AreReplacedByAReload) {
  EXPECT_TRUE(reload_tls(settings, "f.yaml", in_force).empty());
  const auto first = in_force.current();
  ASSERT_EQ(first->listen.size(), 1U);
  put("renewed");
  EXPECT_TRUE(reload_tls(settings, "f.yaml", in_force).empty());
  EXPECT_NE(in_force.current(), first);
}

TEST_F(Certificates, StayWhenAReloadFindsBrokenOnesAndTheErrorHasItsPlace) {
  EXPECT_TRUE(reload_tls(settings, "f.yaml", in_force).empty());
  const auto first = in_force.current();
  folder.write("tls.crt", "half a certif");
  const auto errors = reload_tls(settings, "f.yaml", in_force);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(config::to_string(errors[0]), "f.yaml:3:33: listen[0].tls.cert: " + folder.file("tls.crt") +
                                              " holds no certificate in PEM form, or a broken one");
  EXPECT_EQ(in_force.current(), first);
}

} // namespace
} // namespace ledgergate::app
