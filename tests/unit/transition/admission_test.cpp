// The answer to the request: compare-and-set, the one slot per database, and a database that cannot be asked.
#include "tests/unit/transition/engine_script.hpp"

namespace ledgergate::transition {
namespace {

/// Through BEGIN and the control row `found`.
void compare_with(engine_script& script, sql_result found) {
  script.connect();
  script.answer("pg_try_advisory_lock", slot());
  script.answer("FROM \"kudos_ledger_control\" WHERE (id = 1", std::move(found));
}

TEST(Admission, ReadsTheControlRowAtReadCommittedWhateverTheDefaultIs) {
  engine_script script;
  script.connect();
  script.answer("pg_try_advisory_lock", slot());
  ASSERT_TRUE(script.waiting_text());
  EXPECT_NE(script.waiting_text()->find("BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE"),
            std::string::npos);
}

TEST(Admission, AcceptsAndShowsWhatItFound) {
  engine_script script;
  compare_with(script, control("shadow", "700"));
  ASSERT_TRUE(script.admitted());
  EXPECT_EQ(script.admitted()->kind, admission::kind::accepted);
  EXPECT_EQ(script.record().from, "shadow");
  EXPECT_EQ(script.record().version_before, "700");
  EXPECT_EQ(script.record().to, "ledger");
}

struct comparison_case {
  const char* name;
  std::optional<std::string> from;
  std::optional<std::string> expect_version;
  sql_result found;
  enum admission::kind expected;
  const char* message;
};

TEST(Admission, ComparesModeAndVersionWithTheRequest) {
  sql_result two_rows = control();
  two_rows.sets[2].rows.push_back({"shadow", "701", "900"});
  const comparison_case cases[] = {
      {"nothing expected", {}, {}, control(), admission::kind::accepted, ""},
      {"from fits", "shadow", {}, control(), admission::kind::accepted, ""},
      {"version fits", {}, "700", control(), admission::kind::accepted, ""},
      {"already there",
       {},
       {},
       control("ledger"),
       admission::kind::already_there,
       "the mode is ledger already"},
      {"already there, and from is the old mode",
       "shadow",
       {},
       control("ledger"),
       admission::kind::already_there,
       "the mode is ledger already"},
      {"already there, and the version is the old one",
       {},
       "700",
       control("ledger", "801"),
       admission::kind::already_there,
       "the mode is ledger already"},
      {"from differs",
       "shadow",
       {},
       control("frozen"),
       admission::kind::precondition_failed,
       "the mode is frozen, not shadow"},
      {"version differs",
       {},
       "699",
       control(),
       admission::kind::precondition_failed,
       "the control row's version is 700, not 699"},
      {"no row",
       {},
       {},
       no_control_row(),
       admission::kind::precondition_failed,
       "the control row does not exist: insert it with the mode that is in force"},
      {"two rows",
       {},
       {},
       two_rows,
       admission::kind::precondition_failed,
       "control_row.where selects more than one row"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    auto request = to_ledger();
    request.from = c.from;
    request.expect_version = c.expect_version;
    engine_script script(request);
    compare_with(script, c.found);
    if (c.expected != admission::kind::accepted) {
      EXPECT_FALSE(script.admitted()) << "the answer must not come before the transaction is gone";
      script.answer("ROLLBACK; SELECT pg_catalog.pg_advisory_unlock", slot());
      EXPECT_TRUE(script.finished());
    }
    ASSERT_TRUE(script.admitted());
    EXPECT_EQ(script.admitted()->kind, c.expected);
    EXPECT_EQ(script.admitted()->message, c.message);
  }
}

TEST(Admission, AlreadyThereIsCommittedAndUnchanged) {
  engine_script script;
  compare_with(script, control("ledger", "801"));
  script.answer("ROLLBACK", slot());
  EXPECT_EQ(script.state(), transition_state::committed);
  EXPECT_FALSE(script.record().changed);
  EXPECT_EQ(script.record().from, "ledger");
  EXPECT_TRUE(script.record().finished_at);
}

TEST(Admission, NamesTheTransitionOfAnotherSidecar) {
  engine_script script;
  script.connect();
  script.answer("pg_try_advisory_lock", slot(false));
  script.answer("pg_stat_activity",
                {{rows({{"ledgergate/1.2.3@other", "/* ledgergate transition 9f1c */ SELECT 1"}})},
                 std::nullopt,
                 transaction_status::idle});
  ASSERT_TRUE(script.admitted());
  EXPECT_EQ(script.admitted()->kind, admission::kind::conflict);
  EXPECT_EQ(script.admitted()->conflict_id, "9f1c");
  EXPECT_NE(script.admitted()->message.find("ledgergate/1.2.3@other"), std::string::npos);
  EXPECT_TRUE(script.finished());
}

TEST(Admission, IsUnavailableWithTheServersWordsWhenTheRowCannotBeRead) {
  engine_script script;
  compare_with(script, failed("42501", "permission denied for table kudos_ledger_control"));
  script.answer("ROLLBACK", slot());
  ASSERT_TRUE(script.admitted());
  EXPECT_EQ(script.admitted()->kind, admission::kind::unavailable);
  ASSERT_TRUE(script.admitted()->error);
  EXPECT_EQ(script.admitted()->error->sqlstate, "42501");
}

TEST(Admission, IsRefusedInTimeWhenThereIsNoConnection) {
  engine_script script;
  script.fire();
  ASSERT_TRUE(script.admitted());
  EXPECT_EQ(script.admitted()->kind, admission::kind::unavailable);
  EXPECT_LE(script.elapsed_time(), 5s);
  EXPECT_TRUE(script.finished());
}

TEST(Admission, IsTriedAgainWhenTheConnectionWasDeadWithoutAnybodyKnowing) {
  engine_script script;
  script.connect();
  script.lose();
  EXPECT_FALSE(script.admitted());
  compare_with(script, control());
  ASSERT_TRUE(script.admitted());
  EXPECT_EQ(script.admitted()->kind, admission::kind::accepted);
}

TEST(Admission, IsRefusedInTimeWhenTheServerDoesNotAnswer) {
  engine_script script;
  script.connect();
  script.fire();
  EXPECT_TRUE(script.drop_wanted());
  script.lose();
  ASSERT_TRUE(script.admitted());
  EXPECT_EQ(script.admitted()->kind, admission::kind::unavailable);
}

TEST(Admission, EveryTextOfATransitionNamesItsId) {
  engine_script script;
  script.connect();
  EXPECT_EQ(transition_id_in(*script.waiting_text()), script.engine().id());
  script.answer("pg_try_advisory_lock", slot());
  EXPECT_EQ(transition_id_in(*script.waiting_text()), script.engine().id());
}

} // namespace
} // namespace ledgergate::transition
