"""How many clients there may be, and what those are told for whom there is no room; descriptors; the time
to start up."""

import pathlib
import re

import pytest

from support import wire
from support.sidecar import Sidecar
from support.waiting import wait_until

STARTUP = wire.startup(user="app", database="horde")


def refusal(endpoint):
    """The error of a client that is turned away."""
    with wire.WireClient(endpoint, start=False) as client:
        try:
            client.send(STARTUP)
        except ConnectionError:
            pass  # it was told before it spoke
        return wire.error_of(client.read_to_end())


def connected(endpoint):
    """A client that is logged in, or None when it was turned away."""
    client = wire.WireClient(endpoint, start=False)
    client.send(STARTUP)
    try:
        if client.read_until("ZE")[-1].kind == "Z":
            return client
    except (wire.ConnectionClosed, ConnectionError):
        pass
    client.close()
    return None


def soft_limit(sidecar):
    text = pathlib.Path(f"/proc/{sidecar.process.pid}/limits").read_text()
    return int(re.search(r"Max open files\s+(\d+)", text).group(1))


def test_one_client_more_than_max_clients_is_told_53300_and_may_come_later(direct):
    with Sidecar(direct, {"limits": {"max_clients": 3}}) as sidecar:
        clients = [wire.WireClient(sidecar.endpoint()) for _ in range(3)]
        for _ in range(5):
            error = refusal(sidecar.endpoint())
            assert (error["S"], error["C"]) == ("FATAL", "53300")
        assert sidecar.metric("ledgergate_clients") == 3
        assert [client.rows("SELECT 1") for client in clients] == [[["1"]]] * 3
        clients.pop().close()
        wait_until(lambda: sidecar.metric("ledgergate_clients") == 2, "the place to be free")
        clients.append(wire.WireClient(sidecar.endpoint()))
        assert refusal(sidecar.endpoint())["C"] == "53300"
        for client in clients:
            client.close()


def test_cancel_requests_and_probes_need_no_place(direct, cluster):
    with Sidecar(direct, {"limits": {"max_clients": 1}}) as sidecar, wire.WireClient(
        sidecar.endpoint()
    ) as client:
        client.send(wire.query("SELECT pg_sleep(60)"))
        asleep = f"SELECT 1 FROM pg_stat_activity WHERE pid = {client.pid} AND wait_event = 'PgSleep'"
        wait_until(lambda: cluster.execute(asleep), "the statement to run")
        with sidecar.endpoint().socket() as canceller:
            canceller.sendall(wire.cancel_request(client.pid, client.secret))
            assert canceller.recv(10) == b""
        assert wire.error_of(client.read_until_ready())["C"] == "57014"


def test_the_soft_limit_on_descriptors_is_raised_at_the_start(direct):
    with Sidecar(direct, launcher=["prlimit", "--nofile=256:4096"]) as sidecar:
        assert soft_limit(sidecar) == 4096


def test_with_too_few_descriptors_fewer_clients_are_admitted_and_the_log_says_so(direct):
    """64 descriptors, 200 clients: those without a place are told 53300, the others live on, and all
    recovers."""
    with Sidecar(direct, launcher=["prlimit", "--nofile=64:64"]) as sidecar:
        assert "the limit on open descriptors allows" in sidecar.log()
        clients = [connected(sidecar.endpoint()) for _ in range(200)]
        admitted = [client for client in clients if client]
        assert 0 < len(admitted) < 32
        assert refusal(sidecar.endpoint())["C"] == "53300"
        assert [client.rows("SELECT count(*) FROM kudos_ledger") for client in admitted] == [[["20"]]] * len(
            admitted
        )
        assert sidecar.get("/livez")[0] == 200
        for client in admitted:
            client.close()
        wait_until(lambda: sidecar.metric("ledgergate_clients") == 0, "the places to be free")
        with wire.WireClient(sidecar.endpoint()) as client:
            assert client.rows("SELECT 1") == [["1"]]


def test_out_of_descriptors_by_silent_clients_it_turns_others_away_and_recovers(direct):
    """Clients that say nothing take a descriptor each, and no place."""
    with Sidecar(
        direct, {"limits": {"client_startup_timeout": "60s"}}, launcher=["prlimit", "--nofile=64:64"]
    ) as sidecar:
        with wire.WireClient(sidecar.endpoint()) as early:
            silent = [sidecar.endpoint().socket() for _ in range(200)]
            assert refusal(sidecar.endpoint())["C"] == "53300"
            assert early.rows("SELECT count(*) FROM kudos_ledger") == [["20"]]
            busy = processor_seconds(sidecar)
            assert early.rows("SELECT pg_sleep(1)") == [[""]]
            assert processor_seconds(sidecar) - busy < 0.5, "it spins while it has no descriptor"
            for each in silent:
                each.close()
        client = wait_until(lambda: connected(sidecar.endpoint()), "a client to be served again")
        assert client.rows("SELECT 1") == [["1"]]
        client.close()


def processor_seconds(sidecar):
    fields = pathlib.Path(f"/proc/{sidecar.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


@pytest.mark.parametrize("said", [b"", STARTUP[:6], wire.SSL_REQUEST, STARTUP[:-1]])
def test_a_client_that_does_not_finish_its_start_up_is_closed_after_the_time_limit(direct, said):
    with Sidecar(direct, {"limits": {"client_startup_timeout": "100ms"}}) as sidecar:
        with sidecar.endpoint().socket() as plain:
            plain.sendall(said)
            answer = b""
            while data := plain.recv(100):
                answer += data
            assert answer == (b"N" if said == wire.SSL_REQUEST else b"")
        wait_until(
            lambda: sidecar.metric("ledgergate_clients_total", result="startup_timeout") == 1, "it to be counted"
        )


def test_the_time_limit_ends_with_start_up(direct):
    """A session that was started in time may be idle for longer than that."""
    with Sidecar(direct, {"limits": {"client_startup_timeout": "100ms"}}) as sidecar:
        with wire.WireClient(sidecar.endpoint()) as client:
            assert client.rows("SELECT pg_sleep(0.3)") == [[""]]
            assert client.rows("SELECT count(*) FROM kudos_ledger") == [["20"]]
