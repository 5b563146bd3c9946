#include "proxy/net/name_resolver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>

namespace ledgergate::net {
namespace {

resolution resolve(std::vector<place> places) {
  boost::asio::io_context context;
  name_resolver resolver(context, std::move(places), std::chrono::seconds(20));
  resolution found;
  resolver.resolve([&](const resolution& answer) {
    found = answer;
    context.stop();
  });
  const auto work = boost::asio::make_work_guard(context);
  context.run();
  return found;
}

TEST(NameResolver, AnswersLiteralPlacesWithoutALookUp) {
  boost::asio::io_context context;
  const name_resolver resolver(context, {{"127.0.0.1", 5432, ""}, {"", 5433, "/run"}},
                               std::chrono::seconds(1));
  EXPECT_TRUE(resolver.is_literal());
  ASSERT_EQ(resolver.literal_addresses().size(), 2U);
  EXPECT_EQ(resolver.literal_addresses()[1].to_text(), "unix:/run/.s.PGSQL.5433");
}

TEST(NameResolver, FindsALoopbackAddressForLocalhost) {
  const resolution found = resolve({{"localhost", 5432, ""}});
  EXPECT_EQ(found.failures, "");
  EXPECT_TRUE(std::any_of(found.addresses.begin(), found.addresses.end(), [](const socket_address& each) {
    return each.to_text() == "127.0.0.1:5432" || each.to_text() == "[::1]:5432";
  }));
}

TEST(NameResolver, KeepsThePlacesInTheirOrder) {
  const resolution found = resolve({{"127.0.0.2", 1, ""}, {"localhost", 2, ""}, {"127.0.0.3", 3, ""}});
  ASSERT_GE(found.addresses.size(), 3U);
  EXPECT_EQ(found.addresses.front().to_text(), "127.0.0.2:1");
  EXPECT_EQ(found.addresses.back().to_text(), "127.0.0.3:3");
}

TEST(NameResolver, ReportsANameThatCannotExistAndKeepsTheOthers) {
  const std::string too_long_for_a_name(300, 'x');
  const resolution found = resolve({{too_long_for_a_name, 1, ""}, {"127.0.0.3", 3, ""}});
  EXPECT_NE(found.failures, "");
  ASSERT_EQ(found.addresses.size(), 1U);
  EXPECT_EQ(found.addresses[0].to_text(), "127.0.0.3:3");
}

TEST(NameResolver, AnswersEveryRequestAlsoThoseMadeDuringALookUp) {
  boost::asio::io_context context;
  name_resolver resolver(context, {{"localhost", 5432, ""}}, std::chrono::seconds(20));
  int answers = 0;
  for (int i = 0; i < 10; ++i) {
    resolver.resolve([&](const resolution&) {
      if (++answers == 10) context.stop();
    });
  }
  const auto work = boost::asio::make_work_guard(context);
  context.run();
  EXPECT_EQ(answers, 10);
}

} // namespace
} // namespace ledgergate::net
