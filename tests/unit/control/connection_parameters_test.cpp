// control.dsn taken apart and put together again.
#include "proxy/control/connection_parameters.hpp"

#include <gtest/gtest.h>

namespace ledgergate::control {
namespace {

using namespace std::chrono_literals;

connection_parameters parsed(const std::string& dsn) {
  auto result = connection_parameters::parse(dsn, "ledgergate/1.0@here");
  EXPECT_TRUE(result) << dsn;
  return result ? *result : connection_parameters{};
}

TEST(ConnectionParameters, KeepWhatTheDsnSays) {
  const auto values =
      parsed("host=/run/pg dbname=horde user=gate_operator keepalives_idle=60 sslmode=disable "
             "target_session_attrs=any application_name=mine client_encoding=LATIN1")
          .with_addresses({{}});
  EXPECT_EQ(values.at("dbname"), "horde");
  EXPECT_EQ(values.at("user"), "gate_operator");
  EXPECT_EQ(values.at("keepalives_idle"), "60");
  EXPECT_EQ(values.at("sslmode"), "disable");
  EXPECT_EQ(values.at("target_session_attrs"), "any");
}

TEST(ConnectionParameters, ForceWhatTheControlSessionReliesOn) {
  const auto values =
      parsed("host=/run/pg application_name=mine client_encoding=LATIN1 options='-c geqo=off'")
          .with_addresses({{}});
  EXPECT_EQ(values.at("application_name"), "ledgergate/1.0@here");
  EXPECT_EQ(values.at("client_encoding"), "UTF8");
  EXPECT_EQ(values.at("options"), "-c statement_timeout=5000 -c geqo=off");
}

TEST(ConnectionParameters, NoticeADeadPeerAndAvoidStandbysByDefault) {
  const auto values = parsed("host=/run/pg").with_addresses({{}});
  EXPECT_EQ(values.at("keepalives"), "1");
  EXPECT_EQ(values.at("tcp_user_timeout"), "5000");
  EXPECT_EQ(values.at("target_session_attrs"), "primary");
}

TEST(ConnectionParameters, NeedNoLookupForSocketFolders) {
  const auto parameters = parsed("host=/run/pg port=6000");
  ASSERT_EQ(parameters.hosts().size(), 1u);
  EXPECT_FALSE(parameters.hosts()[0].needs_lookup());
  const auto values = parameters.with_addresses({{}});
  EXPECT_EQ(values.at("host"), "/run/pg");
  EXPECT_FALSE(values.contains("hostaddr"));
}

TEST(ConnectionParameters, ListEveryAddressOfEveryHostWithItsPort) {
  const auto parameters = parsed("postgresql://user@db1:6001,db2:6002,%2Frun%2Fpg:6003/horde");
  ASSERT_EQ(parameters.hosts().size(), 3u);
  EXPECT_TRUE(parameters.hosts()[0].needs_lookup());
  const auto values = parameters.with_addresses({{"10.0.0.1", "fd00::1"}, {}, {}});
  EXPECT_EQ(values.at("host"), "db1,db1,/run/pg");
  EXPECT_EQ(values.at("hostaddr"), "10.0.0.1,fd00::1,");
  EXPECT_EQ(values.at("port"), "6001,6001,6003");
}

TEST(ConnectionParameters, LetOnePortServeAllHosts) {
  const auto parameters = parsed("host=db1,db2 port=6000");
  ASSERT_EQ(parameters.hosts().size(), 2u);
  EXPECT_EQ(parameters.hosts()[1].port, "6000");
}

TEST(ConnectionParameters, LeaveAddressesAndServicesToLibpq) {
  EXPECT_TRUE(parsed("host=db1 hostaddr=10.0.0.1").hosts().empty());
  EXPECT_TRUE(parsed("host=db1,db2 port=1,2,3").hosts().empty());
}

TEST(ConnectionParameters, TakeTheConnectTimeoutFromTheDsn) {
  EXPECT_EQ(parsed("host=/run/pg").connect_timeout(), 5s);
  EXPECT_EQ(parsed("host=/run/pg connect_timeout=2").connect_timeout(), 2s);
  EXPECT_EQ(parsed("host=/run/pg connect_timeout=0").connect_timeout(), 5s) << "never waits for ever";
}

TEST(ConnectionParameters, RefuseWhatLibpqRefuses) {
  const auto result = connection_parameters::parse("host=db1 colour=blue", "x");
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("colour"), std::string::npos);
}

TEST(ApplicationName, IsWhatTheServerWouldKeep) {
  EXPECT_EQ(application_name("1.2.3", "db-host"), "ledgergate/1.2.3@db-host");
  EXPECT_EQ(application_name("1.2.3", "h\xC3\xB6st"), "ledgergate/1.2.3@h??st");
  EXPECT_EQ(application_name("1.2.3", std::string(100, 'h')).size(), 63u);
}

} // namespace
} // namespace ledgergate::control
