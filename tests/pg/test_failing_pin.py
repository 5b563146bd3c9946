"""A pin that fails is the client's one error: its statement does not run, and the session is usable again."""

import contextlib
import threading

import pytest

from support import wire
from support.gate import LOCKS, await_waiting, exclusive_gate, gate_locks
from support.sidecar import APPLIER_KEY, GATE_KEY
from support.waiting import wait_until

INSERT = "INSERT INTO kudos_ledger (user_id, amount, note) VALUES (1, 1, 'must not be there')"
TOUCHES = {
    "simple": wire.query(INSERT),
    "extended": wire.extended(INSERT),
    "extended, named": wire.parse(INSERT, "s")
    + wire.bind("p", "s")
    + wire.execute("p")
    + wire.close_portal("p")
    + wire.close_statement("s")
    + wire.sync(),
    "several in a text": wire.query(f"SELECT 1; {INSERT}"),
    "a block": wire.query(f"DO $$ BEGIN {INSERT}; END $$"),
    "a copy": wire.query("COPY kudos_ledger TO STDOUT"),
    "does not even parse": wire.query("INSERT INTO kudos_ledger VALUES ("),
}
STATES = ["autocommit", "transaction", "transaction with a savepoint"]


@pytest.fixture
def client(proxied):
    with wire.WireClient(proxied) as connected:
        yield connected


def enter(client, state):
    if state != "autocommit":
        client.simple("BEGIN")
    if "savepoint" in state:
        client.simple("SAVEPOINT a")


def check_one_error(client, cluster, state, messages, sqlstate):
    error = wire.error_of(messages)
    assert error["C"] == sqlstate
    assert wire.kinds(messages)[-1] == ("Z:I" if state == "autocommit" else "Z:E")
    assert "C" not in wire.kinds(messages), "a statement was completed behind a pin that failed"
    if "savepoint" in state:
        client.simple("ROLLBACK TO a")
    check_usable(client, cluster, state)


def check_usable(client, cluster, state):
    """The statement has not run, nothing is left behind, and the next touch is pinned."""
    if state == "transaction":
        client.simple("ROLLBACK")
    assert client.rows("SELECT count(*) FROM kudos_ledger") == [["20"]]
    if "savepoint" in state:
        client.simple("COMMIT")
    assert gate_locks(cluster, client.pid) == []
    # The client's own statement was parsed before the pin, and its Close was skipped, as with any error; the
    # same may be true of the pin's own name (F21), which the next pin closes first.
    names = {row[0] for row in client.rows("SELECT name FROM pg_prepared_statements")}
    assert {name for name in names if not name.startswith("_ledgergate")} <= {"s"}
    messages = client.ask(wire.extended("SELECT count(*) FROM kudos_ledger"))
    assert wire.kinds(messages) == ["1", "2", "T", "D", "C", "Z:I"]
    assert cluster.execute("SELECT count(*) FROM kudos_ledger") == [(20,)]


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("touch", TOUCHES)
def test_lock_timeout(client, cluster, oracle, touch, state):
    client.simple("SET lock_timeout = '150ms'")
    enter(client, state)
    with exclusive_gate(cluster):
        messages = client.ask(TOUCHES[touch])
    check_one_error(client, cluster, state, messages, "55P03")
    oracle.assert_clean()


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("touch", TOUCHES)
def test_statement_timeout(client, cluster, oracle, touch, state):
    client.simple("SET statement_timeout = '150ms'")
    enter(client, state)
    with exclusive_gate(cluster):
        messages = client.ask(TOUCHES[touch])
    check_one_error(client, cluster, state, messages, "57014")
    oracle.assert_clean()


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("touch", TOUCHES)
def test_cancel(client, cluster, proxied, oracle, touch, state):
    enter(client, state)
    with exclusive_gate(cluster):
        client.send(TOUCHES[touch])
        await_waiting(cluster, client.pid)
        with proxied.socket() as plain:
            plain.sendall(wire.cancel_request(client.pid, client.secret))
            assert plain.recv(1) == b""
        messages = client.read_until_ready()
    check_one_error(client, cluster, state, messages, "57014")
    oracle.assert_clean()


