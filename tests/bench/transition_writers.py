"""Writers without a pause, and the three ways to keep them out while a mode changes."""

import contextlib
import threading
import time

import psycopg2
from support.sidecar import GATE_KEY
from support.waiting import wait_until

# Row locks: what the application did before there was a gate.
ROW_PIN = "SELECT mode FROM kudos_ledger_control WHERE id = 1 FOR KEY SHARE"
ROW_CHANGE = "SELECT mode FROM kudos_ledger_control WHERE id = 1 FOR UPDATE"
PLAIN_CHANGE = f"SELECT pg_advisory_xact_lock({GATE_KEY})"
TOUCH = "INSERT INTO kudos_ledger (entry_type, user_id, amount) VALUES ('award', %s, 1)"


class Writers:
    """`count` sessions that write again and again; every wait is kept as (when it ended, seconds). `pin` is what a
    transaction does first, none where the sidecar pins it; `hold` is how long it then stays open, `pause` how long a
    session then rests, so that the processors are not what is waited for."""

    def __init__(self, endpoint, count, pin=None, hold=0.0, pause=0.0):
        self.endpoint, self.count, self.pin, self.hold, self.pause = endpoint, count, pin, hold, pause
        self.stop = threading.Event()
        self.waits = [[] for _ in range(count)]
        self.failures = []

    def __enter__(self):
        self.threads = [threading.Thread(target=self._run, args=(each,)) for each in range(self.count)]
        for thread in self.threads:
            thread.start()
        wait_until(lambda: all(self.waits) or self.failures, "every writer to have written")
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join()
        if self.failures:
            raise RuntimeError(f"a writer failed: {self.failures[0]}")

    def since(self, began):
        return sorted(wait for mine in self.waits for wait in mine if wait[0] >= began)

    def _run(self, number):
        try:
            with contextlib.closing(psycopg2.connect(self.endpoint.dsn())) as connection:
                cursor = connection.cursor()
                while not self.stop.is_set():
                    began = time.monotonic()
                    if self.pin:
                        cursor.execute(self.pin)
                    cursor.execute(TOUCH, (number % 20 + 1,))
                    ended = time.monotonic()
                    self.waits[number].append((ended, ended - began))
                    if self.hold:
                        self.stop.wait(self.hold)
                    connection.commit()
                    if self.pause:
                        self.stop.wait(self.pause)
        except psycopg2.Error as error:
            self.failures.append(str(error))


@contextlib.contextmanager
def straggler(endpoint, seconds, pin=None):
    """One more session, whose transaction stays open for so long from now on."""
    connection = psycopg2.connect(endpoint.dsn())
    cursor = connection.cursor()
    if pin:
        cursor.execute(pin)
    cursor.execute(TOUCH, (1,))
    timer = threading.Timer(seconds, connection.commit)
    timer.start()
    try:
        yield
    finally:
        timer.join()
        connection.close()


def change_by(cluster, lock, patience):
    """A change as it is without a sidecar: the lock, the row, COMMIT. Seconds, or None when it gave up."""
    with contextlib.closing(cluster.superuser()) as connection:
        connection.autocommit = False
        cursor = connection.cursor()
        cursor.execute(f"SET statement_timeout = '{int(patience * 1000)}'")
        began = time.monotonic()
        try:
            cursor.execute(lock)
            cursor.execute("UPDATE kudos_ledger_control SET changed_at = now() WHERE id = 1")
            connection.commit()
        except psycopg2.errors.QueryCanceled:
            return None
        return time.monotonic() - began


def change_by_sidecar(cluster, sidecar, **fields):
    """To the other mode; (seconds, the transition)."""
    now = cluster.execute("SELECT mode FROM kudos_ledger_control")[0][0]
    began = time.monotonic()
    done = sidecar.flip("ledger" if now == "shadow" else "shadow", **fields)
    took = time.monotonic() - began
    if not done["changed"]:
        raise RuntimeError(f"the mode was not changed: {done['message']}")
    return took, done
