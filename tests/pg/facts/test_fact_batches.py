"""Facts about the extended protocol: what a lock call does to its batch, and what an error leaves behind."""

import pytest

from fact_sessions import (
    HOLD_SQL, LOCK, LOCK_SHARED, PIN_NAME, PIN_REPLIES, PIN_SQL, SHARED, UNLOCK_SHARED, XACT_LOCK_SHARED, call,
    locks, pin_in_batch, run, tags)
from support import wire

INSERT = "INSERT INTO led VALUES (1)"


def test_f17_a_function_call_in_a_batch_is_answered_in_place_and_the_batch_goes_on(connect, witness):
    a = connect()
    a.do("BEGIN")
    answer = a.kinds(run(INSERT), call(XACT_LOCK_SHARED), run(INSERT), wire.sync(), count=2)
    assert answer == ["1", "2", "C", "V", "Z:T", "1", "2", "C", "Z:T"]
    assert locks(witness, a) == SHARED
    assert witness.value("SELECT count(*) FROM led") == "0"


def test_f17_with_no_transaction_open_it_commits_the_implicit_one_up_to_17_and_leaves_it_open_from_18(
        connect, witness, major):
    a = connect()
    a.send(run(INSERT), call(XACT_LOCK_SHARED))
    answer = wire.kinds(a.read_until_ready())
    assert answer == ["1", "2", "C", "V", "Z:I" if major < 18 else "Z:T"]
    assert witness.value("SELECT count(*) FROM led") == ("1" if major < 18 else "0")
    assert locks(witness, a) == ([] if major < 18 else SHARED)
    assert a.kinds(run(INSERT), wire.sync()) == ["1", "2", "C", "Z:I"]
    assert witness.value("SELECT count(*) FROM led") == "2"
    assert locks(witness, a) == []


def test_f17_a_function_call_behind_an_error_in_the_batch_is_skipped(connect, witness):
    a = connect()
    a.do("BEGIN")
    assert a.kinds(run("SELECT 1/0"), call(LOCK_SHARED), run(INSERT), wire.sync()) == ["1", "E", "Z:E"]
    assert locks(witness, a) == []


def test_f18_a_query_behind_a_batch_without_sync_ends_the_transaction_up_to_17_and_leaves_it_open_from_18(
        connect, witness, major):
    a = connect()
    answer = a.kinds(run(INSERT), wire.query("SELECT 1"))
    committed = witness.value("SELECT count(*) FROM led") == "1"
    assert answer[:-1] == ["1", "2", "C", "T", "D", "C"]
    assert (answer[-1], committed) == (("Z:I", True) if major < 18 else ("Z:T", False))


def test_f21_an_error_skips_a_trailing_close_so_the_statement_survives(connect):
    a = connect()
    closing = wire.close_portal(PIN_NAME) + wire.close_statement(PIN_NAME)
    answer = a.kinds(run(PIN_SQL, PIN_NAME, PIN_NAME), run("SELECT 1/0"), closing, wire.sync())
    assert answer[-2:] == ["E", "Z:I"]
    assert a.sqlstate(run(PIN_SQL, PIN_NAME, PIN_NAME), wire.sync()) == "42P05"


def test_f21_a_pin_that_closes_its_name_first_is_robust_against_what_an_error_left(connect):
    a = connect()
    for _ in range(2):
        assert a.kinds(pin_in_batch(), run("SELECT 1/0"), wire.sync())[-2:] == ["E", "Z:I"]
        assert a.kinds(wire.close_statement(PIN_NAME), run(PIN_SQL, PIN_NAME, PIN_NAME), run("SELECT 1/0"),
                       wire.sync())[-2:] == ["E", "Z:I"]
    assert a.kinds(pin_in_batch(), wire.sync()) == [*PIN_REPLIES, "Z:I"]


def test_f21_closing_a_name_that_does_not_exist_is_no_error(connect):
    a = connect()
    assert a.kinds(wire.close_statement("none"), wire.close_portal("none"), wire.sync()) == ["3", "3", "Z:I"]


@pytest.mark.parametrize("pin, replies", [(b"", []), (pin_in_batch(), PIN_REPLIES)],
                         ids=["alone", "behind a pin"])
def test_f23_a_deferred_constraint_reports_behind_command_complete_in_a_batch(connect, pin, replies):
    a = connect()
    answer = a.ask(pin, run("INSERT INTO children VALUES (1)"), wire.sync())
    assert wire.kinds(answer) == [*replies, "1", "2", "C", "E", "Z:I"]
    assert wire.error_of(answer)["C"] == "23503"


@pytest.mark.parametrize("pin, replies", [("", []), (PIN_SQL + ";", ["T", "D", "C"])],
                         ids=["alone", "behind a pin"])
def test_f23_a_deferred_constraint_takes_the_place_of_command_complete_in_a_query(connect, pin, replies):
    a = connect()
    answer = a.simple(pin + "INSERT INTO children VALUES (1)")
    assert wire.kinds(answer) == [*replies, "E", "Z:I"]
    assert wire.error_of(answer)["C"] == "23503"


def as_extended(sql):
    return pin_in_batch() + wire.extended(sql)


def without(messages, replies):
    """The messages after the replies of the pin, and without those that a simple query does not have."""
    assert wire.kinds(messages)[:len(replies)] == replies
    return [m.raw for m in messages[len(replies):] if m.kind not in "12n"]


