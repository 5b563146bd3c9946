#include "config/endpoint.hpp"

#include <gtest/gtest.h>

namespace ledgergate::config {
namespace {

TEST(Endpoint, ReadsTcpAndUnixAddresses) {
  struct address_case {
    const char* text;
    endpoint expected;
  };
  for (const auto& [text, expected] : {
           address_case{"127.0.0.1:6432", {"127.0.0.1", 6432, {}}},
           address_case{"localhost:1", {"localhost", 1, {}}},
           address_case{"db-1.example_x.org:65535", {"db-1.example_x.org", 65535, {}}},
           address_case{"[::1]:6432", {"::1", 6432, {}}},
           address_case{"unix:/run/ledgergate", {"", 0, "/run/ledgergate"}},
       }) {
    SCOPED_TRACE(text);
    const auto address = parse_endpoint(text, unix_path_kind::folder);
    ASSERT_TRUE(address.has_value());
    EXPECT_EQ(*address, expected);
  }
}

TEST(Endpoint, RefusesWhatCannotBeBoundAndSaysTheForm) {
  for (const char* text : {"", "6432", ":6432", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536",
                           "127.0.0.1:x", "::1:6432", "[::1]", "[nonsense]:6432", "*:6432", "a b:1",
                           "host:1:2", "-x:1", "unix:", "unix:relative", "unix:@abstract", "tcp://h:1"}) {
    SCOPED_TRACE(text);
    const auto address = parse_endpoint(text, unix_path_kind::folder);
    ASSERT_FALSE(address.has_value());
    EXPECT_NE(address.error().message.find("unix:/folder"), std::string::npos);
  }
}

TEST(Endpoint, LeavesRoomForTheNameOfTheSocketInAUnixFolder) {
  const auto path_of = [](std::size_t bytes) { return "unix:/" + std::string(bytes - 1, 'd'); };
  EXPECT_TRUE(parse_endpoint(path_of(92), unix_path_kind::folder).has_value());
  EXPECT_FALSE(parse_endpoint(path_of(93), unix_path_kind::folder).has_value());
  EXPECT_TRUE(parse_endpoint(path_of(107), unix_path_kind::socket).has_value());
  EXPECT_FALSE(parse_endpoint(path_of(108), unix_path_kind::socket).has_value());
}

TEST(Endpoint, OfTheAdminPortNamesASocketAndNotAFolder) {
  EXPECT_EQ(parse_endpoint("unix:/run/admin.sock", unix_path_kind::socket)->unix_path, "/run/admin.sock");
  EXPECT_FALSE(parse_endpoint("unix:/run/", unix_path_kind::socket).has_value());
}

TEST(Hosts, AreSeparatedByCommasAndShareThePort) {
  const auto hosts = parse_hosts("db1, 10.0.0.2,::1,[fe80::1],unix:/var/run/postgresql", 5433);
  ASSERT_TRUE(hosts.has_value());
  const std::vector<endpoint> expected{{"db1", 5433, {}},
                                       {"10.0.0.2", 5433, {}},
                                       {"::1", 5433, {}},
                                       {"fe80::1", 5433, {}},
                                       {"", 5433, "/var/run/postgresql"}};
  EXPECT_EQ(*hosts, expected);
}

TEST(Hosts, RefuseAPortAndAnEmptyItem) {
  for (const char* text :
       {"", ",", "db1,", "db1,,db2", "db1:5432", "[::1]:5432", "unix:rel", "a b", "[db1]"}) {
    SCOPED_TRACE(text);
    EXPECT_FALSE(parse_hosts(text, 5432).has_value());
  }
  EXPECT_NE(parse_hosts("db1:5432", 5432).error().message.find("upstream.port"), std::string::npos);
}

TEST(Endpoint, IsWrittenAsItIsRead) {
  for (const char* text : {"127.0.0.1:6432", "[::1]:6432", "unix:/run/ledgergate"}) {
    EXPECT_EQ(to_string(*parse_endpoint(text, unix_path_kind::folder)), text);
  }
  EXPECT_EQ(format_hosts(*parse_hosts("db1, unix:/run/pg,::1", 1)), "db1,unix:/run/pg,::1");
}

} // namespace
} // namespace ledgergate::config
