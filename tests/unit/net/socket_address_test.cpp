#include "proxy/net/socket_address.hpp"

#include <gtest/gtest.h>

namespace ledgergate::net {
namespace {

TEST(SocketAddress, ReadsLiteralAddressesOfBothFamilies) {
  EXPECT_EQ(socket_address::from_literal("127.0.0.1", 5432)->to_text(), "127.0.0.1:5432");
  EXPECT_EQ(socket_address::from_literal("::1", 5432)->to_text(), "[::1]:5432");
}

TEST(SocketAddress, LeavesNamesToTheResolver) {
  EXPECT_FALSE(socket_address::from_literal("localhost", 5432));
  EXPECT_FALSE(socket_address::from_literal("127.0.0.1.example", 5432));
  EXPECT_FALSE(socket_address::from_literal("", 5432));
}

TEST(SocketAddress, PutsTheSocketFileIntoTheFolderUnderPostgresName) {
  const auto address = socket_address::from_place({"", 6432, "/run/pg"});
  ASSERT_TRUE(address);
  EXPECT_TRUE(address->is_unix());
  EXPECT_EQ(address->to_text(), "unix:/run/pg/.s.PGSQL.6432");
}

TEST(SocketAddress, RefusesPathsThatDoNotFit) {
  const std::string folder_that_fits(107 - std::string("/.s.PGSQL.5432").size(), 'd');
  EXPECT_TRUE(socket_address::from_place({"", 5432, folder_that_fits}));
  EXPECT_FALSE(socket_address::from_place({"", 5432, folder_that_fits + "d"}));
}

TEST(SocketAddress, SaysNowhereWhenThereIsNone) { EXPECT_EQ(socket_address().to_text(), "nowhere"); }

} // namespace
} // namespace ledgergate::net
