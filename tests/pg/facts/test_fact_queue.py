"""Facts about the lock queue: who waits for whom, how a cycle ends, and what bounds a wait."""

import pytest

from fact_sessions import (
    APPLIER, EXCLUSIVE, GATE, LOCK, SHARED, XACT_LOCK, XACT_LOCK_SHARED, await_waiting, call, locks, tags,
    waits)
from support import wire
from support.waiting import wait_until

LATE = "60s"   # a deadlock check that never comes within a test
UPDATE = "UPDATE accounts SET kudos = kudos + 1 WHERE id = {}"


def pinned(session):
    session.do("BEGIN")
    session.ask(call(XACT_LOCK_SHARED))
    return session


def queue_for_the_gate(witness, session):
    """The session is a transition: it queues for the exclusive gate."""
    session.do("BEGIN")
    session.send(call(XACT_LOCK))
    await_waiting(witness, session)


def close_the_cycle(witness, a, b, t):
    """`a` holds a pin and wants a row of `b`; `b` wants a pin and queues behind `t`; `t` waits for `a`."""
    b.send(call(XACT_LOCK_SHARED))
    await_waiting(witness, b)
    a.send(wire.query(UPDATE.format(1)))


def everybody_goes_on(a, b, t):
    """`b` is moved ahead of `t`; then, one after the other, all three commit."""
    assert wire.kinds(b.read_until_ready()) == ["V", "Z:T"]
    b.do("COMMIT")
    assert wire.kinds(a.read_until_ready()) == ["C", "Z:T"]
    a.do("COMMIT")
    assert wire.kinds(t.read_until_ready()) == ["V", "Z:T"]
    t.do("COMMIT")


def test_f7_a_cycle_through_the_wait_queue_is_resolved_by_moving_the_pin_ahead_and_nobody_is_aborted(
        connect, witness):
    a = connect(deadlock_timeout="200ms")
    b, t = connect(deadlock_timeout=LATE), connect(deadlock_timeout=LATE)
    pinned(a)
    b.do("BEGIN", UPDATE.format(1))
    queue_for_the_gate(witness, t)
    close_the_cycle(witness, a, b, t)
    everybody_goes_on(a, b, t)


def test_f30_a_short_deadlock_timeout_of_the_transition_alone_resolves_the_cycle(connect, witness):
    a, b = connect(deadlock_timeout=LATE), connect(deadlock_timeout=LATE)
    # One check, this long after it began to wait: the cycle is complete by then.
    t = connect(deadlock_timeout="1500ms")
    pinned(a)
    b.do("BEGIN", UPDATE.format(1))
    queue_for_the_gate(witness, t)
    close_the_cycle(witness, a, b, t)
    everybody_goes_on(a, b, t)


def tell_of_waits(session):
    """What the server logs about this session's own waits comes to it as notices."""
    session.do("SET log_lock_waits = on", "SET client_min_messages = log")
    return session


def next_word_about_waiting(session):
    notice = session.read()
    assert notice.kind == "N", notice
    return notice.fields()["M"]


def test_f30_a_cycle_that_forms_behind_the_check_of_the_transition_is_left_to_the_check_of_another(connect, witness):
    a, b = tell_of_waits(connect(deadlock_timeout="300ms")), connect(deadlock_timeout=LATE)
    t = tell_of_waits(connect(deadlock_timeout="10ms"))
    pinned(a)
    b.do("BEGIN", UPDATE.format(1))
    queue_for_the_gate(witness, t)
    assert "still waiting for ExclusiveLock" in next_word_about_waiting(t)   # the one check it makes
    close_the_cycle(witness, a, b, t)
    assert "avoided deadlock" in next_word_about_waiting(a)
    assert wire.kinds(b.read_until_ready()) == ["V", "Z:T"]
    b.do("COMMIT")
    answer = a.read_until_ready()
    assert [kind for kind in wire.kinds(answer) if kind != "N"] == ["C", "Z:T"]
    a.do("COMMIT")
    answer = t.read_until_ready()
    assert not [m for m in answer if m.kind == "N" and "avoided" in m.fields()["M"]]
    assert wire.kinds(answer)[-2:] == ["V", "Z:T"]


def test_f8_gate_before_applier_against_applier_before_gate_is_a_deadlock(connect, witness):
    a, t = pinned(connect(deadlock_timeout="100ms")), connect(deadlock_timeout="100ms")
    t.do("BEGIN")
    t.ask(call(XACT_LOCK, APPLIER))
    t.send(call(XACT_LOCK, GATE))
    await_waiting(witness, t)
    a.send(call(XACT_LOCK, APPLIER))
    # Either may be the victim, and the other goes on.
    first = wait_until(lambda: next((s for s in (a, t) if not waits(witness, s)), None), "the deadlock to end")
    other = t if first is a else a
    answers = {}
    for session in (first, other):
        answers[session] = session.read_until_ready()
        session.do("ROLLBACK")
    failed = [answer for answer in answers.values() if "E" in wire.kinds(answer)]
    assert [wire.error_of(answer)["C"] for answer in failed] == ["40P01"]


