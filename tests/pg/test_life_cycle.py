"""From start to end of the process: draining by each session's own rule, restarting at once, exit codes."""

import signal
import subprocess

import pytest

from support import wire
from support.processes import spawn
from support.sidecar import Sidecar
from support.waiting import wait_until

INSERT = "INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1)"


def await_listening_ended(sidecar):
    def refused():
        try:
            sidecar.endpoint().socket().close()
        except ConnectionRefusedError:
            return True
        return False

    wait_until(refused, "the sidecar to listen no more")


@pytest.mark.parametrize("mode", ["enforce", "off"])
def test_drain_ends_each_session_by_its_own_rule(cluster, direct, mode):
    with Sidecar(direct, {"drain": {"timeout": "60s"}, "gate": {"mode": mode}}) as sidecar:

        def connect(user="app"):
            return wire.WireClient(sidecar.endpoint(user))

        idle, busy, inside, copying, listening, failed = (
            connect(),
            connect(),
            connect(),
            connect("loader"),
            connect(),
            connect(),
        )
        listening.simple("LISTEN news")
        inside.simple("BEGIN")
        inside.simple(INSERT)
        failed.simple("BEGIN")
        failed.simple("SELECT 1 / 0")
        copying.send(wire.query("COPY kudos_ledger (user_id, amount) FROM STDIN"), wire.copy_data(b"2\t1\n"))
        copying.read_until("G")
        busy.send(wire.query("SELECT pg_sleep(2) FROM kudos_ledger WHERE event_id = 1"))
        wait_until(
            lambda: cluster.execute(
                f"SELECT 1 FROM pg_stat_activity WHERE pid = {busy.pid} AND wait_event = 'PgSleep'"
            ),
            "it to run",
        )

        sidecar.process.send_signal(signal.SIGTERM)
        for client in (idle, listening):
            assert wire.error_of(client.read_to_end())["C"] == "57P01"
        await_listening_ended(sidecar)
        answer = busy.read_to_end()
        assert wire.kinds(answer) == ["T", "D", "C", "Z:I", "E"]
        assert answer[-1].fields()["C"] == "57P01"
        assert wire.kinds(inside.simple("SELECT count(*) FROM kudos_ledger"))[-1] == "Z:T"
        inside.send(wire.query("COMMIT"))
        assert wire.kinds(inside.read_to_end()) == ["C", "Z:I", "E"]
        failed.send(wire.query("ROLLBACK"))
        assert wire.kinds(failed.read_to_end()) == ["C", "Z:I", "E"]
        copying.send(wire.copy_data(b"3\t1\n"), wire.copy_done())
        assert wire.kinds(copying.read_to_end()) == ["C", "Z:I", "E"]
        assert sidecar.process.wait(20) == 0
        assert cluster.execute("SELECT count(*) FROM kudos_ledger") == [(23,)]


@pytest.mark.parametrize("mode", ["enforce", "off"])
def test_what_is_left_at_drain_timeout_is_cut_off_and_rolled_back(cluster, direct, mode):
    with Sidecar(direct, {"drain": {"timeout": "200ms"}, "gate": {"mode": mode}}) as sidecar:
        inside, running = wire.WireClient(sidecar.endpoint()), wire.WireClient(sidecar.endpoint())
        inside.simple("BEGIN")
        inside.simple(INSERT)
        running.send(wire.query("SELECT pg_sleep(600) FROM kudos_ledger"))
        pids = f"({inside.pid}, {running.pid})"
        wait_until(
            lambda: cluster.execute(
                f"SELECT 1 FROM pg_stat_activity WHERE pid = {running.pid} AND wait_event = 'PgSleep'"
            ),
            "it to run",
        )
        assert sidecar.stop() == 0
        inside.read_to_end()
        running.read_to_end()
        wait_until(
            lambda: not cluster.execute(f"SELECT 1 FROM pg_stat_activity WHERE pid IN {pids}"),
            "both backends to go",
        )
        assert cluster.execute("SELECT count(*) FROM kudos_ledger") == [(20,)]


