"""Facts about the simple protocol: a lock call in front of a client's text, as its own message or in the text."""

import pytest

from fact_sessions import (
    LOCK, LOCK_SHARED, PIN_SQL, XACT_LOCK_SHARED, await_waiting, call, pin_in_batch, tags)
from support import wire
from support.waiting import wait_until

INSERT = "INSERT INTO led VALUES (1)"


@pytest.fixture
def held(connect):
    """A session that keeps the gate exclusively: every pin waits."""
    session = connect()
    session.ask(call(LOCK))
    return session


def test_f11_a_query_behind_a_lock_call_that_failed_still_runs(connect, held):
    a = connect(lock_timeout="50ms")
    answer = a.ask(call(LOCK_SHARED), wire.query(INSERT), count=2)
    assert wire.kinds(answer) == ["E", "Z:I", "C", "Z:I"]
    assert wire.error_of(answer)["C"] == "55P03"
    assert tags(answer) == ["INSERT 0 1"]


def test_f11_in_an_open_transaction_the_query_behind_it_fails_by_itself(connect, held):
    a = connect(lock_timeout="50ms")
    a.do("BEGIN")
    answer = a.ask(call(XACT_LOCK_SHARED), wire.query(INSERT), count=2)
    assert wire.kinds(answer) == ["E", "Z:E", "E", "Z:E"]
    assert [m.fields()["C"] for m in answer if m.kind == "E"] == ["55P03", "25P02"]


def test_f14_a_lock_call_in_the_text_adds_its_own_replies_and_shifts_the_position_of_an_error(connect):
    a = connect()
    own = wire.error_of(a.simple("SELECT foo"))
    answer = a.simple(PIN_SQL + ";SELECT foo")
    assert wire.kinds(answer) == ["T", "D", "C", "E", "Z:I"]
    assert own["P"] == "8"
    assert wire.error_of(answer)["P"] == str(8 + len(PIN_SQL + ";"))


def test_f14_the_rest_of_the_text_does_not_run_when_the_lock_call_in_it_fails(connect, witness, held):
    a = connect(lock_timeout="50ms")
    assert a.sqlstate(wire.query(PIN_SQL + ";" + INSERT)) == "55P03"
    assert witness.value("SELECT count(*) FROM led") == "0"


def test_f15_copy_from_stdin_runs_behind_a_lock_call_in_its_text(connect, witness):
    a = connect()
    a.send(wire.query(PIN_SQL + ";COPY led FROM STDIN"))
    assert wire.kinds(a.read_until("G")) == ["T", "D", "C", "G"]
    assert tags(a.ask(wire.copy_data(b"1\n"), wire.copy_done())) == ["COPY 1"]
    assert witness.value("SELECT count(*) FROM led") == "1"


def test_f22_statement_timeout_gives_pin_and_statement_a_clock_each(connect, witness, held):
    """All inline forms at once: each waits 1.2 s for its pin and runs 1.2 s, under a limit of 2 s."""
    slow = "SELECT pg_sleep(1.2)"
    forms = {
        "function call": [call(XACT_LOCK_SHARED), wire.query(slow)],
        "in the batch": [pin_in_batch(), wire.parse(slow), wire.bind(), wire.execute(), wire.sync()],
        "in the text": [wire.query(PIN_SQL + ";" + slow)],
    }
    sessions = {name: connect(statement_timeout="2s") for name in forms}
    sessions["function call"].do("BEGIN")
    for name, messages in forms.items():
        sessions[name].send(*messages)
        await_waiting(witness, sessions[name])
    # The server's own clock says when the youngest wait is old enough.
    youngest = "SELECT min(clock_timestamp() - waitstart) > interval '1.2 s' FROM pg_locks WHERE NOT granted"
    wait_until(lambda: witness.value(youngest) == "t", "the pins to have waited long enough")
    held.close()
    for name, session in sessions.items():
        answer = session.read_until_ready(2 if name == "function call" else 1)
        assert "E" not in wire.kinds(answer), f"{name}: {answer}"
        assert tags(answer)[-1] == "SELECT 1", name
