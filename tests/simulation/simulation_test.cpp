// Hundreds of runs must keep every guarantee; a proxy that is broken on purpose must be found out in a few.
#include <gtest/gtest.h>

#include "tests/simulation/shrink.hpp"
#include "tests/simulation/world.hpp"

namespace ledgergate::simulation {
namespace {

constexpr std::uint64_t seeds_per_run = 600;
constexpr std::uint64_t seeds_to_find_a_breakage = 200;
constexpr std::uint64_t seeds_to_find_a_rule = 3000;

TEST(Simulation, KeepsEveryGuaranteeWithEverySeed) {
  run_result sum;
  for (std::uint64_t seed = 1; seed <= seeds_per_run; ++seed) {
    run_options options;
    options.seed = seed;
    const run_result result = run_world(options);
    for (const std::string& violation : result.violations)
      ADD_FAILURE() << "simulation --seed " << seed << " --trace: " << violation;
    sum.touches += result.touches;
    sum.mode_changes += result.mode_changes;
    sum.compared_to_the_end += result.compared_to_the_end;
  }
  // A world in which nothing happens would keep every guarantee as well.
  EXPECT_GT(sum.touches, seeds_per_run);
  EXPECT_GT(sum.mode_changes, seeds_per_run / 2);
  EXPECT_GT(sum.compared_to_the_end, seeds_per_run);
}

TEST(Simulation, GivesTheSameRunForTheSameSeed) {
  run_options options;
  options.seed = 11;
  options.trace = true;
  const run_result first = run_world(options);
  const run_result second = run_world(options);
  ASSERT_FALSE(first.trace.empty());
  EXPECT_EQ(first.trace, second.trace);
  options.seed = 12;
  EXPECT_NE(run_world(options).trace, first.trace);
}

struct broken_case {
  breakage what;
  const char* guarantee; ///< that it breaks
};

class BrokenProxy : public testing::TestWithParam<broken_case> {};

TEST_P(BrokenProxy, IsFoundOut) {
  run_options options;
  options.broken = GetParam().what;
  std::string found;
  for (options.seed = 1; options.seed <= seeds_to_find_a_breakage; ++options.seed) {
    for (const std::string& violation : run_world(options).violations) {
      found = violation;
      if (violation.find(GetParam().guarantee) != std::string::npos) return;
    }
  }
  FAIL() << "no seed up to " << seeds_to_find_a_breakage << " reports " << GetParam().guarantee
         << "; the last report was: " << found;
}

INSTANTIATE_TEST_SUITE_P(
    EveryWay, BrokenProxy,
    testing::Values(broken_case{breakage::wrong_key, "G1"}, broken_case{breakage::observes_only, "G1"},
                    broken_case{breakage::no_session_hold, "G1"}, broken_case{breakage::no_release, "G4"},
                    broken_case{breakage::reply_let_out, "G6"}, broken_case{breakage::reply_lost, "G6"},
                    broken_case{breakage::proof_always_true, "G1"},
                    broken_case{breakage::shared_transition, "G2"}),
    [](const auto& tested) { return std::string(to_string(tested.param.what)); });

struct rule_case {
  gate::gate_rule rule;
  bool everything = false; ///< needs clients that drop the gate key's locks themselves
};

class RuleLeftOut : public testing::TestWithParam<rule_case> {};

TEST_P(RuleLeftOut, BreaksAGuarantee) {
  run_options options;
  options.everything = GetParam().everything;
  for (options.seed = 1; options.seed <= seeds_to_find_a_rule; ++options.seed) {
    options.left_out.reset();
    if (!run_world(options).violations.empty()) continue; // found without leaving anything out
    options.left_out = GetParam().rule;
    if (!run_world(options).violations.empty()) return;
  }
  FAIL() << "no seed up to " << seeds_to_find_a_rule << " misses the rule";
}

std::vector<rule_case> every_rule() {
  std::vector<rule_case> out;
  for (std::size_t i = 0; i < gate::gate_rule_count; ++i) {
    const auto rule = static_cast<gate::gate_rule>(i);
    const bool needs_everything =
        rule == gate::gate_rule::doubt_dropped_holds || rule == gate::gate_rule::own_lock_under_hold;
    out.push_back({rule, needs_everything});
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(EveryRule, RuleLeftOut, testing::ValuesIn(every_rule()),
                         [](const auto& tested) { return std::string(to_string(tested.param.rule)); });

TEST(Shrinking, LeavesTheFewMessagesThatBreakTheGuarantee) {
  run_options options;
  options.broken = breakage::observes_only;
  while (run_world(options).violations.empty())
    ++options.seed;
  const std::vector<std::string> lines = shrink_run(options);
  std::size_t messages = 0;
  for (const std::string& line : lines)
    if (line.starts_with("  ") && !line.starts_with("    ")) ++messages;
  EXPECT_GE(messages, 1U);
  EXPECT_LE(messages, 6U);
}

} // namespace
} // namespace ledgergate::simulation
