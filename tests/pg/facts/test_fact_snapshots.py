"""Facts about when a snapshot is taken, and what therefore a statement sees that waited for a transition."""

import pytest

from fact_sessions import (
    LOCK, LOCK_SHARED, PIN_SQL, UNLOCK_SHARED, XACT_LOCK, XACT_LOCK_SHARED, await_waiting, call, pin_in_batch,
    run, tags, values)
from support import wire

MODE = "SELECT mode FROM control WHERE id = 1"
REPEATABLE_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ"


@pytest.fixture
def transition(connect):
    """A session that holds the gate and has changed the mode; its commit is the test's business."""
    session = connect()
    session.do("BEGIN")
    session.ask(call(XACT_LOCK))
    session.do("UPDATE control SET mode = 'new'")
    return session


def wait_for_the_transition(witness, waiting, transition, *message, count=1):
    """Sends what must wait for the gate, lets the transition commit, and returns the replies."""
    waiting.send(*message)
    await_waiting(witness, waiting)
    transition.do("COMMIT")
    return waiting.read_until_ready(count)


def test_f3_at_repeatable_read_even_a_first_lock_call_takes_the_snapshot_before_it_waits(
        connect, witness, transition):
    a = connect()
    a.do(REPEATABLE_READ)
    wait_for_the_transition(witness, a, transition, call(XACT_LOCK_SHARED))
    assert a.value(MODE) == "old"


def test_f3_at_read_committed_the_statement_behind_it_sees_the_new_mode(connect, witness, transition):
    a = connect()
    a.do("BEGIN")
    both = call(XACT_LOCK_SHARED) + wire.query(MODE)
    answer = wait_for_the_transition(witness, a, transition, both, count=2)
    assert values(answer) == ["new"]


def test_f3_for_key_share_does_not_notice_that_the_mode_changed(connect, witness, transition):
    a = connect()
    a.do(REPEATABLE_READ)
    wait_for_the_transition(witness, a, transition, call(XACT_LOCK_SHARED))
    assert a.value(MODE + " FOR KEY SHARE") == "old"


def test_f3_for_share_fails_with_40001_when_the_mode_changed(connect, witness, transition):
    a = connect()
    a.do(REPEATABLE_READ)
    wait_for_the_transition(witness, a, transition, call(XACT_LOCK_SHARED))
    assert a.sqlstate(wire.query(MODE + " FOR SHARE")) == "40001"


def test_f3_for_share_is_refused_in_a_read_only_transaction(connect):
    a = connect()
    a.do(REPEATABLE_READ + " READ ONLY")
    assert a.sqlstate(wire.query(MODE + " FOR SHARE")) == "25006"


def test_f3_a_session_level_lock_taken_before_begin_gives_the_new_mode(connect, witness, transition):
    a = connect()
    wait_for_the_transition(witness, a, transition, call(LOCK_SHARED))
    a.do(REPEATABLE_READ)
    assert a.value(MODE) == "new"


def test_f4_what_is_bound_before_the_lock_call_sees_the_old_mode(connect, witness, transition):
    a = connect()
    answer = wait_for_the_transition(
        witness, a, transition,
        wire.parse(MODE, "mode"), wire.bind("mode", "mode"), run(PIN_SQL, "pin", "pin"),
        wire.execute("mode"), wire.sync())
    assert values(answer) == ["", "old"]


def test_f4_what_is_bound_behind_the_lock_call_sees_the_new_mode(connect, witness, transition):
    a = connect()
    answer = wait_for_the_transition(
        witness, a, transition,
        wire.parse(MODE, "mode"), run(PIN_SQL, "pin", "pin"), wire.bind("mode", "mode"),
        wire.execute("mode"), wire.sync())
    assert values(answer) == ["", "new"]


@pytest.mark.parametrize("oid", [XACT_LOCK_SHARED, LOCK_SHARED])
def test_f9_the_isolation_level_cannot_be_set_after_a_lock_call(connect, oid):
    a = connect()
    a.do("BEGIN")
    a.ask(call(oid))
    assert a.sqlstate(wire.query("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")) == "25001"


def test_f9_the_isolation_level_can_be_set_when_the_lock_was_taken_before_begin(connect):
    a = connect()
    a.ask(call(LOCK_SHARED))
    a.do("BEGIN", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")


def test_f34_setting_the_same_isolation_level_again_after_a_snapshot_is_allowed(connect):
    a = connect()
    a.do(REPEATABLE_READ, MODE)
    assert tags(a.simple("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")) == ["SET"]


@pytest.mark.parametrize("mode", ["DEFERRABLE", "NOT DEFERRABLE"])
def test_f34_setting_deferrable_after_a_snapshot_is_not_allowed(connect, mode):
    a = connect()
    a.do(REPEATABLE_READ, MODE)
    assert a.sqlstate(wire.query("SET TRANSACTION " + mode)) == "25001"


def test_f35_giving_a_lock_back_inside_a_transaction_takes_a_snapshot(connect):
    a = connect()
    a.ask(call(LOCK_SHARED))
    a.do("BEGIN")
    assert a.kinds(call(UNLOCK_SHARED)) == ["V", "Z:T"]
    assert a.sqlstate(wire.query("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")) == "25001"


def as_extended(sql):
    return (wire.close_statement() + wire.close_portal() + pin_in_batch() + wire.parse(sql) + wire.bind()
            + wire.describe_portal() + wire.execute() + wire.close_statement() + wire.sync())


def test_f36_a_query_sent_as_extended_sees_its_own_unnamed_portal_in_pg_cursors(connect):
    a = connect()
    assert a.rows("SELECT name FROM pg_cursors") == []
    answer = a.ask(as_extended("SELECT '<' || name || '>' FROM pg_cursors"))
    assert values(answer) == ["", "<>"]


def test_f36_a_query_sent_as_extended_sees_now_from_before_the_wait_of_the_pin(connect, witness):
    a, t = connect(), connect()
    same = "SELECT now() = statement_timestamp()"
    assert a.value(same) == "t"
    t.ask(call(LOCK))
    a.send(as_extended(same))
    await_waiting(witness, a)
    t.close()
    assert values(a.read_until_ready()) == ["", "f"]
