#include "proxy/gate/rule_switch.hpp"

#include <gtest/gtest.h>

namespace ledgergate::gate {
namespace {

TEST(RuleSwitch, EveryRuleHasANameOfItsOwn) {
  for (std::size_t i = 0; i < gate_rule_count; ++i) {
    const auto rule = static_cast<gate_rule>(i);
    ASSERT_FALSE(to_string(rule).empty()) << i;
    EXPECT_EQ(rule_named(to_string(rule)), rule);
  }
  EXPECT_EQ(rule_named("no such rule"), std::nullopt);
}

TEST(RuleSwitch, KeepsEveryRuleButTheOneLeftOut) {
  rule_switch rules;
  EXPECT_TRUE(rules.keeps(gate_rule::pin));
  rules.leave_out(gate_rule::savepoint_hold);
  EXPECT_FALSE(rules.keeps(gate_rule::savepoint_hold));
  EXPECT_TRUE(rules.keeps(gate_rule::pin));
  EXPECT_TRUE(rules.keeps(gate_rule::doubt_new_definitions));
}

} // namespace
} // namespace ledgergate::gate
