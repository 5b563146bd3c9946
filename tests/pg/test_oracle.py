"""The oracle itself, on direct connections: what it must report, and what it must not."""

import psycopg2
import psycopg2.extensions
import pytest

from support.sidecar import GATE_KEY
from support.waiting import wait_until

PIN = f"SELECT pg_advisory_xact_lock_shared({GATE_KEY})"
GATE = f"SELECT pg_advisory_xact_lock({GATE_KEY})"
POST = "INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 5)"
READ = "SELECT count(*) FROM kudos_ledger"


@pytest.fixture
def connect(direct):
    opened = []

    def open_one(isolation=None):
        connection = psycopg2.connect(direct.dsn())
        connection.set_session(isolation_level=isolation, autocommit=isolation is None)
        opened.append(connection)
        return connection.cursor()

    yield open_one
    for connection in opened:
        connection.close()


def run(cursor, *statements):
    for statement in statements:
        cursor.execute(statement)


def kinds(oracle):
    return sorted({violation.kind for violation in oracle.violations()})


@pytest.mark.parametrize(
    "touch",
    [
        POST,
        READ,
        "COPY kudos_ledger TO STDOUT",
        "SELECT 1 FROM users WHERE id = 1 FOR UPDATE",
        "UPDATE users SET kudos = kudos WHERE id = 1",
        "DELETE FROM kudos_ledger WHERE false",
        "WITH x AS (DELETE FROM kudos_stat_events RETURNING *) SELECT count(*) FROM x",
        "TRUNCATE kudos_balance_snapshots",
        "SELECT mode FROM kudos_ledger_control WHERE id = 1",
        "SELECT mode FROM kudos_ledger_control WHERE id = 1 FOR KEY SHARE",
    ],
)
def test_reports_every_kind_of_unpinned_touch(connect, oracle, touch):
    cursor = connect()
    cursor.copy_expert(touch, open("/dev/null", "w")) if touch.startswith("COPY") else run(cursor, touch)
    oracle.assert_violations("not pinned")


@pytest.mark.parametrize(
    "statement",
    ["SELECT 1", "UPDATE jobs SET state = 'done' WHERE id = 1", "SELECT kudos FROM users WHERE id = 1"],
)
def test_does_not_see_what_touches_nothing(connect, oracle, statement):
    run(connect(), statement)
    assert oracle.touches() == []


def test_is_content_with_a_pinned_transaction(connect, oracle):
    run(connect(), "BEGIN", PIN, READ, POST, "UPDATE users SET kudos = kudos + 5 WHERE id = 1", "COMMIT")
    oracle.assert_clean(at_least=4)


def test_records_touches_of_a_transaction_that_rolled_back(connect, oracle):
    run(connect(), "BEGIN", POST, "ROLLBACK")
    oracle.assert_violations("not pinned")


def test_records_a_read_in_a_read_only_transaction(connect, oracle):
    run(connect(), "BEGIN READ ONLY", READ, "COMMIT")
    oracle.assert_violations("not pinned")


def test_exempts_read_only_transactions_whose_snapshot_fixes_the_mode(connect, oracle):
    run(connect(), "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", READ, "COMMIT")
    oracle.assert_clean()


def test_reports_a_pin_that_died_with_its_savepoint(connect, oracle):
    run(connect(), "BEGIN", "SAVEPOINT a", PIN, READ, "ROLLBACK TO a", POST, "COMMIT")
    oracle.assert_violations("not pinned")


def test_reports_a_pin_that_was_dropped_before_the_commit(connect, oracle):
    run(
        connect(),
        "BEGIN",
        f"SELECT pg_advisory_lock_shared({GATE_KEY})",
        POST,
        f"SELECT pg_advisory_unlock_shared({GATE_KEY})",
        "COMMIT",
    )
    assert [(v.kind, v.record.kind) for v in oracle.violations()] == [("not pinned", "commit")]


def test_reports_a_transition_without_the_gate(connect, oracle):
    run(connect(), "UPDATE kudos_ledger_control SET mode = 'ledger'")
    oracle.assert_violations("transition without the gate")


def test_is_content_with_a_transition_that_holds_the_gate(connect, oracle):
    run(
        connect(),
        "BEGIN",
        GATE,
        "SELECT oracle.step('fold')",
        "SELECT fold_postings()",
        "UPDATE kudos_ledger_control SET mode = 'ledger'",
        "COMMIT",
    )
    oracle.assert_clean(at_least=3)
    run(connect(), "BEGIN", PIN, POST, "COMMIT")
    oracle.assert_clean(at_least=5)


def test_reports_a_transaction_that_saw_two_modes(connect, oracle):
    writer = connect()
    run(writer, "BEGIN", POST)
    run(connect(), "BEGIN", GATE, "UPDATE kudos_ledger_control SET mode = 'ledger'", "COMMIT")
    run(writer, POST, "COMMIT")
    assert {"mixed modes", "not pinned"} <= set(kinds(oracle))


def test_reports_a_touch_while_a_transition_holds_the_gate(connect, oracle):
    operator = connect()
    run(operator, "BEGIN", GATE, "SELECT oracle.step('fold')")
    run(connect(), POST)
    run(operator, "UPDATE kudos_ledger_control SET mode = 'ledger'", "COMMIT")
    assert {"touch while another holds the gate", "touch between grant and commit"} <= set(kinds(oracle))


def test_reports_a_snapshot_from_before_the_pin(connect, oracle, cluster):
    """F3: at REPEATABLE READ the lock call itself takes the snapshot before it waits."""
    operator = connect()
    run(operator, "BEGIN", GATE, "UPDATE kudos_ledger_control SET mode = 'ledger'")
    waiting = psycopg2.connect(cluster.endpoint().dsn(), async_=True)
    psycopg2_wait(waiting)
    cursor = waiting.cursor()
    cursor.execute(f"BEGIN ISOLATION LEVEL REPEATABLE READ; {PIN}; {READ}; COMMIT")
    wait_until(
        lambda: cluster.execute("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"),
        "the pin to wait",
    )
    run(operator, "COMMIT")
    psycopg2_wait(waiting)
    waiting.close()
    assert kinds(oracle) == ["stale mode"]


def psycopg2_wait(connection):
    while connection.poll() != psycopg2.extensions.POLL_OK:
        pass


def test_finds_a_posting_that_is_in_no_balance(cluster, oracle, connect):
    run(connect(), "UPDATE users SET kudos = 0 WHERE id = 1")
    assert oracle.unbalanced() == []
    run(connect(), POST)
    assert [row[0] for row in oracle.unbalanced()] == [1]
