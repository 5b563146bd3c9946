#include "proxy/gate/reply_queue.hpp"

#include <gtest/gtest.h>

namespace ledgergate::gate {
namespace {

TEST(ReplyQueue, KeepsOrderWhileItGrowsAndWraps) {
  reply_queue queue;
  std::uint8_t in = 0, out = 0;
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < round % 7 + 1; ++i)
      queue.push(reply_kind::parse, reply_owner::client).step = in++;
    for (int i = 0; i < round % 5 && !queue.empty(); ++i) {
      ASSERT_EQ(queue.front().step, out++);
      queue.pop();
    }
  }
  while (!queue.empty()) {
    ASSERT_EQ(queue.front().step, out++);
    queue.pop();
  }
  EXPECT_EQ(in, out);
}

TEST(ReplyQueue, RemovesFromTheMiddleKeepingTheOrderOfTheOthers) {
  reply_queue queue;
  for (std::uint8_t i = 0; i < 6; ++i)
    queue.push(reply_kind::sync, reply_owner::client).step = i;
  queue.pop();
  queue.remove(2); // the entry with step 3
  std::vector<int> steps;
  for (; !queue.empty(); queue.pop())
    steps.push_back(queue.front().step);
  EXPECT_EQ(steps, (std::vector<int>{1, 2, 4, 5}));
}

TEST(ReplyQueue, ForgetsWhatAnEarlierEntryOfTheSamePlaceOwned) {
  reply_queue queue;
  queue.push(reply_kind::close, reply_owner::client).name = std::make_shared<const std::string>("s");
  queue.pop();
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(queue.push(reply_kind::close, reply_owner::client).name, nullptr);
}

} // namespace
} // namespace ledgergate::gate
