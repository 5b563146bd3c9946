"""Facts about advisory locks: what takes them, who owns them, what releases them."""

import pytest

from breakpoints import calls_of
from fact_sessions import (
    APPLIER, EXCLUSIVE, GATE, LOCK, LOCK_SHARED, PIN_SQL, SHARED, UNLOCK_SHARED, XACT_LOCK, XACT_LOCK_SHARED,
    await_waiting, call, locks, pin_in_batch, waits)
from support import wire
from support.waiting import wait_until

LOCK_PARTITIONS = 16   # NUM_LOCK_PARTITIONS, compiled into the server


def test_f1_a_function_call_takes_the_lock_inside_the_open_transaction_until_it_commits(connect, witness):
    a = connect()
    a.do("BEGIN")
    assert a.kinds(call(XACT_LOCK_SHARED)) == ["V", "Z:T"]
    assert locks(witness, a) == SHARED
    a.do("COMMIT")
    assert locks(witness, a) == []


def test_f1_a_function_call_with_no_transaction_open_drops_the_lock_at_once(connect, witness):
    a = connect()
    assert a.kinds(call(XACT_LOCK_SHARED)) == ["V", "Z:I"]
    assert locks(witness, a) == []


@pytest.mark.parametrize("oid, name", [
    (2880, "pg_advisory_lock"), (2881, "pg_advisory_lock_shared"),
    (2884, "pg_advisory_unlock"),
    (2885, "pg_advisory_unlock_shared"),
    (3089, "pg_advisory_xact_lock"), (3090, "pg_advisory_xact_lock_shared")])
def test_f2_the_lock_functions_of_one_int8_have_fixed_oids(witness, oid, name):
    rows = witness.rows(f"SELECT proname, proargtypes::regtype[]::text FROM pg_proc WHERE oid = {oid}")
    assert rows == [[name, "[0:0]={bigint}"]]


def test_f5_a_lock_taken_after_a_savepoint_is_gone_after_rolling_back_to_it(connect, witness):
    a = connect()
    a.do("BEGIN", "SAVEPOINT a")
    a.ask(call(XACT_LOCK_SHARED))
    assert locks(witness, a) == SHARED
    a.do("ROLLBACK TO a")
    assert locks(witness, a) == []


def test_f5_a_lock_taken_after_a_savepoint_is_gone_as_soon_as_a_statement_there_fails(connect, witness):
    a = connect()
    a.do("BEGIN", "SAVEPOINT a")
    a.ask(call(XACT_LOCK_SHARED))
    assert a.sqlstate(wire.query("SELECT 1/0")) == "22012"
    assert locks(witness, a) == []


def test_f5_a_session_level_lock_survives_what_drops_the_transaction_level_one(connect, witness):
    a = connect()
    a.do("BEGIN", "SAVEPOINT a")
    a.ask(call(LOCK_SHARED), call(XACT_LOCK_SHARED), count=2)
    a.sqlstate(wire.query("SELECT 1/0"))
    assert locks(witness, a) == SHARED
    a.do("ROLLBACK")
    assert locks(witness, a) == SHARED


@pytest.mark.parametrize("first, then", [(LOCK_SHARED, XACT_LOCK_SHARED), (XACT_LOCK_SHARED, LOCK_SHARED),
                                         (XACT_LOCK_SHARED, XACT_LOCK_SHARED)])
def test_f6_acquiring_again_does_not_wait_even_behind_a_queued_exclusive_request(
        connect, witness, first, then):
    a, t = connect(), connect()
    a.do("BEGIN")
    a.ask(call(first))
    t.do("BEGIN")
    t.send(call(XACT_LOCK))
    await_waiting(witness, t)
    assert a.kinds(call(then)) == ["V", "Z:T"]
    assert waits(witness, t)


def test_f12_a_prepared_transaction_keeps_its_transaction_level_lock_without_a_pid(connect, witness):
    a = connect()
    a.do("BEGIN")
    a.ask(call(XACT_LOCK_SHARED))
    a.do("INSERT INTO led VALUES (1)", "PREPARE TRANSACTION 'p'")
    try:
        assert locks(witness, a) == []
        assert locks(witness, None) == SHARED
    finally:
        a.do("COMMIT PREPARED 'p'")
    assert locks(witness, None) == []


def test_f12_preparing_is_refused_while_the_lock_is_held_at_both_levels(connect, witness):
    a = connect()
    a.ask(call(LOCK_SHARED))
    a.do("BEGIN")
    a.ask(call(XACT_LOCK_SHARED))
    assert a.sqlstate(wire.query("PREPARE TRANSACTION 'p'")) == "0A000"
    assert locks(witness, a) == SHARED   # the session-level one