@contextlib.contextmanager
def applier_then_gate(cluster):
    """A transaction that holds the gate, and will want the applier key that the client holds."""
    connection = cluster.superuser()
    cursor = connection.cursor()
    try:
        # It is never the one that looks for the deadlock first.
        cursor.execute("SET deadlock_timeout = '60s'")
        cursor.execute(f"BEGIN; SELECT pg_advisory_xact_lock({GATE_KEY})")
        yield cursor
    finally:
        connection.cancel()
        connection.close()


@pytest.mark.parametrize("touch", ["simple", "extended", "extended, named"])
@pytest.mark.parametrize("state", ["transaction", "transaction with a savepoint"])
def test_deadlock(client, cluster, oracle, touch, state):
    """The client holds the applier key and waits for the gate; the other one has it and waits for the key."""
    client.simple("SET application_name = 'victim'")
    cluster.execute("ALTER ROLE app SET deadlock_timeout = '50ms'")
    try:
        with wire.WireClient(client.endpoint) as victim, applier_then_gate(cluster) as other:
            enter(victim, state)
            victim.simple(f"SELECT pg_advisory_xact_lock({APPLIER_KEY})")
            thread = threading.Thread(
                target=lambda: other.execute(f"SELECT pg_advisory_xact_lock({APPLIER_KEY})")
            )
            thread.start()
            wait_until(
                lambda: [row for row in cluster.execute(LOCKS, parameters=(APPLIER_KEY,)) if not row[2]],
                "the other one to wait for the applier key",
            )
            messages = victim.ask(TOUCHES[touch])
            assert wire.error_of(messages)["C"] == "40P01"
            assert wire.kinds(messages)[-1] == "Z:E"
            victim.simple("ROLLBACK")
            thread.join()
            other.execute("ROLLBACK")
            check_usable(victim, cluster, "autocommit")
    finally:
        cluster.execute("ALTER ROLE app RESET deadlock_timeout")
    oracle.assert_clean()


def test_the_rest_of_a_batch_is_skipped(client, cluster, oracle):
    """One error, one ReadyForQuery, and the next batch in the same write is served in its turn."""
    client.simple("SET lock_timeout = '150ms'")
    first = wire.parse("SELECT 1") + wire.bind() + wire.execute() + wire.extended(INSERT)
    with exclusive_gate(cluster):
        messages = client.ask(first, wire.extended("SELECT 2"), wire.query("SELECT 3"), count=3)
    seen = wire.kinds(messages)
    assert seen[: seen.index("Z:I")].count("E") == 1
    assert seen[seen.index("Z:I") + 1 :] == ["1", "2", "T", "D", "C", "Z:I", "T", "D", "C", "Z:I"]
    check_usable(client, cluster, "autocommit")
    oracle.assert_clean()


def test_pipelined_queries_behind_a_failed_pin_are_served_in_order(client, cluster, oracle):
    client.simple("SET lock_timeout = '150ms'")
    client.simple("BEGIN")
    with exclusive_gate(cluster):
        messages = client.ask(
            wire.query(INSERT),
            wire.query("SELECT 1"),
            wire.query("ROLLBACK"),
            wire.query("SELECT 2"),
            count=4,
        )
    assert wire.kinds(messages) == ["E", "Z:E", "E", "Z:E", "C", "Z:I", "T", "D", "C", "Z:I"]
    assert [m.fields()["C"] for m in messages if m.kind == "E"] == ["55P03", "25P02"]
    check_usable(client, cluster, "autocommit")
    oracle.assert_clean()


def test_failures_are_counted_by_sqlstate(client, cluster, sidecar):
    before = sidecar.metric("ledgergate_pin_failures_total", sqlstate="55P03")
    client.simple("SET lock_timeout = '150ms'")
    with exclusive_gate(cluster):
        client.simple(INSERT)
    assert sidecar.metric("ledgergate_pin_failures_total", sqlstate="55P03") == before + 1
