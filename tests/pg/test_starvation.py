"""A transition must not be starved. The same two writers in three forms: with row-lock pins and no sidecar
(it starves: the control), with row-lock pins through the sidecar, and with the clients' own advisory pins.

The two writers hand the pin over without a gap: each lets its own go only when the other has one, so that at
every instant somebody holds one. Nothing here depends on how fast anything is: whether a transition is let in
is decided by who may pass whom in the queue.
"""

import threading

import psycopg2
import pytest

from support.gate import gate_locks
from support.sidecar import APPLIER_KEY, GATE_KEY
from support.waiting import wait_until

# As the application's legacy code writes it: over several lines, once in a transaction.
LEGACY_PIN = """SELECT kudos_ledger_control.id, kudos_ledger_control.mode
FROM kudos_ledger_control
WHERE kudos_ledger_control.id = 1
 LIMIT 1 FOR KEY SHARE"""
LEGACY_EXCLUSIVE = LEGACY_PIN.replace("FOR KEY SHARE", "FOR UPDATE")
ADVISORY_PIN = f"SELECT pg_advisory_xact_lock_shared({GATE_KEY})"
ADVISORY_EXCLUSIVE = f"SELECT pg_advisory_xact_lock({GATE_KEY})"
POST = "INSERT INTO kudos_ledger (user_id, amount) VALUES (%s, 1)"


class Relay:
    """Two writers that hand a pin to each other: one commits only when the other holds its own, or waits in
    a lock queue (as it does behind a transition), which the server is asked about."""

    def __init__(self, endpoint, cluster, pin):
        self.endpoint = endpoint
        self.cluster = cluster
        self.pin = pin
        self.stopping = threading.Event()
        self.holds = [threading.Event(), threading.Event()]
        self.pids = [None, None]
        self.transactions = 0
        self.failure = None

    def __enter__(self):
        self.threads = [threading.Thread(target=self._run, args=(number,)) for number in (0, 1)]
        for thread in self.threads:
            thread.start()
        self.await_progress()
        return self

    def __exit__(self, failure, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join(60)
        if self.failure and not failure:
            raise self.failure

    def await_progress(self, count=10):
        reached = self.transactions
        wait_until(lambda: self.failure or self.transactions >= reached + count, "the writers to go on")

    def _run(self, number):
        try:
            connection = psycopg2.connect(self.endpoint.dsn())
            watcher = self.cluster.superuser()
            self.pids[number] = connection.info.backend_pid
            while not self.stopping.is_set():
                self._transaction(connection, watcher, number)
            connection.close()
            watcher.close()
        except Exception as error:
            self.failure = error
            self.stopping.set()

    def _transaction(self, connection, watcher, number):
        cursor = connection.cursor()
        cursor.execute(self.pin)
        self.holds[number].set()
        cursor.execute(POST, (number + 1,))
        wait_until(
            lambda: self.stopping.is_set()
            or self.holds[1 - number].is_set()
            or self._waits(watcher, 1 - number),
            "the other writer to take over",
            interval=0.001,
        )
        self.holds[number].clear()
        connection.commit()
        self.transactions += 1

    def _waits(self, watcher, number):
        with watcher.cursor() as cursor:
            cursor.execute(
                "SELECT 1 FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'",
                (self.pids[number],),
            )
            return cursor.fetchone()


def transition(endpoint, exclusive, to):
    """The legacy transition: applier key, the control row, the new mode. Returns the SQLSTATE, or None."""
    connection = psycopg2.connect(endpoint.dsn())
    cursor = connection.cursor()
    try:
        cursor.execute("SET statement_timeout = '8s'")
        connection.commit()
        cursor.execute(f"SELECT pg_advisory_xact_lock({APPLIER_KEY})")
        cursor.execute(exclusive)
        cursor.execute("UPDATE kudos_ledger_control SET mode = %s, changed_at = now() WHERE id = 1", (to,))
        connection.commit()
        return None
    except psycopg2.Error as error:
        connection.rollback()
        return error.pgcode
    finally:
        connection.close()


def mode(cluster):
    return cluster.execute("SELECT mode FROM kudos_ledger_control")[0][0]


def test_direct_row_locks_starve_the_transition(direct, cluster):
    """The control. FOR KEY SHARE passes a waiting FOR UPDATE, so the row is never free."""
    with Relay(direct, cluster, LEGACY_PIN) as writers:
        before = writers.transactions
        assert transition(direct, LEGACY_EXCLUSIVE, "ledger") == "57014"
        assert writers.transactions > before, "the writers went on all the time"
    assert mode(cluster) == "shadow"


@pytest.mark.parametrize("to", ["ledger", "shadow"])
def test_legacy_clients_through_the_sidecar_let_the_transition_in(proxied, cluster, oracle, to):
    with Relay(proxied, cluster, LEGACY_PIN) as writers:
        for mode_wanted in ("ledger", "shadow", to):
            assert transition(proxied, LEGACY_EXCLUSIVE, mode_wanted) is None
            assert mode(cluster) == mode_wanted
        writers.await_progress()
    assert gate_locks(cluster) == []
    oracle.assert_clean(at_least=20)


def test_current_clients_through_the_sidecar_let_the_transition_in(proxied, cluster, oracle):
    with Relay(proxied, cluster, ADVISORY_PIN) as writers:
        for mode_wanted in ("ledger", "shadow"):
            assert transition(proxied, ADVISORY_EXCLUSIVE, mode_wanted) is None
            assert mode(cluster) == mode_wanted
        writers.await_progress()
    oracle.assert_clean(at_least=20)


def test_legacy_and_current_clients_wait_for_each_other(direct, proxied, cluster, oracle):
    """One gate for both: a transition of the current kind, sent direct, waits for legacy writers' pins."""
    with Relay(proxied, cluster, LEGACY_PIN):
        assert transition(direct, ADVISORY_EXCLUSIVE, "ledger") is None
    assert mode(cluster) == "ledger"
    oracle.assert_clean(at_least=20)


def test_the_operators_transition_is_let_in(sidecar, proxied, cluster, oracle):
    with Relay(proxied, cluster, LEGACY_PIN) as writers:
        for mode_wanted in ("ledger", "shadow"):
            answer = sidecar.flip(mode_wanted)
            assert answer["state"] == "committed", answer
            assert mode(cluster) == mode_wanted
        writers.await_progress()
    oracle.assert_clean(at_least=20)