@pytest.mark.parametrize("sql", [
    "SELECT a, loud(a) FROM generate_series(1, 3) AS a",
    "SELECT current_query()",
    "  /* before */ SELECT current_query(), 1::numeric(6,2)  ",
    "INSERT INTO led VALUES (1), (2) RETURNING a",
    "UPDATE accounts SET kudos = 1 WHERE id = 1",
    "SELECT 1, no_such_column FROM led",
    "SELECT 1/(a - 2) FROM generate_series(1, 3) AS a",
    "SELEC 1",
])
def test_f29_a_query_sent_as_extended_behind_a_pin_is_answered_like_the_simple_one(connect, sql):
    a = connect()
    simple = [m.raw for m in a.simple(sql)]
    assert without(a.ask(as_extended(sql)), PIN_REPLIES) == simple


def test_f29_the_unnamed_statement_of_the_client_survives_a_pin_that_uses_its_own_names(connect):
    a = connect()
    answer = a.kinds(wire.parse("SELECT 7"), pin_in_batch(), wire.bind(), wire.execute(), wire.sync())
    assert answer == ["1", *PIN_REPLIES, "2", "D", "C", "Z:I"]
    answer = a.kinds(pin_in_batch(), wire.bind(), wire.execute(), wire.sync())
    assert answer == [*PIN_REPLIES, "2", "D", "C", "Z:I"]


def test_f32_closing_the_statement_leaves_its_portal_so_a_second_pin_in_the_transaction_fails(connect):
    a = connect()
    closing = wire.close_statement(PIN_NAME)
    half_closed = closing + run(PIN_SQL, PIN_NAME, PIN_NAME) + closing
    a.do("BEGIN")
    assert a.kinds(half_closed, wire.sync())[-1] == "Z:T"
    assert a.sqlstate(half_closed, wire.sync()) == "42P03"


def test_f32_a_pin_that_closes_portal_and_statement_can_be_repeated_in_the_transaction(connect):
    a = connect()
    a.do("BEGIN")
    assert a.kinds(pin_in_batch(), pin_in_batch(), wire.sync()) == [*PIN_REPLIES, *PIN_REPLIES, "Z:T"]


def seen(witness):
    """[(number of the procedure's transaction, whether it held the lock)]"""
    return [(int(number), pinned == "t") for number, pinned in witness.rows("SELECT * FROM seen ORDER BY 1")]


def test_f10_a_procedure_that_commits_cannot_run_behind_a_lock_call_in_the_same_text(connect, witness):
    a = connect()
    assert a.sqlstate(wire.query(PIN_SQL + "; CALL two_transactions()")) == "2D000"
    assert seen(witness) == []


def test_f10_behind_a_pin_in_the_batch_its_commit_drops_the_pin_up_to_17_and_fails_from_18(
        connect, witness, major):
    a = connect()
    answer = a.ask(pin_in_batch(), run("CALL two_transactions()"), wire.sync())
    if major < 18:
        assert tags(answer) == ["SELECT 1", "CALL"]
        assert seen(witness) == [(1, True), (2, False)]
    else:
        assert wire.error_of(answer)["C"] == "2D000"


def test_f10_a_session_level_lock_around_it_is_held_throughout(connect, witness):
    a = connect()
    a.ask(call(LOCK_SHARED))
    assert tags(a.simple("CALL two_transactions()")) == ["CALL"]
    assert a.kinds(call(UNLOCK_SHARED)) == ["V", "Z:I"]
    assert seen(witness) == [(1, True), (2, True)]
    assert locks(witness, a) == []


def test_f33_a_function_call_between_parse_and_the_first_bind_does_no_harm(connect, witness):
    a = connect()
    answer = a.ask(
        wire.parse("CALL two_transactions()"), call(LOCK_SHARED), wire.bind(), wire.execute(), wire.sync(), count=2)
    assert wire.kinds(answer) == ["1", "V", "Z:I", "2", "C", "Z:I"]
    assert seen(witness) == [(1, True), (2, True)]


def test_f33_a_session_level_lock_taken_inside_the_batch_breaks_such_a_call_from_18(connect, witness, major):
    a = connect()
    answer = a.ask(run(HOLD_SQL, PIN_NAME, PIN_NAME), run("CALL two_transactions()"), wire.sync())
    if major < 18:
        assert seen(witness) == [(1, True), (2, True)]
    else:
        assert wire.error_of(answer)["C"] == "2D000"


def test_f33_from_18_such_a_lock_lets_a_declare_succeed_that_fails_without_it(connect, major):
    a = connect()
    declare = run("DECLARE c CURSOR FOR SELECT 1")
    assert a.sqlstate(declare, wire.sync()) == "25P01"
    answer = a.ask(run(HOLD_SQL, PIN_NAME, PIN_NAME), declare, wire.sync())
    if major < 18:
        assert wire.error_of(answer)["C"] == "25P01"
    else:
        assert tags(answer) == ["SELECT 1", "DECLARE CURSOR"]


def test_closing_the_session_gives_its_session_level_lock_back(connect, witness):
    """What everything else falls back on: a session that is given up holds nothing."""
    a, b = connect(), connect()
    a.ask(call(LOCK))
    a.close()
    assert b.kinds(call(LOCK)) == ["V", "Z:I"]
