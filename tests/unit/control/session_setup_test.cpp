// What a fresh session is found to be.
#include "proxy/control/session_setup.hpp"

#include <gtest/gtest.h>

namespace ledgergate::control {
namespace {

transition::sql_result facts_of(std::string version, std::string database,
                                transition::sql_value deadlock_timeout) {
  transition::sql_result result;
  result.sets.resize(2);
  result.sets[1].rows = {
      {"4711", std::move(version), std::move(database), std::move(deadlock_timeout), "gate_operator"}};
  return result;
}

TEST(SessionSetup, ReadsWhatTheSessionIs) {
  const auto facts = read_facts(facts_of("150020", "horde", "250"), "horde");
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->backend_pid, 4711);
  EXPECT_EQ(facts->server_version, 150020);
  EXPECT_EQ(facts->database, "horde");
  EXPECT_EQ(facts->user, "gate_operator");
  EXPECT_EQ(facts->deadlock_timeout, std::chrono::milliseconds(250));
}

TEST(SessionSetup, AssumesTheDefaultDeadlockTimeoutWhenItIsNotTold) {
  const auto facts = read_facts(facts_of("150020", "horde", std::nullopt), "");
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->deadlock_timeout, std::chrono::milliseconds(1000));
}

TEST(SessionSetup, RefusesAnotherDatabaseBecauseAdvisoryLocksAreLocalToOne) {
  const auto facts = read_facts(facts_of("150020", "postgres", "1000"), "horde");
  ASSERT_FALSE(facts);
  EXPECT_NE(facts.error().message.find("postgres"), std::string::npos);
  EXPECT_NE(facts.error().message.find("horde"), std::string::npos);
}

TEST(SessionSetup, RefusesAServerThatIsTooOld) {
  EXPECT_FALSE(read_facts(facts_of("130014", "horde", "1000"), "horde"));
  EXPECT_TRUE(read_facts(facts_of("140000", "horde", "1000"), "horde"));
}

TEST(SessionSetup, RefusesAnAnswerThatIsNone) { EXPECT_FALSE(read_facts({}, "")); }

TEST(SessionSetup, AsksForThePrivilegeOnlyWhereThereIsSuchAFunction) {
  EXPECT_NE(deadlock_timeout_text(150000).find("has_parameter_privilege"), std::string::npos);
  EXPECT_EQ(deadlock_timeout_text(149999).find("has_parameter_privilege"), std::string::npos);
}

} // namespace
} // namespace ledgergate::control
