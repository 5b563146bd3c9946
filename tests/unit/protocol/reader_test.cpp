#include "protocol/reader.hpp"

#include <gtest/gtest.h>

namespace ledgergate::protocol {
namespace {

using namespace std::string_view_literals;

TEST(Reader, ReadsInNetworkByteOrder) {
  reader in("\x01\x02\x00\x00\x01\x00zabc\0"sv);
  EXPECT_EQ(in.int16(), 0x0102);
  EXPECT_EQ(in.int32(), 0x100U);
  EXPECT_EQ(in.byte(), 'z');
  EXPECT_EQ(in.cstring(), "abc");
  EXPECT_TRUE(in.at_end());
}

TEST(Reader, StaysFailedAfterTheFirstReadPastTheEnd) {
  reader in("ab\0"sv);
  in.int32();
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.byte(), '\0');
  EXPECT_EQ(in.cstring(), "");
  EXPECT_EQ(in.rest(), "");
  EXPECT_FALSE(in.at_end());
}

TEST(Reader, FailsOnAStringWithoutItsTerminator) {
  reader in("abc"sv);
  EXPECT_EQ(in.cstring(), "");
  EXPECT_FALSE(in.ok());
}

TEST(Reader, SkipPastTheEndFails) {
  reader in("ab"sv);
  in.skip(3);
  EXPECT_FALSE(in.ok());
}

} // namespace
} // namespace ledgergate::protocol
