#include <gtest/gtest.h>

#include "proxy/session/cancel_directory.hpp"
#include "proxy/session/session_registry.hpp"

namespace ledgergate::session {
namespace {

TEST(SessionRegistry, AdmitsUpToTheLimitAndAgainAfterARelease) {
  session_registry registry(2);
  EXPECT_TRUE(registry.admit());
  EXPECT_TRUE(registry.admit());
  EXPECT_FALSE(registry.admit());
  EXPECT_EQ(registry.clients(), 2U);
  registry.release();
  EXPECT_TRUE(registry.admit());
}

TEST(SessionRegistry, NamesEveryResultInItsFigures) {
  session_registry registry(2);
  registry.count_end(session_result::client_lost);
  registry.count_ungated();
  const observe::client_figures figures = registry.figures();
  ASSERT_EQ(figures.ended.size(), session_result_count);
  EXPECT_EQ(figures.ungated, 1U);
  for (const auto& [name, count] : figures.ended) {
    EXPECT_NE(name, "unknown");
    EXPECT_EQ(count, name == "client_lost" ? 1U : 0U) << name;
  }
}

TEST(SessionRegistry, RemembersWhyTheUpstreamFailedUntilItIsBack) {
  session_registry registry(2);
  EXPECT_TRUE(registry.upstream().reachable);
  registry.upstream_failed("refused");
  registry.upstream_failed("timed out");
  EXPECT_FALSE(registry.upstream().reachable);
  EXPECT_EQ(registry.upstream().failures_in_a_row, 2U);
  EXPECT_EQ(registry.upstream().last_failure, "timed out");
  registry.upstream_connected();
  EXPECT_TRUE(registry.upstream().reachable);
  EXPECT_EQ(registry.upstream().last_failure, "");
}

TEST(CancelDirectory, FindsTheServerOfAKeyUntilTheSessionEnds) {
  cancel_directory directory;
  const std::string key("\0\0\0\1key\0", 8);
  directory.add(key, {*net::socket_address::from_literal("127.0.0.1", 5432), true}, "10.0.0.7:50412");
  ASSERT_TRUE(directory.find(key));
  EXPECT_EQ(directory.find(key)->server.to_text(), "127.0.0.1:5432");
  EXPECT_TRUE(directory.find(key)->encrypted);
  EXPECT_FALSE(directory.find(key.substr(0, 7)));
  EXPECT_EQ(directory.clients_by_backend(), (std::map<std::int32_t, std::string>{{1, "10.0.0.7:50412"}}));
  directory.remove(key);
  EXPECT_FALSE(directory.find(key));
}

} // namespace
} // namespace ledgergate::session
