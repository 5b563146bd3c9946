// Texts and their quoting: names from the configuration, values from the request.
#include "proxy/transition/statements.hpp"

#include <gtest/gtest.h>

#include "proxy/transition/sql_text.hpp"
#include "tests/unit/transition/engine_script.hpp"

namespace ledgergate::transition {
namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(SqlText, QuotesLiteralsForEitherSettingOfStandardConformingStrings) {
  EXPECT_EQ(quote_literal("shadow"), "'shadow'");
  EXPECT_EQ(quote_literal("it's"), "'it''s'");
  EXPECT_EQ(quote_literal("back\\slash"), "E'back\\\\slash'");
  EXPECT_EQ(quote_literal("\\'; DROP TABLE x; --"), "E'\\\\''; DROP TABLE x; --'");
  EXPECT_EQ(quote_literal(""), "''");
  EXPECT_EQ(quote_literal(std::string_view("a\0b", 3)), "'ab'");
}

TEST(SqlText, QuotesNamesAsTheConfigurationMeansThem) {
  EXPECT_EQ(quote_name("Control"), "\"control\"");
  EXPECT_EQ(quote_name("Horde.Control"), "\"horde\".\"control\"");
  EXPECT_EQ(quote_name("\"Horde\".\"a.b\""), "\"Horde\".\"a.b\"");
  EXPECT_EQ(quote_name("no; name"), "\"no; name\"");
  EXPECT_EQ(quote_identifier("we\"ird"), "\"we\"\"ird\"");
}

TEST(Statements, NeverLetACommentInTheConditionSwallowTheRest) {
  auto settings = script_settings();
  settings->control_row.where = "id = 1 -- the only one";
  const statements texts(settings, "");
  EXPECT_TRUE(contains(texts.read_control_row(), "WHERE (id = 1 -- the only one\n) LIMIT 2"));
  EXPECT_TRUE(contains(texts.change("ledger", 1s), "WHERE (id = 1 -- the only one\n) RETURNING"));
}

TEST(Statements, SplitTheKeyAsPgLocksShowsIt) {
  auto settings = script_settings();
  settings->gate.lock_key = 21204375179707215; // 0x4B55445245434F
  const statements texts(settings, "");
  EXPECT_TRUE(contains(texts.read_pins(), "l.classid OPERATOR(pg_catalog.=) 4937028::pg_catalog.oid"));
  EXPECT_TRUE(contains(texts.read_pins(), "l.objid OPERATOR(pg_catalog.=) 1380270927::pg_catalog.oid"));
  settings->gate.lock_key = -1;
  EXPECT_TRUE(contains(statements(settings, "").read_pins(), "4294967295::pg_catalog.oid"));
}

TEST(Statements, NeverSetATimeoutOfZeroByRounding) {
  const statements texts(script_settings(), "");
  EXPECT_TRUE(contains(texts.configured("select 1", 0ms), "SET LOCAL statement_timeout = 1; select 1"));
}

TEST(Statements, SayTheReasonToListenersWithoutBelievingIt) {
  auto settings = script_settings();
  settings->transitions.notify = "ledger_mode";
  const statements texts(settings, "");
  transition_record record;
  record.request.reason = "x'); DROP TABLE users; --";
  record.to = "ledger";
  EXPECT_TRUE(contains(texts.seal(record, 1s),
                       "pg_catalog.left('x''); DROP TABLE users; --'::pg_catalog.text, 500)"));
}

TEST(Statements, DoNotNotifyWhenNoChannelIsConfigured) {
  EXPECT_FALSE(contains(statements(script_settings(), "").seal(transition_record{}, 1s), "pg_notify"));
}

TEST(Statements, MarkATransitionsTextsWithItsId) {
  const statements texts(script_settings(), "0e37df36");
  EXPECT_EQ(transition_id_in(texts.commit()), "0e37df36");
  EXPECT_EQ(transition_id_in("COMMIT"), "");
  EXPECT_EQ(transition_id_in("/* ledgergate transition 0e37"), "");
}

TEST(TransitionRecord, HasTheContractsWords) {
  EXPECT_EQ(to_string(transition_state::waiting_quiet), "waiting_quiet");
  EXPECT_EQ(to_string(transition_state::unknown), "unknown");
  EXPECT_EQ(to_string(abort_reason::harm), "harm");
  EXPECT_EQ(to_string(attempt_outcome::lock_timeout), "lock_timeout");
  EXPECT_EQ(to_string(gate_hold::exclusive), "exclusive");
}

} // namespace
} // namespace ledgergate::transition
