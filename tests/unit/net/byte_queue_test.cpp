#include "proxy/net/byte_queue.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/support/seeded_random.hpp"

namespace ledgergate::net {
namespace {

TEST(ByteQueue, GivesBackBytesInTheOrderTheyCame) {
  byte_queue queue;
  queue.append("one");
  queue.append("two");
  queue.consume(2);
  queue.append("three");
  EXPECT_EQ(queue.view(), "etwothree");
  EXPECT_EQ(queue.size(), 9U);
}

TEST(ByteQueue, IsEmptyOnceEverythingWasConsumed) {
  byte_queue queue;
  queue.append("bytes");
  queue.consume(5);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.view(), "");
  queue.append("more");
  EXPECT_EQ(queue.view(), "more");
}

TEST(ByteQueue, BehavesLikeAStringUnderRandomUse) {
  std::mt19937 random(test::chosen_seed());
  const auto below = [&](std::size_t limit) { return random() % limit; };
  byte_queue queue;
  std::string model;
  for (int i = 0; i < 20'000; ++i) {
    if (below(2) == 0) {
      const std::string more(below(40), static_cast<char>('a' + below(26)));
      queue.append(more);
      model += more;
    } else {
      const std::size_t count = below(model.size() + 1);
      queue.consume(count);
      model.erase(0, count);
    }
    ASSERT_EQ(queue.view(), model);
    ASSERT_EQ(queue.empty(), model.empty());
  }
}

} // namespace
} // namespace ledgergate::net