def test_a_second_signal_does_not_wait(cluster, direct):
    with Sidecar(direct, {"drain": {"timeout": "10m"}}) as sidecar:
        with wire.WireClient(sidecar.endpoint()) as client:
            client.simple("BEGIN")
            client.simple(INSERT)
            sidecar.process.send_signal(signal.SIGTERM)
            await_listening_ended(sidecar)
            assert sidecar.stop() == 0
            client.read_to_end()
        wait_until(
            lambda: not cluster.execute(f"SELECT 1 FROM pg_stat_activity WHERE pid = {client.pid}"),
            "it to go",
        )


def test_it_binds_again_at_once_however_often_it_is_restarted(direct):
    """With clients connected each time, so that the port has connections in every state of their end."""
    with Sidecar(direct, {"drain": {"timeout": "100ms"}}) as sidecar:
        for how in [signal.SIGTERM, signal.SIGKILL] * 10:
            client = wire.WireClient(sidecar.endpoint())
            assert client.rows("SELECT count(*) FROM kudos_ledger") == [["20"]]
            code = sidecar.stop(how)
            assert code == (0 if how == signal.SIGTERM else -signal.SIGKILL)
            client.close()
            sidecar.start()


def test_a_killed_sidecar_leaves_no_lock_and_no_half_transaction(cluster, direct):
    with Sidecar(direct) as sidecar:
        clients = [wire.WireClient(sidecar.endpoint()) for _ in range(10)]
        for number, client in enumerate(clients):
            client.simple("BEGIN")
            if number % 2:
                client.simple("SAVEPOINT a")
            client.simple(INSERT)
        pids = ", ".join(str(client.pid) for client in clients)
        sidecar.stop(signal.SIGKILL)
        wait_until(
            lambda: not cluster.execute(f"SELECT 1 FROM pg_stat_activity WHERE pid IN ({pids})"), "them to go"
        )
        assert cluster.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == [(0,)]
        assert cluster.execute("SELECT count(*) FROM kudos_ledger") == [(20,)]
        sidecar.start()
        with wire.WireClient(sidecar.endpoint()) as client:
            assert "E" not in wire.kinds(client.simple(INSERT))


def test_pgbench_sees_an_end_and_no_other_error_when_its_sidecar_drains(cluster, direct):
    """Transactions are finished; what then comes is the one FATAL with 57P01."""
    script = "BEGIN;\nINSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1);\nSELECT 1;\nCOMMIT;\n"
    with Sidecar(direct, {"drain": {"timeout": "20s"}}) as sidecar:
        path = sidecar.folder / "script.sql"
        path.write_text(script)
        load = spawn(
            ["pgbench", "-n", "-c", "8", "-T", "60", "-f", str(path), sidecar.endpoint().dsn()],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        wait_until(
            lambda: cluster.execute("SELECT count(*) FROM kudos_ledger")[0][0] > 200, "the load to run"
        )
        assert sidecar.stop() == 0
        output, _ = load.communicate(timeout=60)
    assert "terminating connection due to administrator command" in output
    states = cluster.execute("SELECT count(*) FROM pg_stat_activity WHERE usename = 'app'")
    assert states == [(0,)]
    assert cluster.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == [(0,)]


def test_clients_are_served_for_accept_for_before_the_drain_begins(direct):
    """The app loses its sidecar last: its own end may still need sessions."""
    with Sidecar(direct, {"drain": {"timeout": "20s", "accept_for": "2s"}}) as sidecar:
        with wire.WireClient(sidecar.endpoint()) as early:
            sidecar.process.send_signal(signal.SIGTERM)
            wait_until(lambda: sidecar.get("/readyz")[0] == 503, "/readyz to say that it ends")
            with wire.WireClient(sidecar.endpoint()) as late:
                assert late.rows("SELECT count(*) FROM kudos_ledger") == [["20"]]
                assert early.rows("SELECT count(*) FROM kudos_ledger") == [["20"]]
                for client in (early, late):
                    assert wire.error_of(client.read_to_end())["C"] == "57P01"
        assert sidecar.process.wait(20) == 0
