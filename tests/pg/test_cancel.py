"""Cancelling: the request reaches the session's own server, whatever the session is doing."""

import signal
import struct
import subprocess
import threading

import psycopg2
import pytest

from support import wire
from support.gate import await_state, await_waiting, exclusive_gate, gate_locks
from support.processes import spawn
from support.waiting import wait_until


@pytest.mark.parametrize("statement", ["SELECT pg_sleep(60)", "SELECT pg_sleep(60) FROM kudos_ledger"])
def test_psycopg2_cancels(proxied, cluster, statement):
    connection = psycopg2.connect(proxied.dsn())
    connection.autocommit = True
    pid = connection.info.backend_pid
    cursor = connection.cursor()

    def cancel():
        await_state(cluster, pid, "wait_event = 'PgSleep'")
        connection.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(psycopg2.errors.QueryCanceled) as caught:
        cursor.execute(statement)
    thread.join()
    assert caught.value.pgcode == "57014"
    cursor.execute("SELECT count(*) FROM kudos_ledger")
    assert cursor.fetchone() == (20,)
    connection.close()


def test_psql_cancels_on_an_interrupt(proxied, cluster):
    process = spawn(
        ["psql", "-X", "-c", "SELECT 'asleep', pg_sleep(60) FROM kudos_ledger", proxied.dsn()],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    wait_until(
        lambda: cluster.execute(
            "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' "
            "AND query LIKE 'SELECT ''asleep''%'"
        ),
        "psql's statement to run",
    )
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    assert "canceling statement due to user request" in output


def test_a_pin_that_waits_can_be_cancelled(proxied, cluster, oracle):
    with wire.WireClient(proxied) as client:
        with exclusive_gate(cluster):
            client.send(wire.query("INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1)"))
            await_waiting(cluster, client.pid)
            send_cancel(proxied, client.pid, client.secret)
            messages = client.read_until_ready()
            assert wire.error_of(messages)["C"] == "57014"
            assert wire.kinds(messages) == ["E", "Z:I"]
        assert client.rows("SELECT count(*) FROM kudos_ledger") == [["20"]]
    oracle.assert_clean()


def send_cancel(endpoint, pid, secret):
    """Returns what came back: a CancelRequest has no answer, only the end of its own connection."""
    with endpoint.socket() as plain:
        plain.sendall(wire.cancel_request(pid, secret))
        return plain.recv(100)


def test_a_cancel_request_is_answered_by_the_end_only(proxied, cluster):
    with wire.WireClient(proxied) as client:
        client.send(wire.query("SELECT pg_sleep(60)"))
        await_state(cluster, client.pid, "wait_event = 'PgSleep'")
        assert send_cancel(proxied, client.pid, client.secret) == b""
        assert wire.error_of(client.read_until_ready())["C"] == "57014"


@pytest.mark.parametrize("wrong", ["pid", "secret", "long secret", "no secret"])
def test_a_wrong_cancel_key_cancels_nothing(proxied, cluster, wrong):
    with wire.WireClient(proxied) as client:
        client.send(wire.query("SELECT pg_sleep(60)"))
        await_state(cluster, client.pid, "wait_event = 'PgSleep'")
        pid, secret = client.pid, client.secret
        if wrong == "pid":
            pid += 1
        else:
            flipped = struct.pack("!I", struct.unpack("!I", secret)[0] ^ 1)
            secret = {"secret": flipped, "long secret": secret + bytes(28), "no secret": b""}[wrong]
        assert send_cancel(proxied, pid, secret) == b""
        state = cluster.execute(f"SELECT wait_event FROM pg_stat_activity WHERE pid = {client.pid}")
        assert state == [("PgSleep",)]
        send_cancel(proxied, client.pid, client.secret)
        assert wire.error_of(client.read_until_ready())["C"] == "57014"


def test_late_cancels_leave_no_lock_behind(proxied, cluster, oracle):
    """Cancels that hit between statements, pins and releases: each costs at most its own statement."""
    with wire.WireClient(proxied) as client:
        stop = threading.Event()

        def storm():
            while not stop.is_set():
                send_cancel(proxied, client.pid, client.secret)

        thread = threading.Thread(target=storm)
        thread.start()
        try:
            for _ in range(150):
                for text in (
                    "SELECT count(*) FROM kudos_ledger",
                    "DO $$ BEGIN PERFORM count(*) FROM kudos_ledger; END $$",
                ):
                    messages = client.simple(text)
                    states = [m.fields()["C"] for m in messages if m.kind == "E"]
                    assert states in ([], ["57014"])
                    assert wire.kinds(messages)[-1] == "Z:I"
        finally:
            stop.set()
            thread.join()
        wait_until(lambda: not gate_locks(cluster, client.pid), "the locks to go")
    oracle.assert_clean()
