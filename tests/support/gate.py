"""Holding the gate as a transition does, and watching who waits for it."""

import contextlib

from support.sidecar import GATE_KEY
from support.waiting import wait_until


@contextlib.contextmanager
def exclusive_gate(cluster):
    """Holds the gate exclusively while the block runs: every pin waits."""
    connection = cluster.superuser()
    try:
        connection.cursor().execute("SET lock_timeout = '10s'")
        connection.cursor().execute(f"SELECT pg_advisory_lock({GATE_KEY})")
        yield connection
    finally:
        connection.close()


@contextlib.contextmanager
def shared_gate(cluster):
    """Holds a pin in a session of its own while the block runs."""
    connection = cluster.superuser()
    try:
        connection.cursor().execute(f"SELECT pg_advisory_lock_shared({GATE_KEY})")
        yield connection
    finally:
        connection.close()


LOCKS = """SELECT pid, mode, granted FROM pg_locks
            WHERE locktype = 'advisory' AND objsubid = 1
              AND (classid::bigint << 32) | objid::bigint = %s"""


def gate_locks(cluster, pid=None):
    """[(pid, mode, granted)] on the gate key, as the server says."""
    rows = cluster.execute(LOCKS, parameters=(GATE_KEY,))
    return [row for row in rows if pid in (None, row[0])]


def await_waiting(cluster, pid):
    """Until backend `pid` waits for its pin."""
    wait_until(
        lambda: any(not granted for _, _, granted in gate_locks(cluster, pid)),
        f"backend {pid} to wait for the gate",
    )


def await_state(cluster, pid, condition):
    """Until pg_stat_activity shows backend `pid` in the given condition."""
    wait_until(
        lambda: cluster.execute(f"SELECT 1 FROM pg_stat_activity WHERE pid = {pid} AND {condition}"),
        f"backend {pid}: {condition}",
    )
