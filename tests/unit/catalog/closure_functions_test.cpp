#include <gtest/gtest.h>

#include "tests/unit/catalog/sample_catalog.hpp"

namespace ledgergate::test {
namespace {

touch_kind call_with_body(const std::string& body, const std::string& language) {
  sample_catalog catalog;
  catalog.function("f", body, language);
  return call_of(catalog.closure(), "f");
}

struct body_case {
  const char* name;
  const char* body;
  touch_kind expected;
};

TEST(ClosureOfSqlFunctions, DependsOnWhatTheStatementsDo) {
  const body_case cases[] = {
      {"reads the ledger", "select sum(amount) from ledger", touch_kind::touch},
      {"writes it", "insert into app.ledger values (1)", touch_kind::touch},
      {"of another schema", "select 1 from other.ledger", touch_kind::none},
      {"reads a table that is gated for locks", "select kudos from balances", touch_kind::none},
      {"locks it", "select kudos from balances for update", touch_kind::touch},
      {"assigns an ungated column", "update users set bio = $1", touch_kind::none},
      {"assigns a gated one", "update users set kudos = $1", touch_kind::touch},
      {"upserts a gated one", "insert into users (id) values (1) on conflict (id) do update set kudos = 1",
       touch_kind::touch},
      {"mentions it in a comment", "select 1 /* ledger */", touch_kind::none},
      {"reads the control row", "select mode from mode_control", touch_kind::touch},
      {"writes the control row", "update mode_control set mode = $1", touch_kind::transition},
      {"locks the control row", "select mode from mode_control for update", touch_kind::transition},
      {"calls a configured function", "select post_credit(1)", touch_kind::touch},
      {"takes a listed lock", "select pg_advisory_xact_lock(77, 1)", touch_kind::touch},
      {"takes another lock", "select pg_advisory_xact_lock(78, 1)", touch_kind::none},
      {"runs text", "select query_to_xml('select 1 from ledger', true, true, '')", touch_kind::touch},
      {"cannot be parsed", "select from from ledger", touch_kind::touch},
      {"touches nothing", "select $1 + 1", touch_kind::none},
  };
  for (const body_case& each : cases)
    EXPECT_EQ(call_with_body(each.body, "sql"), each.expected) << each.name;
}

TEST(ClosureOfPlpgsqlFunctions, DependsOnTheWordsOfTheBody) {
  const body_case cases[] = {
      {"mentions the ledger", "begin insert into ledger values (1); end", touch_kind::touch},
      {"in a string", "begin execute 'delete from ledger'; end", touch_kind::touch},
      {"in a comment", "begin -- like ledger\n end", touch_kind::touch},
      {"in capitals", "BEGIN DELETE FROM LEDGER; END", touch_kind::touch},
      {"quoted", "begin delete from \"ledger\"; end", touch_kind::touch},
      {"inside a longer word", "begin delete from ledger_archive; end", touch_kind::none},
      {"reads a table that is gated for locks", "begin return (select kudos from balances); end",
       touch_kind::none},
      {"locks it", "begin perform 1 from balances for update; end", touch_kind::touch},
      {"assigns an ungated column", "begin update users set bio = 'x'; end", touch_kind::none},
      {"assigns a gated one", "begin update users set kudos = 1; end", touch_kind::touch},
      {"inserts a row", "begin insert into users values (1, 2, 3); end", touch_kind::touch},
      {"assigns what is put together", "begin execute format('update users set %I = 1', c); end",
       touch_kind::touch},
      {"reads the control row", "begin select mode into m from mode_control; end", touch_kind::touch},
      {"writes the control row", "begin update mode_control set mode = 'x'; end", touch_kind::transition},
      {"takes a listed lock", "begin perform pg_advisory_xact_lock(77, 1); end", touch_kind::touch},
      {"takes a listed lock in hexadecimal", "begin perform pg_advisory_lock(0x4D, 1); end",
       touch_kind::touch},
      {"takes a computed lock", "begin perform pg_advisory_xact_lock(k, 1); end", touch_kind::touch},
      {"takes another lock", "begin perform pg_advisory_xact_lock(78, 1); end", touch_kind::none},
      {"touches nothing", "begin return 1; end", touch_kind::none},
  };
  for (const body_case& each : cases)
    EXPECT_EQ(call_with_body(each.body, "plpgsql"), each.expected) << each.name;
}

TEST(ClosureOfFunctions, FollowsCalls) {
  sample_catalog catalog;
  catalog.function("low", "begin delete from ledger; end");
  catalog.function("middle", "select low()", "sql");
  catalog.function("high", "begin perform app . middle (); end");
  catalog.function("far", "begin perform other(); end");
  const auto report = catalog.closure();
  EXPECT_EQ(call_of(report, "high"), touch_kind::touch);
  EXPECT_EQ(call_of(report, "far"), touch_kind::none);
}

TEST(ClosureOfFunctions, ANameThatIsNotCalledIsNoCall) {
  sample_catalog catalog;
  catalog.function("status", "begin delete from ledger; end");
  catalog.function("g", "declare status int; begin status := 1; return status; end");
  EXPECT_EQ(call_of(catalog.closure(), "g"), touch_kind::none);
}

TEST(ClosureOfFunctions, ANameInAStatementThatIsPutTogetherMayBeACall) {
  sample_catalog catalog;
  catalog.function("pay", "begin delete from ledger; end");
  catalog.function("g", "begin execute 'select ' || 'pay' || '()'; end");
  EXPECT_EQ(call_of(catalog.closure(), "g"), touch_kind::touch);
}

TEST(ClosureOfFunctions, AFunctionMayReachTheLedgerThroughATrigger) {
  sample_catalog catalog;
  const object_id posts = catalog.table("posts");
  catalog.trigger(posts, catalog.function("pay", "begin delete from ledger; end"), on_insert);
  catalog.function("writes", "begin insert into posts values (1); end");
  catalog.function("reads", "begin perform count(*) from posts; end");
  catalog.function("deletes", "delete from posts", "sql");
  const auto report = catalog.closure();
  EXPECT_EQ(call_of(report, "writes"), touch_kind::touch);
  EXPECT_EQ(call_of(report, "reads"), touch_kind::none);
  EXPECT_EQ(call_of(report, "deletes"), touch_kind::none);
}

TEST(ClosureOfFunctions, TwoThatCallEachOtherAreNoEndlessLoop) {
  sample_catalog catalog;
  catalog.function("ping", "begin perform pong(); end");
  catalog.function("pong", "begin perform ping(); delete from ledger; end");
  EXPECT_EQ(call_of(catalog.closure(), "ping"), touch_kind::touch);
}

TEST(ClosureOfFunctions, ACallOfATransitionIsATransition) {
  sample_catalog catalog;
  catalog.function("flip", "begin update mode_control set mode = 'x'; end");
  catalog.function("flip_later", "begin delete from ledger; perform flip(); end");
  const auto report = catalog.closure();
  EXPECT_EQ(call_of(report, "flip"), touch_kind::transition);
  EXPECT_EQ(call_of(report, "flip_later"), touch_kind::transition);
}

TEST(ClosureOfFunctions, ATableWithAnOddNameIsFoundInBodies) {
  sample_catalog catalog;
  catalog.view("Big \"list\"", {catalog.ledger});
  catalog.function("f", "begin perform 1 from app.\"Big \"list\"\"; end");
  EXPECT_EQ(call_of(catalog.closure(), "f"), touch_kind::touch);
}

TEST(ClosureOfAtomicBodies, CommandsAndDependenciesSayWhatHappens) {
  struct atomic_case {
    const char* commands;
    bool to_users;
    std::vector<int> columns;
    touch_kind expected;
  };
  const atomic_case cases[] = {
      {"1", false, {0}, touch_kind::touch},    {"1", true, {0, 2}, touch_kind::none},
      {"2", true, {0, 3}, touch_kind::none},   {"2", true, {0, 2}, touch_kind::touch},
      {"3C", true, {0, 3}, touch_kind::touch}, {"4", true, {0}, touch_kind::touch},
      {"5", true, {0, 3}, touch_kind::touch},
  };
  for (const atomic_case& each : cases) {
    sample_catalog catalog;
    const object_id f = catalog.function("f", "", "sql");
    catalog.rows.functions.back().atomic_commands = each.commands;
    catalog.depends(object_class::function, f, object_class::relation,
                    each.to_users ? catalog.users : catalog.ledger, each.columns);
    EXPECT_EQ(call_of(catalog.closure(), "f"), each.expected) << each.commands << ' ' << each.columns.back();
  }
}

TEST(ClosureOfAggregates, AnAggregateCallsItsFunctions) {
  sample_catalog catalog;
  const object_id step = catalog.function("step", "begin perform 1 from ledger; end");
  const object_id total = catalog.function("total", "", "internal");
  catalog.rows.functions.back().kind = 'a';
  catalog.depends(object_class::function, total, object_class::function, step);
  EXPECT_EQ(call_of(catalog.closure(), "total"), touch_kind::touch);
}

TEST(ClosureOfOtherLanguages, AMentionIsEnoughForEverything) {
  EXPECT_EQ(call_with_body("plpy.execute(query_for('ledger'))", "plpython3u"), touch_kind::touch);
  EXPECT_EQ(call_with_body("plpy.execute(verb + ' users')", "plpython3u"), touch_kind::touch);
  EXPECT_EQ(call_with_body("return 1", "plpython3u"), touch_kind::none);
}

} // namespace
} // namespace ledgergate::test
