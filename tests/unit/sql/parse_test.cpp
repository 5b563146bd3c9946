#include "proxy/sql/parse.hpp"

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace ledgergate::sql {
namespace {

std::string repeated(std::string_view part, std::size_t count) {
  std::string result;
  while (count-- > 0)
    result += part;
  return result;
}

const char* shown(access_kind how) {
  switch (how) {
  case access_kind::read: return "read";
  case access_kind::lock_for_key_share: return "key_share";
  case access_kind::lock_for_share: return "share";
  case access_kind::lock_for_no_key_update: return "no_key_update";
  case access_kind::lock_for_update: return "for_update";
  case access_kind::lock_table_for_reading: return "table_read";
  case access_kind::lock_table_for_writing: return "table_write";
  case access_kind::insert: return "insert";
  case access_kind::update: return "update";
  case access_kind::remove: return "delete";
  case access_kind::truncate: return "truncate";
  case access_kind::rebuild: return "rebuild";
  case access_kind::rewrite: return "rewrite";
  }
  return "?";
}

/// All accesses of a text, sorted: `insert led(a,b)`, `read s.led`.
std::vector<std::string> accesses(std::string_view text) {
  const parse_result parsed = parse(text);
  EXPECT_EQ(parsed.error, nullptr) << text;
  std::vector<std::string> result;
  for (const statement_facts& facts : parsed.statements) {
    for (const relation_access& access : facts.relations) {
      std::string line = std::string(shown(access.how)) + " ";
      if (!access.schema.empty()) line += access.schema + ".";
      line += access.name;
      if (access.all_columns) line += "(*)";
      if (!access.columns.empty()) {
        line += "(";
        for (const std::string& column : access.columns)
          line += (line.back() == '(' ? "" : ",") + column;
        line += ")";
      }
      result.push_back(line);
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

struct access_case {
  const char* text;
  std::vector<std::string> expected;
};

TEST(Parse, FindsRelationsAndWhatIsDoneToThem) {
  const access_case cases[] = {
      {"select * from a, s.b join \"C\" on true", {"read C", "read a", "read s.b"}},
      {"table a", {"read a"}},
      {"select (select 1 from a) from b where exists (select 1 from c) limit (select 1 from d)",
       {"read a", "read b", "read c", "read d"}},
      {"select f((select 1 from a)) order by (select 1 from b)", {"read a", "read b"}},
      {"select 1 from a union select 1 from b except select 1 from c", {"read a", "read b", "read c"}},
      {"select * from a tablesample system (10)", {"read a"}},
      {"select * from only a", {"read a"}},
      {"insert into a select * from b", {"insert a(*)", "read b"}},
      {"insert into a (x, y) values (1, (select 1 from b)) returning (select 1 from c)",
       {"insert a(x,y)", "read b", "read c"}},
      {"insert into a (x) values (1) on conflict (x) do update set y = 1, (z, w) = (2, 3)",
       {"insert a(x)", "update a(y,z,w)"}},
      {"insert into a values (1) on conflict do nothing", {"insert a(*)"}},
      {"insert into a default values", {"insert a(*)"}},
      {"update a set x = 1, (y, z) = (select 1, 2 from b) from c where true",
       {"read b", "read b", "read c", "update a(x,y,z)"}},
      {"update a set x[1] = 1, y.z = 2", {"update a(x,y)"}},
      {"delete from a using b where a.x = b.x", {"delete a", "read b"}},
      {"merge into a using b on a.x = b.x when matched and b.y then delete when matched then update set y = "
       "1 "
       "when not matched then insert (x) values (1)",
       {"delete a", "insert a(x)", "read a", "read b", "update a(y)"}},
      {"merge into a using b on true when matched then do nothing", {"read a", "read b"}},
      {"with w as (delete from a returning *), v as (insert into b select * from w) select * from v",
       {"delete a", "insert b(*)", "read v", "read w"}},
      {"select * from a for update", {"for_update a", "read a"}},
      {"select * from a, b x, c for share of x", {"read a", "read b", "read c", "share b"}},
      {"select * from a x for update of a", {"read a"}},
      {"select * from a for key share of a for no key update of a",
       {"key_share a", "no_key_update a", "read a"}},
      {"select * from (select * from a join b on true) s, c for update of s",
       {"for_update a", "for_update b", "read a", "read b", "read c"}},
      {"with w as (select * from a) select * from w, b for update",
       {"for_update b", "for_update w", "read a", "read b", "read w"}},
      {"select count(*) from (select * from a for update) s", {"for_update a", "read a"}},
      {"select * from a where exists (select 1 from b) for update", {"for_update a", "read a", "read b"}},
      {"lock table a, s.b", {"table_write a", "table_write s.b"}},
      {"lock a in access share mode", {"table_read a"}},
      {"lock a in row share mode", {"table_read a"}},
      {"lock a in share mode", {"table_read a"}},
      {"lock a in row exclusive mode nowait", {"table_write a"}},
      {"truncate a, only s.b cascade", {"truncate a", "truncate s.b"}},
      {"copy a from stdin", {"insert a(*)"}},
      {"copy s.a (x, y) from '/f' with (format csv) where x > 1", {"insert s.a(x,y)"}},
      {"copy a to stdout", {"read a(*)"}},
      {"copy (select * from a) to stdout", {"read a"}},
      {"copy (insert into a values (1) returning *) to stdout", {"insert a(*)"}},
      {"create table n as select * from a", {"read a"}},
      {"create materialized view n as select * from a", {"read a"}},
      {"select * into n from a", {"read a"}},
      {"refresh materialized view concurrently a", {"insert a(*)"}},
      {"declare c cursor with hold for select * from a", {"read a"}},
      {"explain select * from a", {}},
      {"explain (analyze false) delete from a", {}},
      {"explain (analyze 0, verbose) delete from a", {}},
      {"explain (analyze 1) delete from a", {"delete a"}},
      {"explain analyze verbose delete from a", {"delete a"}},
      {"explain (verbose, analyze on) update a set x = 1", {"update a(x)"}},
      {"explain analyze create table n as select * from a", {"read a"}},
      {"prepare p as insert into a values ($1)", {"insert a(*)"}},
      {"create view v as select * from a", {}},
      {"create table n (like a)", {}},
      {"create index concurrently on a (x)", {"rebuild a"}},
      {"alter table a add column x int", {}},
      {"drop table a", {}},
      {"alter table a add column x int default 1", {}},
      {"alter table a add column x text default 'x'::text", {}},
      {"alter table a add column x int default f()", {"rewrite a"}},
      {"alter table a add column x int check (x > 0)", {"rewrite a"}},
      {"alter table a add column x int generated always as (y + 1) stored", {"rewrite a"}},
      {"alter table a add column x int references b", {"read b"}},
      {"alter table s.a alter column x type int", {"rewrite s.a"}},
      {"alter table a alter x type int using f(x), alter y type int",
       {"rewrite a", "rewrite a", "update a(x)"}},
      {"alter table a alter x set default f()", {}},
      {"alter table a add constraint c check (f(x))", {"rewrite a"}},
      {"alter table a add constraint c check (f(x)) not valid", {}},
      {"alter table a add foreign key (x) references b", {"read b", "rewrite a"}},
      {"alter table a add primary key (x)", {"rebuild a"}},
      {"alter table a validate constraint c", {"rewrite a"}},
      {"alter table a set unlogged", {"rebuild a"}},
      {"alter table a attach partition b for values in (1)", {"rewrite a", "rewrite b"}},
      {"create table n partition of a for values in (1)", {"rewrite a"}},
      {"vacuum a", {"rebuild a"}},
      {"vacuum full a, s.b", {"rebuild a", "rebuild s.b"}},
      {"analyze a (x)", {"rebuild a"}},
      {"reindex table a", {"rebuild a"}},
      {"reindex index a", {}},
      {"cluster a", {"rebuild a"}},
      {"grant select on a to b", {}},
      {"comment on table a is 'x'", {}},
      {"create rule r as on insert to a do also insert into b values (1)", {}},
      {"create function f() returns int language sql begin atomic select 1 from a; end", {}},
      {"create trigger t after insert on a execute function f()", {}},
      {"select U&\"\\0061\".x from U&\"\\0061\", U&\"d!0061t\" UESCAPE '!'", {"read a", "read dat"}},
      {"select * from \"A\", A, \"a\"\"b\", \xC3\x84"
       "B",
       {"read A", "read a", "read a\"b",
        "read \xC3\x84"
        "b"}},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_EQ(accesses(text), expected) << text;
}

TEST(Parse, CutsNamesAsTheServerDoes) {
  const std::string name(70, 'x');
  EXPECT_EQ(accesses("table " + name), std::vector<std::string>{"read " + name.substr(0, 63)});
}

TEST(Parse, RecognisesFunctionsAndTheirConstantArguments) {
  const parse_result parsed = parse("select a(), s.b(1), c('5'::int, x), d(-7, 'text'), z(0), y('-8'), e(x "
                                    "=> 12345678901), f($1), t.g, (r).h, i(variadic array[1])"
                                    " from k(1) where l(m(2)) = 3 order by n() over (partition by o())");
  ASSERT_EQ(parsed.error, nullptr);
  ASSERT_EQ(parsed.statements.size(), 1U);
  std::vector<std::string> found;
  for (const function_call& call : parsed.statements.front().functions) {
    std::string line = call.schema.empty() ? call.name : call.schema + "." + call.name;
    line += "/" + std::to_string(call.argument_count);
    if (call.first_integer) line += " " + std::to_string(*call.first_integer);
    for (const std::string& text : call.text_arguments)
      line += " '" + text + "'";
    if (call.has_computed_text) line += " computed";
    found.push_back(line);
  }
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found,
            (std::vector<std::string>{"a/0", "c/2 5 '5' computed", "d/2 'text'", "e/1 12345678901",
                                      "f/1 computed", "g/1", "h/1", "i/1 computed", "k/1 1", "l/1 computed",
                                      "m/1 2", "n/0", "o/0", "s.b/1 1", "y/1 -8 '-8'", "z/1 0"}));
  EXPECT_TRUE(parsed.statements.front().uses_parameters);
}

TEST(Parse, TellsStatementsApart) {
  const parse_result parsed = parse("begin; select 1; call p(1); do $$x$$; prepare a as select 1; execute "
                                    "b(2); deallocate c; deallocate all; "
                                    "discard all; discard plans; explain analyze execute d; create table n "
                                    "as execute e; set transaction read only");
  ASSERT_EQ(parsed.error, nullptr);
  const auto& s = parsed.statements;
  ASSERT_EQ(s.size(), 13U);
  EXPECT_EQ(s[0].kind, statement_kind::control);
  EXPECT_EQ(s[0].control, control_kind::begin);
  EXPECT_EQ(s[1].kind, statement_kind::plain_dml);
  EXPECT_EQ(s[2].kind, statement_kind::call);
  EXPECT_EQ(s[2].functions.at(0).name, "p");
  EXPECT_EQ(s[3].kind, statement_kind::do_block);
  EXPECT_EQ(s[3].do_body, "x");
  EXPECT_EQ(s[4].kind, statement_kind::prepare);
  EXPECT_EQ(s[4].prepares, "a");
  EXPECT_EQ(s[5].executes, "b");
  EXPECT_EQ(s[6].deallocates, "c");
  EXPECT_FALSE(s[6].deallocates_all);
  EXPECT_TRUE(s[7].deallocates_all);
  EXPECT_TRUE(s[8].discards_all);
  EXPECT_FALSE(s[9].discards_all);
  EXPECT_EQ(s[10].executes, "d");
  EXPECT_EQ(s[11].executes, "e");
  EXPECT_EQ(s[12].control, control_kind::set_transaction);
}

TEST(Parse, SelectIntoIsNoPlainDml) {
  EXPECT_EQ(parse("select 1 into n").statements.at(0).kind, statement_kind::other);
  EXPECT_EQ(parse("select 1 into n from a union select 2").statements.at(0).kind, statement_kind::other);
  EXPECT_EQ(parse("values (1)").statements.at(0).kind, statement_kind::plain_dml);
}

TEST(Parse, EmptyTextsHoldNoStatement) {
  for (const char* text : {"", ";", " ; ; -- x", "/* x */"}) {
    EXPECT_EQ(parse(text).error, nullptr) << text;
    EXPECT_TRUE(parse(text).statements.empty()) << text;
  }
}

TEST(Parse, SaysWhyATextCannotBeRead) {
  EXPECT_STREQ(parse("selec 1").error, "syntax");
  EXPECT_STREQ(parse("select 'open").error, "syntax");
  EXPECT_STREQ(parse(std::string_view("select 1\0 from led", 18)).error, "encoding");
  EXPECT_STREQ(parse("select " + repeated("(", 10'000) + "1" + repeated(")", 10'000)).error, "too_deep");
  EXPECT_STREQ(parse("select 1" + repeated("+1", 50'000)).error, "too_deep");
  EXPECT_STREQ(parse("select 1" + repeated(" union select 1", 10'000)).error, "too_deep");
  EXPECT_STREQ(parse("select " + repeated("not ", 50'000) + "true").error, "too_deep");
  EXPECT_STREQ(
      parse(repeated("with q as (update t set (a, b) = (", 60) + "1" + repeated(")) select 1", 60)).error,
      "too_long");
  EXPECT_STREQ(parse("select x in (1" + repeated(",1", 25'000'000) + ")").error, "too_long");
}

TEST(Parse, InvalidBytesAreNoObstacle) {
  EXPECT_EQ(accesses("select '\xFF\xC3' from a"), std::vector<std::string>{"read a"});
  EXPECT_EQ(accesses("select 1 from \xFF\xFE"), std::vector<std::string>{"read \xFF\xFE"});
}

TEST(Parse, LongListsAreRead) {
  EXPECT_EQ(accesses("select * from a where x in (1" + repeated(",1", 100'000) + ")"),
            std::vector<std::string>{"read a"});
  EXPECT_EQ(accesses("select * from a where x = 1" + repeated(" or x = 1", 20'000)),
            std::vector<std::string>{"read a"});
  EXPECT_EQ(accesses("select 'a' " + repeated("|| 'b' ", 900) + "from a"),
            std::vector<std::string>{"read a"});
}

TEST(Parse, ManyThreadsReadAtOnce) {
  std::vector<std::thread> threads;
  std::vector<int> right(4);
  for (std::size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([&right, t] {
      const std::string name = "led" + std::to_string(t);
      for (int i = 0; i < 300; ++i) {
        const parse_result good = parse("insert into " + name + " select " + std::to_string(i));
        const parse_result bad = parse("insert into " + name + " selec");
        right[t] += good.error == nullptr && good.statements.at(0).relations.at(0).name == name &&
                    bad.error != nullptr;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  for (const int count : right)
    EXPECT_EQ(count, 300);
}

} // namespace
} // namespace ledgergate::sql
