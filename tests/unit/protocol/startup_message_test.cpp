#include "protocol/startup_message.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "protocol/wire.hpp"

namespace ledgergate::protocol {
namespace {

std::string packet(std::uint32_t code, std::string_view rest) {
  std::string out;
  append_int32(out, static_cast<std::uint32_t>(8 + rest.size()));
  append_int32(out, code);
  out.append(rest);
  return out;
}

std::string parameters(std::initializer_list<std::string_view> words) {
  std::string out;
  for (const std::string_view word : words) {
    out.append(word);
    out.push_back('\0');
  }
  out.push_back('\0');
  return out;
}

/// Decodes from a heap block of exactly the packet's size, so that a sanitizer sees a read past it.
startup_packet decode_exact(const std::string& bytes, std::unique_ptr<char[]>& block) {
  block = std::make_unique<char[]>(bytes.size());
  bytes.copy(block.get(), bytes.size());
  return decode_startup_packet({block.get(), bytes.size()});
}

constexpr std::uint32_t version_3_0 = 3U << 16U;
using kind = startup_packet::kind;

TEST(StartupMessage, FindsUserDatabaseAndReplicationInAnyOrder) {
  std::unique_ptr<char[]> block;
  const auto found = decode_exact(packet(version_3_0, parameters({"options", "-c a=b", "replication",
                                                                  "database", "database", "d", "user", "u"})),
                                  block);
  EXPECT_EQ(found.what, kind::startup);
  EXPECT_EQ(found.user, "u");
  EXPECT_EQ(found.database, "d");
  EXPECT_EQ(found.replication, "database");
}

TEST(StartupMessage, DatabaseIsTheUserWhenNotGiven) {
  std::unique_ptr<char[]> block;
  EXPECT_EQ(decode_exact(packet(version_3_0, parameters({"user", "u"})), block).database, "u");
  EXPECT_EQ(decode_exact(packet(version_3_0, parameters({"user", "u", "database", ""})), block).database,
            "u");
}

TEST(StartupMessage, LastOfRepeatedParametersCounts) {
  std::unique_ptr<char[]> block;
  const auto found =
      decode_exact(packet(version_3_0, parameters({"user", "u", "database", "a", "database", "b"})), block);
  EXPECT_EQ(found.database, "b");
}

TEST(StartupMessage, AcceptsEveryVersionForTheServerToAnswer) {
  std::unique_ptr<char[]> block;
  for (const std::uint32_t version : {0x00030002U, 0x0003270FU, 0x00040000U, 0x00020000U, 0x7fffffffU}) {
    const auto found = decode_exact(packet(version, parameters({"user", "u"})), block);
    EXPECT_EQ(found.what, kind::startup) << version;
    EXPECT_EQ(found.version, version);
  }
}

TEST(StartupMessage, IsMalformedOneByteShortAndOneByteLong) {
  std::unique_ptr<char[]> block;
  const std::string whole = packet(version_3_0, parameters({"user", "u"}));
  EXPECT_EQ(decode_exact(whole.substr(0, whole.size() - 1), block).what, kind::malformed);
  EXPECT_EQ(decode_exact(whole + '\0', block).what, kind::malformed);
  EXPECT_EQ(decode_exact(packet(version_3_0, parameters({"user", "u"}) + 'x'), block).what, kind::malformed);
  EXPECT_EQ(decode_exact(packet(version_3_0, "user"), block).what, kind::malformed);
  EXPECT_EQ(decode_exact(packet(version_3_0, ""), block).what, kind::malformed);
}

TEST(StartupMessage, RequestsCarryNothingElse) {
  std::unique_ptr<char[]> block;
  EXPECT_EQ(decode_exact(packet(ssl_request_code, ""), block).what, kind::ssl_request);
  EXPECT_EQ(decode_exact(packet(gss_request_code, ""), block).what, kind::gss_request);
  EXPECT_EQ(decode_exact(packet(ssl_request_code, "x"), block).what, kind::malformed);
}

TEST(StartupMessage, CancelKeyMayHaveAnyLength) {
  std::unique_ptr<char[]> block;
  for (const std::size_t size : {std::size_t{4}, std::size_t{32}, std::size_t{256}}) {
    std::string rest;
    append_int32(rest, 4711);
    rest.append(size, 'k');
    const auto found = decode_exact(packet(cancel_request_code, rest), block);
    EXPECT_EQ(found.what, kind::cancel_request);
    EXPECT_EQ(found.cancel_process_id, 4711U);
    EXPECT_EQ(found.cancel_key.size(), size);
  }
  EXPECT_EQ(decode_exact(packet(cancel_request_code, "abc"), block).what, kind::malformed);
}

TEST(StartupMessage, LengthOutOfRangeIsRefusedFromTheFirstFourBytes) {
  for (const std::uint32_t length : {0U, 3U, 4U, 7U, 10001U, 0x7fffffffU, 0xffffffffU}) {
    std::string bytes;
    append_int32(bytes, length);
    EXPECT_FALSE(startup_packet_length(bytes)) << length;
  }
  for (const std::uint32_t length : {8U, 10000U}) {
    std::string bytes;
    append_int32(bytes, length);
    EXPECT_EQ(startup_packet_length(bytes), length);
  }
}

} // namespace
} // namespace ledgergate::protocol
