// Texts as clients send them, and what the gate must make of each.
#include <string>

#include <gtest/gtest.h>

#include "proxy/sql/classifier.hpp"
#include "tests/unit/sql/sample_settings.hpp"

namespace ledgergate::sql {

void PrintTo(touch_kind kind, std::ostream* out) { *out << to_string(kind); }
void PrintTo(text_shape shape, std::ostream* out) { *out << to_string(shape); }
void PrintTo(touch_reason reason, std::ostream* out) { *out << to_string(reason); }

namespace {

using enum touch_kind;
using enum text_shape;

struct text_case {
  const char* text;
  touch_kind touch;
  text_shape shape;
};

void expect_all(std::initializer_list<text_case> cases) {
  const classifier reader(test::sample_settings());
  for (const auto& [text, expected, shape] : cases) {
    const text_verdict verdict = reader.classify(text, {});
    EXPECT_EQ(verdict.touch, expected) << text;
    EXPECT_EQ(verdict.shape, shape) << text;
    EXPECT_EQ(reader.is_candidate(text, {}), verdict.reason != touch_reason::not_mentioned) << text;
  }
}

TEST(TextCases, WhatMentionsNothingIsNotLookedAt) {
  expect_all({
      {"", none, unknown},
      {"select 1", none, unknown},
      {"begin", none, unknown},
      {"commit", none, unknown},
      {"rollback to savepoint a", none, unknown},
      {"set search_path to x", none, unknown},
      {"show transaction_isolation", none, unknown},
      {"insert into other values (1) on conflict do nothing", none, unknown},
      {"insert into other values (1) on conflict (x) do update set y = 1", none, unknown},
      {"select window_of_doing from undo", none, unknown},
      {"select pg_advisory_xact_lock_share", touch_kind::none, plain_dml},
      {"call unrelated()", none, unknown},
      {"select pg_notify('a', 'b')", none, unknown},
  });
}

TEST(TextCases, NamesAreReadAsTheServerReadsThem) {
  expect_all({
      {"select * from LED", touch, plain_dml},
      {"select * from \"Led\"", none, plain_dml},
      {"select * from \"led\"", touch, plain_dml},
      {"select * from public.led", touch, plain_dml},
      {"select * from db.public.led", touch, plain_dml},
      {"select * from U&\"\\006Ced\"", touch, plain_dml},
      {"select * from U&\"l!0065d\" UESCAPE '!'", touch, plain_dml},
      {"select * from u&\"\\006fther\"", none, plain_dml},
      {"select * from \xD0\xBB\xD0\xB5\xD0\xB4", touch, plain_dml},
      {"select * from \xD0\x9B\xD0\x95\xD0\x94", none, unknown},
      {"select * from \"Mixed \"\"Case\"\"\"", touch, plain_dml},
      {"select * from \"mixed \"\"case\"\"\"", none, plain_dml},
      {"select * from vault", touch, plain_dml},
      {"select * from finance . vault", touch, plain_dml},
      {"select * from archive.vault", none, plain_dml},
      {"select * from pg_temp.led", touch, plain_dml},
      {"select * from ledx", none, plain_dml},
      {"select/**/*/* /* x */ */from--\nled", touch, plain_dml},
  });
}

TEST(TextCases, AMentionAloneIsNoTouch) {
  expect_all({
      {"select 'led'", none, plain_dml},
      {"select 1 /* led */", none, plain_dml},
      {"-- led\nselect 1", none, plain_dml},
      {"select $$led$$", none, plain_dml},
      {"select led from other", none, plain_dml},
      {"select 1 as led", none, plain_dml},
      {"select * from other led", none, plain_dml},
      {"select 'led'::regclass", none, plain_dml},
      {"insert into audit values ('update led set x = 1')", none, plain_dml},
      {"set application_name = 'led'", none, other_single},
      {"/* led */", none, empty},
      {"notify led", none, other_single},
  });
}

TEST(TextCases, HiddenReadsAndWritesAreFound) {
  expect_all({
      {"with x as (delete from led returning *) select count(*) from x", touch, plain_dml},
      {"select count(*) from (select * from led for update) s", touch, plain_dml},
      {"merge into other using led on true when matched then delete", touch, plain_dml},
      {"merge into led using other on true when not matched then insert values (1)", touch, plain_dml},
      {"insert into other select * from led", touch, plain_dml},
      {"create table n as select * from led", touch, other_single},
      {"create table n as table led", touch, other_single},
      {"select * into n from led", touch, other_single},
      {"create materialized view n as select * from led", touch, other_single},
      {"refresh materialized view led", touch, other_single},
      {"explain analyze insert into led values (1)", touch, other_single},
      {"explain (analyze) insert into led values (1)", touch, other_single},
      {"explain insert into led values (1)", none, other_single},
      {"table led", touch, plain_dml},
      {"values ((select 1 from led))", touch, plain_dml},
      {"copy led from stdin", touch, other_single},
      {"copy led to stdout", touch, other_single},
      {"copy (select * from led) to stdout", touch, other_single},
      {"copy other from stdin", none, unknown},
      {"truncate other, led", touch, other_single},
      {"declare c cursor for select * from led", touch, other_single},
      {"fetch all from led", none, other_single},
      {"lock table led", touch, other_single},
      {"select 1 limit (select count(*) from led)", touch, plain_dml},
      {"select f(array(select x from led))", touch, plain_dml},
      {"delete from other returning (select count(*) from led)", touch, plain_dml},
      {"update other set (a, b) = (select 1, 2 from led)", touch, plain_dml},
      {"select 1 from other where exists (select from led)", touch, plain_dml},
      {"select * from lateral (select * from led) x", touch, plain_dml},
      {"select query_to_xml('select * from led', true, true, '')", touch, plain_dml},
      {"select query_to_xml('select * from other', true, true, '')", none, plain_dml},
      {"select query_to_xml($1, true, true, '')", touch, dml_with_params},
  });
}

TEST(TextCases, RulesNarrowWhatTouches) {
  expect_all({
      {"select * from balances", none, plain_dml},
      {"select * from balances for share", touch, plain_dml},
      {"select * from other o, balances b for update of o", none, plain_dml},
      {"select * from other o, balances b for update of b", touch, plain_dml},
      {"select * from other o join (select * from balances) b on true for update of b", touch, plain_dml},
      {"update other set x = 1 from balances", none, plain_dml},
      {"lock table balances in access share mode", touch, other_single},
      {"lock table accounts", none, other_single},
      {"select * from accounts for update", none, plain_dml},
      {"insert into accounts values (1)", touch, plain_dml},
      {"update users set name = 'x'", none, plain_dml},
      {"update users set kudos = kudos + 1", touch, plain_dml},
      {"update users set (name, evaluating_kudos) = ('x', 1)", touch, plain_dml},
      {"update users u set name = 'kudos'", none, plain_dml},
      {"insert into users (name) values ('x')", none, plain_dml},
      {"insert into users (name, kudos) values ('x', 1)", touch, plain_dml},
      {"insert into users values ('x')", touch, plain_dml},
      {"insert into users (name) values ('x') on conflict (name) do update set kudos = 1", touch, plain_dml},
      {"insert into users (name) values ('x') on conflict (name) do update set name = 'y'", none, plain_dml},
      {"merge into users using o on true when matched then update set kudos = 1", touch, plain_dml},
      {"merge into users using o on true when matched then update set name = 'x'", none, plain_dml},
      {"merge into users using o on true when not matched then insert (name) values ('x')", none, plain_dml},
      {"delete from users", touch, plain_dml},
      {"truncate users", touch, other_single},
      {"copy users (name) from stdin", none, other_single},
      {"copy users from stdin", touch, other_single},
  });
}

TEST(TextCases, WorkOnTheSchemaIsNoTouch) {
  expect_all({
      {"create table led (x int)", none, other_single},
      {"create temp table led (x int)", none, other_single},
      {"alter table led add x int", none, other_single},
      {"drop table led", none, other_single},
      {"create index concurrently on led (x)", none, other_single},
      {"reindex table led", none, other_single},
      {"cluster led", none, other_single},
      {"vacuum full led", none, other_single},
      {"analyze led", none, other_single},
      {"grant all on led to x", none, other_single},
      {"comment on table led is 'x'", none, other_single},
      {"create view v as select * from led", none, other_single},
      {"create function post_kudos() returns int language sql as 'select 1 from led'", none, other_single},
      {"create trigger t after insert on led execute function x()", none, other_single},
  });
}

TEST(TextCases, ControlRowIsTouchedOrChanged) {
  expect_all({
      {"select mode from mode_control where id = 1", touch, plain_dml},
      {"SELECT mode_control.id AS a \nFROM mode_control \nWHERE mode_control.id = 1 \n LIMIT 1 FOR KEY SHARE",
       touch, plain_dml},
      {"select * from mode_control for share", touch, plain_dml},
      {"SELECT mode_control.id \nFROM mode_control \nWHERE mode_control.id = 1 FOR UPDATE", transition,
       plain_dml},
      {"select * from mode_control for no key update", transition, plain_dml},
      {"select * from other o, mode_control m for update of o", touch, plain_dml},
      {"update mode_control set mode = 'ledger'", transition, plain_dml},
      {"insert into mode_control values (1, 'shadow')", transition, plain_dml},
      {"delete from mode_control", transition, plain_dml},
      {"truncate mode_control", transition, other_single},
      {"copy mode_control from stdin", transition, other_single},
      {"copy mode_control to stdout", touch, other_single},
      {"merge into mode_control using o on true when matched then update set mode = 'x'", transition,
       plain_dml},
      {"lock mode_control", transition, other_single},
      {"lock mode_control in row share mode", touch, other_single},
      {"with w as (update mode_control set mode = 'x' returning 1) select * from w", transition, plain_dml},
      {"explain analyze update mode_control set mode = 'x'", transition, other_single},
      {"do $$ begin update mode_control set mode = 'x'; end $$", transition, other_single},
      {"insert into led values (1); update mode_control set mode = 'x'", transition, several},
  });
}

TEST(TextCases, FunctionsAndLocksTouch) {
  expect_all({
      {"select post_kudos(1)", touch, plain_dml},
      {"select * from app.post_kudos(1)", touch, plain_dml},
      {"select o.post_kudos from other o", touch, plain_dml},
      {"select post_kudos from other", none, plain_dml},
      {"call post_kudos(1)", touch, other_single},
      {"call p((select count(*) from led))", touch, other_single},
      {"call led_report()", none, other_single},
      {"select settle()", touch, plain_dml},
      {"select elsewhere.settle()", none, plain_dml},
      {"select pg_advisory_xact_lock(1263879250, 42)", touch, plain_dml},
      {"SELECT pg_catalog.pg_try_advisory_xact_lock(1263879250::int, $1)", touch, dml_with_params},
      {"select pg_advisory_xact_lock($1, $2)", touch, dml_with_params},
      {"select pg_advisory_xact_lock(1263879247)", none, plain_dml},
      {"select pg_advisory_xact_lock(1, 2)", none, plain_dml},
      {"do 'begin end'", touch, other_single},
      {"DO LANGUAGE plpgsql $$ begin end $$", touch, other_single},
      {"select 1; do 'x'", touch, several},
  });
}

TEST(TextCases, ShapesTellHowTheServerRunsTheText) {
  expect_all({
      {"select * from led;", touch, plain_dml},
      {"; select * from led; ;", touch, plain_dml},
      {"select * from led where x = $1", touch, dml_with_params},
      {"insert into led values ($1)", touch, dml_with_params},
      {"select '$1' from led", touch, plain_dml},
      {"select 1; select * from led", touch, several},
      {"begin; insert into led values (1); commit", touch, several},
      {"begin /* led */", none, other_single},
  });
}

} // namespace
} // namespace ledgergate::sql
