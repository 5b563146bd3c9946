// Other sessions' statements outside the control folder.
#include "proxy/control/visible.hpp"

#include <gtest/gtest.h>

namespace ledgergate::control {
namespace {

transition::gate_lock running(const char* query) {
  transition::gate_lock lock;
  lock.query = query;
  return lock;
}

TEST(Visible, HidesConstantsInPinsAndBlockersAlike) {
  transition::pin_snapshot pins;
  pins.holders = {running("SELECT 'secret'")};
  pins.waiters = {running("SELECT 42")};
  pins = visible(pins, config::log_statements::redacted);
  EXPECT_EQ(pins.holders[0].query, "SELECT ?");
  EXPECT_EQ(pins.waiters[0].query, "SELECT ?");

  transition::transition_record record;
  record.blockers = {running("SELECT 'secret'")};
  EXPECT_EQ(visible(record, config::log_statements::redacted).blockers[0].query, "SELECT ?");
}

TEST(Visible, ShowsAllOrNothingWhenToldSo) {
  transition::pin_snapshot pins;
  pins.holders = {running("SELECT 'secret'"), {}};
  EXPECT_EQ(visible(pins, config::log_statements::full).holders[0].query, "SELECT 'secret'");
  EXPECT_FALSE(visible(pins, config::log_statements::none).holders[0].query);
  EXPECT_FALSE(visible(pins, config::log_statements::full).holders[1].query);
}

} // namespace
} // namespace ledgergate::control
