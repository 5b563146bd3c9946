// The model's lock manager against what was measured on a real server.
#include <gtest/gtest.h>

#include "tests/simulation/lock_manager.hpp"

namespace ledgergate::simulation {
namespace {

using wait = lock_manager::wait_result;
constexpr lock_key key = 7;
constexpr lock_key other_key = 8;

TEST(LockManager, GrantsAgainWhatIsHeldEvenBehindAQueuedExclusiveRequest) { // F6
  lock_manager locks;
  EXPECT_EQ(locks.request(1, key, lock_mode::shared, session_owner), wait::granted);
  EXPECT_EQ(locks.request(2, key, lock_mode::exclusive, 0), wait::waits);
  EXPECT_EQ(locks.request(1, key, lock_mode::shared, 0), wait::granted);
  EXPECT_EQ(locks.request(3, key, lock_mode::shared, 0), wait::waits);
}

TEST(LockManager, ServesTheQueueInItsOrder) {
  lock_manager locks;
  (void)locks.request(1, key, lock_mode::shared, 0);
  (void)locks.request(2, key, lock_mode::exclusive, 0);
  (void)locks.request(3, key, lock_mode::shared, 0);
  locks.end_transaction(1);
  EXPECT_EQ(locks.poll(2), wait::granted);
  EXPECT_EQ(locks.poll(3), wait::waits);
  locks.end_transaction(2);
  EXPECT_EQ(locks.poll(3), wait::granted);
}

TEST(LockManager, LosesTheLocksOfASubtransactionWithIt) { // F5
  lock_manager locks;
  (void)locks.request(1, key, lock_mode::shared, 1);
  locks.abort_subtransaction(1, 1);
  EXPECT_FALSE(locks.holds(1, key, lock_mode::shared));
  (void)locks.request(1, key, lock_mode::shared, 1);
  locks.commit_subtransaction(1, 1);
  locks.abort_subtransaction(1, 1);
  EXPECT_TRUE(locks.holds(1, key, lock_mode::shared));
}

TEST(LockManager, KeepsThePreparedTransactionsLocksAndRefusesBothLevels) { // F12
  lock_manager locks;
  (void)locks.request(1, key, lock_mode::shared, 0);
  EXPECT_TRUE(locks.can_prepare(1));
  (void)locks.request(1, key, lock_mode::shared, session_owner);
  EXPECT_FALSE(locks.can_prepare(1));
  EXPECT_TRUE(locks.release_session_lock(1, key, lock_mode::shared));
  locks.hand_over_transaction(1, -1);
  EXPECT_EQ(locks.holders(key), std::vector<lock_holder>{-1});
}

TEST(LockManager, MovesAWaiterAheadWhenTheCircleGoesThroughTheQueue) { // F7
  lock_manager locks;
  (void)locks.request(1, key, lock_mode::shared, 0);          // A holds a pin
  (void)locks.request(2, other_key, lock_mode::exclusive, 0); // B holds a row
  EXPECT_EQ(locks.request(3, key, lock_mode::exclusive, 0), wait::waits);
  EXPECT_EQ(locks.request(2, key, lock_mode::shared, 0), wait::waits);
  EXPECT_EQ(locks.request(1, other_key, lock_mode::exclusive, 0), wait::waits);
  locks.check_deadlock(1);
  EXPECT_EQ(locks.poll(2), wait::granted);
  EXPECT_EQ(locks.poll(3), wait::waits);
}

TEST(LockManager, EndsACircleOfHolders) { // F8
  lock_manager locks;
  (void)locks.request(1, key, lock_mode::shared, 0);
  (void)locks.request(2, other_key, lock_mode::exclusive, 0);
  (void)locks.request(1, other_key, lock_mode::exclusive, 0);
  (void)locks.request(2, key, lock_mode::exclusive, 0);
  locks.check_deadlock(2);
  EXPECT_EQ(locks.poll(2), wait::deadlock);
  EXPECT_EQ(locks.poll(1), wait::waits);
}

TEST(LockManager, FindsTwoWhoBothWantMoreAtOnce) {
  lock_manager locks;
  (void)locks.request(1, key, lock_mode::shared, 0);
  (void)locks.request(2, key, lock_mode::shared, 0);
  EXPECT_EQ(locks.request(1, key, lock_mode::exclusive, 0), wait::waits);
  EXPECT_EQ(locks.request(2, key, lock_mode::exclusive, 0), wait::deadlock);
}

} // namespace
} // namespace ledgergate::simulation
