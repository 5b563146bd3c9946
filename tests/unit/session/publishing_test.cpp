// New rules: when it may be said that they are in force.
#include <atomic>

#include "tests/unit/session/data_plane_fixture.hpp"

namespace ledgergate::test {
namespace {

struct Publishing : DataPlane {
  void publish() {
    plane->publish(services->rules, [this] { ++in_force; });
  }
  std::atomic<int> in_force = 0;
};

TEST_F(Publishing, RulesAreInForceWhenEveryWorkerHasTakenThemAndNotBefore) {
  start();
  session::data_plane idle(*services, metrics, 2);
  idle.publish(services->rules, [this] { ++in_force; });
  EXPECT_EQ(in_force, 0);
  idle.start();
  EXPECT_TRUE(eventually([&] { return in_force == 1; }));
}

TEST_F(Publishing, WorkersThatHaveEndedKeepNobodyWaitingForEver) {
  start();
  plane->stop();
  publish();
  EXPECT_EQ(in_force, 0);
  plane.reset();
  EXPECT_EQ(in_force, 1);
}

} // namespace
} // namespace ledgergate::test