def test_f12_turning_the_hold_into_a_transaction_level_lock_makes_preparing_possible(connect, witness):
    a = connect()
    a.ask(call(LOCK_SHARED))
    a.do("BEGIN")
    prepare = wire.query("PREPARE TRANSACTION 'p'")
    answer = a.kinds(call(XACT_LOCK_SHARED), call(UNLOCK_SHARED), prepare, count=3)
    try:
        assert answer == ["V", "Z:T", "V", "Z:T", "C", "Z:I"]
        assert locks(witness, None) == SHARED
    finally:
        a.do("ROLLBACK PREPARED 'p'")


def test_f13_commit_and_chain_releases_the_lock_and_leaves_a_transaction_open(connect, witness):
    a = connect()
    a.do("BEGIN")
    a.ask(call(XACT_LOCK_SHARED))
    assert a.kinds(wire.query("COMMIT AND CHAIN")) == ["C", "Z:T"]
    assert locks(witness, a) == []


@pytest.mark.parametrize("attempt", [
    call(XACT_LOCK_SHARED), call(LOCK_SHARED), wire.query(PIN_SQL), pin_in_batch() + wire.sync()],
    ids=["function call", "session-level function call", "simple query", "batch"])
def test_f16_every_lock_call_fails_in_an_aborted_transaction(connect, witness, attempt):
    a = connect()
    a.do("BEGIN")
    a.ask(wire.query("SELECT 1/0"))
    answer = a.ask(attempt)
    assert wire.error_of(answer)["C"] == "25P02"
    assert wire.kinds(answer)[-1] == "Z:E"
    assert locks(witness, a) == []


def test_f19_advisory_locks_are_local_to_a_database(connect, witness):
    a, b = connect(), connect("another")
    a.ask(call(LOCK))
    assert locks(witness, a) == EXCLUSIVE
    assert b.kinds(call(LOCK)) == ["V", "Z:I"]


def test_f24_the_lock_may_be_taken_in_a_read_only_transaction(connect, witness):
    a = connect()
    a.do("BEGIN READ ONLY")
    assert a.kinds(call(XACT_LOCK_SHARED)) == ["V", "Z:T"]
    assert locks(witness, a) == SHARED


def test_f28_a_prepared_transaction_shows_as_blocking_pid_zero(connect, witness):
    a, t = connect(), connect()
    a.do("BEGIN")
    a.ask(call(XACT_LOCK_SHARED))
    a.do("PREPARE TRANSACTION 'p'")
    try:
        t.send(call(LOCK))
        await_waiting(witness, t)
        assert witness.value(f"SELECT pg_blocking_pids({t.pid})") == "{0}"
    finally:
        witness.do("ROLLBACK PREPARED 'p'")
    wait_until(lambda: locks(witness, t) == EXCLUSIVE, "the waiting session to get the lock")


def test_the_two_keys_are_different_locks(connect, witness):
    """Without this the tests of the lock order would prove nothing."""
    a, b = connect(), connect()
    a.ask(call(LOCK, GATE))
    assert b.kinds(call(LOCK, APPLIER)) == ["V", "Z:I"]
    assert locks(witness, b, APPLIER) == EXCLUSIVE


STATISTICS = ["parser", "planner", "executor"]
# One line for each stage that a statement goes through; the first two belong to log_parser_stats.
STAGES = ["PARSER", "PARSE ANALYSIS", "PLANNER", "EXECUTOR"]


def stages(session, *parts):
    """Which of the stages the server reports for what is sent."""
    said = [m.fields()["M"] for m in session.ask(*parts) if m.kind == "N"]
    return [stage for stage in STAGES if f"{stage} STATISTICS" in said]


def test_f20_a_function_call_goes_through_no_parser_planner_or_executor_and_a_batch_through_all(connect, witness):
    """Why the one costs the backend a fraction of the other; the time itself is measured by the benchmark."""
    session = connect()
    session.do("BEGIN", *(f"SET log_{name}_stats = on" for name in STATISTICS), "SET client_min_messages = log")
    assert stages(session, call(XACT_LOCK_SHARED)) == []
    assert locks(witness, session) == SHARED
    assert stages(session, pin_in_batch() + wire.sync()) == STAGES


def lock_calls(session, sql):
    return calls_of("LWLockAcquire", session, sql)


def test_f28_naming_the_blockers_of_one_process_takes_every_partition_of_the_lock_table(connect, witness):
    session = connect()
    ask = "SELECT pg_blocking_pids(pg_backend_pid())"
    session.do("SELECT 1", ask)   # both are in the caches from now on
    assert lock_calls(session, ask) - lock_calls(session, "SELECT 1") >= LOCK_PARTITIONS