def test_f31_a_row_locked_before_the_pin_makes_a_deadlock_whose_victim_is_the_transition(connect, witness):
    a, t = connect(deadlock_timeout=LATE), connect(deadlock_timeout="50ms")
    a.do("BEGIN", UPDATE.format(1))
    t.do("BEGIN")
    t.ask(call(XACT_LOCK))
    a.send(call(XACT_LOCK_SHARED))
    await_waiting(witness, a)
    assert t.sqlstate(wire.query(UPDATE.format(1))) == "40P01"
    assert wire.kinds(a.read_until_ready()) == ["V", "Z:T"]
    a.do("COMMIT")


def test_f25_lock_timeout_bounds_the_wait_and_frees_the_queue_at_once(connect, witness):
    a, b = pinned(connect()), connect()
    queued = connect(lock_timeout="1s")
    queue_for_the_gate(witness, queued)
    b.do("BEGIN")
    b.send(call(XACT_LOCK_SHARED))
    await_waiting(witness, b)
    assert wire.error_of(queued.read_until_ready())["C"] == "55P03"
    assert wire.kinds(b.read_until_ready()) == ["V", "Z:T"]
    assert locks(witness, a) == SHARED


@pytest.fixture
def missing_standby(cluster):
    def set_names(names):
        cluster.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'", "postgres")
        cluster.execute("SELECT pg_reload_conf()", "postgres")
        wait_until(lambda: cluster.execute("SHOW synchronous_standby_names", "postgres") == [(names,)],
                   "the server to read its configuration")

    set_names("missing")
    yield
    set_names("")


def test_f25_lock_timeout_does_not_bound_a_commit_that_waits_for_a_standby_and_a_cancel_leaves_it_committed(
        connect, witness, missing_standby):
    t = connect(lock_timeout="50ms", statement_timeout="0")
    t.do("BEGIN")
    t.ask(call(XACT_LOCK))
    t.do("UPDATE control SET mode = 'new'")
    t.send(wire.query("COMMIT"))
    hangs = f"SELECT count(*) FROM pg_stat_activity WHERE pid = {t.pid} AND wait_event = 'SyncRep'"
    wait_until(lambda: witness.value(hangs) == "1", "the commit to wait for the standby")
    assert locks(witness, t) == EXCLUSIVE
    assert witness.value("SELECT mode FROM control") == "old"
    witness.rows(f"SELECT pg_cancel_backend({t.pid})")
    answer = t.read_until_ready()
    assert wire.kinds(answer) == ["N", "C", "Z:I"]
    assert tags(answer) == ["COMMIT"]
    assert witness.value("SELECT mode FROM control") == "new"


GRABS = f"SELECT pg_advisory_lock({GATE}); INSERT INTO led VALUES (1)"


def test_f26_a_backend_whose_client_vanished_keeps_waiting_and_then_goes_on(connect, witness):
    holder, gone = connect(), connect()
    holder.ask(call(LOCK))
    gone.send(wire.query(GRABS))
    await_waiting(witness, gone)
    gone.close()
    holder.close()
    wait_until(lambda: witness.value("SELECT count(*) FROM led") == "1", "the vanished client's text to run")


def test_f26_client_connection_check_interval_ends_it_while_it_waits(connect, witness):
    holder, gone = connect(), connect(client_connection_check_interval="100ms")
    holder.ask(call(LOCK))
    gone.send(wire.query(GRABS))
    await_waiting(witness, gone)
    gone.close()
    there = f"SELECT count(*) FROM pg_stat_activity WHERE pid = {gone.pid}"
    wait_until(lambda: witness.value(there) == "0", "the vanished client's backend to end")
    assert locks(witness, holder) == EXCLUSIVE
    assert witness.value("SELECT count(*) FROM led") == "0"


def test_f27_trying_starves_under_overlapping_pins_where_one_queued_request_is_next(connect, witness):
    writers, t = [connect(), connect()], connect()
    pinned(writers[0])
    t.do("BEGIN")
    for turn in range(1, 21):
        pinned(writers[turn % 2])   # each pin begins before the one in front of it has ended
        writers[(turn + 1) % 2].do("COMMIT")
        assert t.value(f"SELECT pg_try_advisory_xact_lock({GATE})") == "f"
    t.send(call(XACT_LOCK))
    await_waiting(witness, t)
    late = writers[1]
    late.do("BEGIN")
    late.send(call(XACT_LOCK_SHARED))
    await_waiting(witness, late)
    writers[0].do("COMMIT")
    assert wire.kinds(t.read_until_ready()) == ["V", "Z:T"]
    assert waits(witness, late)
    t.do("COMMIT")
    assert wire.kinds(late.read_until_ready()) == ["V", "Z:T"]
