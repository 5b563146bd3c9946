"""A client that goes away in any state gives up its pin; one that has only closed its sending half gets everything."""

import contextlib
import dataclasses
import socket
import struct

import pytest

from support import wire
from support.endpoint import Endpoint
from support.gate import await_waiting, exclusive_gate, gate_locks
from support.other_host import NEAR_ADDRESS, FarEndpoint, Hosts
from support.processes import free_port
from support.sidecar import Sidecar
from support.waiting import wait_until

# Far above what a cancel takes, and far below the minute for which a statement here would otherwise wait.
DEADLINE = 10.0
# A lock of the test's own, behind which a statement runs for as long as the test wants.
BRAKE = 42

INSERT = "INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1)"
CALL = "CALL post_in_two_transactions(1)"
SLOW = f"SELECT pg_advisory_xact_lock({BRAKE}) FROM kudos_ledger WHERE event_id = 1"
SLOW_BLOCK = f"DO $$ BEGIN PERFORM count(*) FROM kudos_ledger; PERFORM pg_advisory_xact_lock({BRAKE}); END $$"
LONG = "SELECT repeat('x', 8000) FROM kudos_ledger, generate_series(1, 400)"  # 64 MB: no buffer holds it
BATCH = wire.parse(INSERT) + wire.bind() + wire.execute()


@dataclasses.dataclass(frozen=True)
class State:
    """Where a client is when it goes: what it did before, what it sent last, and what that waits for."""

    last: bytes = b""
    before: tuple = ()
    waits_for: str = ""  # "pin" or "brake"
    read_until: str = ""  # what the client still reads before it goes
    then: bytes = b""  # and what it sends after that
    user: str = "app"


WAITING = {
    "pin wait, simple": State(wire.query(INSERT), waits_for="pin"),
    "pin wait, extended": State(wire.extended(INSERT), waits_for="pin"),
    "pin wait, in a transaction": State(wire.query(INSERT), ("BEGIN",), "pin"),
    "pin wait, extended in a transaction": State(wire.extended(INSERT), ("BEGIN",), "pin"),
    "pin wait, behind a savepoint": State(wire.query(INSERT), ("BEGIN", "SAVEPOINT a"), "pin"),
    "pin wait, repeatable read": State(wire.query(INSERT), ("BEGIN ISOLATION LEVEL REPEATABLE READ",), "pin"),
    "pin wait, envelope": State(wire.query(CALL), waits_for="pin"),
    "pin wait, envelope of a batch": State(wire.extended(CALL), waits_for="pin"),
    "pin wait, pipelined": State(wire.query("SELECT 1") + wire.query(INSERT) + wire.query("SELECT 2"), (), "pin"),
    "running, simple": State(wire.query(SLOW), waits_for="brake"),
    "running, extended": State(wire.extended(SLOW), waits_for="brake"),
    "running, in a transaction": State(wire.query(SLOW), ("BEGIN", INSERT), "brake"),
    "running, behind a savepoint": State(wire.query(SLOW), ("BEGIN", "SAVEPOINT a", INSERT), "brake"),
    "running, in an envelope": State(wire.query(SLOW_BLOCK), waits_for="brake"),
    "running, with more behind it": State(wire.extended(SLOW) + wire.query(INSERT), (), "brake"),
}
HOLDING = {
    "a batch without its Sync": State(BATCH),
    "a batch without its Sync, flushed": State(BATCH + wire.flush(), read_until="C"),
    "a batch without its Sync, in a transaction": State(BATCH, ("BEGIN",)),
    "idle in a transaction": State(before=("BEGIN", INSERT)),
    "idle in a transaction with a savepoint": State(before=("BEGIN", "SAVEPOINT a", INSERT)),
    "idle in a failed transaction": State(before=("BEGIN", "SAVEPOINT a", INSERT, "SELECT 1 / 0")),
    "half a message in a transaction": State(wire.query(INSERT)[:-3], ("BEGIN", INSERT)),
    "copying in": State(
        wire.query("COPY kudos_ledger (user_id, amount) FROM STDIN"),
        read_until="G", then=wire.copy_data(b"1\t1\n"), user="loader"),
    "copying in, in a transaction": State(
        wire.query("COPY kudos_ledger (user_id, amount) FROM STDIN"), ("BEGIN",),
        read_until="G", then=wire.copy_data(b"1\t1\n2"), user="loader"),
}
READING = {
    "copying out": State(wire.query(f"COPY ({LONG}) TO STDOUT"), read_until="d"),
    "copying out, in a transaction": State(wire.query(f"COPY ({LONG}) TO STDOUT"), ("BEGIN",), read_until="d"),
    "reading rows": State(wire.query(LONG), read_until="D"),
    "reading rows of a batch": State(wire.extended(LONG), read_until="D"),
}
STATES = {**WAITING, **HOLDING, **READING}


@pytest.fixture(scope="module")
def endpoints(cluster, tmp_path_factory):
    """One sidecar that listens on both kinds of socket."""
    folder = tmp_path_factory.mktemp("socket")
    port, socket_port = free_port(), free_port()
    listen = [{"address": f"127.0.0.1:{port}"}, {"address": f"unix:{folder}", "port": socket_port}]
    with Sidecar(cluster.endpoint(), {"listen": listen}):
        yield {"tcp": Endpoint("127.0.0.1", port), "unix": Endpoint(str(folder), socket_port)}


@pytest.fixture(params=["tcp", "unix"])
def endpoint(request, endpoints):
    return endpoints[request.param]


class SidecarOfAnotherHost(Sidecar):
    """Its admin port is on the other host's loopback: it has started when the clients' port answers."""

    def __init__(self, server, hosts):
        self.clients = FarEndpoint(NEAR_ADDRESS, free_port(), hosts=hosts)
        listen = [{"address": f"{NEAR_ADDRESS}:{self.clients.port}"}]
        super().__init__(server, {"listen": listen}, launcher=hosts.on_near([]))

    def _has_started(self):
        try:
            self.clients.socket().close()
            return True
        except OSError:
            return self.process.poll() is not None


@pytest.fixture(scope="module")
def far_endpoint(cluster):
    """Through a sidecar whose kernel cannot say whether a client that sends no more is gone."""
    with Hosts() as hosts, SidecarOfAnotherHost(cluster.endpoint(unix=True), hosts) as sidecar:
        yield sidecar.clients


@contextlib.contextmanager
def brake(cluster):
    connection = cluster.superuser()
    try:
        connection.cursor().execute(f"SELECT pg_advisory_lock({BRAKE})")
        yield
    finally:
        connection.close()


def obstacle(cluster, state):
    return {"pin": exclusive_gate, "brake": brake, "": lambda _: contextlib.nullcontext()}[state.waits_for](cluster)


def go_into(cluster, client, state):
    """Until the server shows that the client is in the state. Returns what it has read on the way."""
    for sql in state.before:
        client.simple(sql)
    client.send(state.last)
    read = client.read_until(state.read_until) if state.read_until else []
    client.send(state.then)
    if state.waits_for == "pin":
        await_waiting(cluster, client.pid)
    elif state.waits_for == "brake":
        waits = f"SELECT 1 FROM pg_locks WHERE pid = {client.pid} AND objid = {BRAKE} AND NOT granted"
        wait_until(lambda: cluster.execute(waits), "the statement to run")
    if state.waits_for != "pin":
        wait_until(lambda: gate_locks(cluster, client.pid), "the pin")
        assert all(granted for _, _, granted in gate_locks(cluster, client.pid))
    return read


def is_there(cluster, pid):
    return cluster.execute(f"SELECT 1 FROM pg_stat_activity WHERE pid = {pid}")


def leave(client, how):
    """A client that is killed takes its socket along: with a reset when it is told to, or bytes are unread."""
    if how == "reset":
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.socket.close()


def lose(cluster, oracle, endpoint, state, how):
    client = wire.WireClient(endpoint.replace(user=state.user))
    with obstacle(cluster, state):
        go_into(cluster, client, state)
        leave(client, how)
        # What it waits for is still not to be had: only a cancel can have ended it.
        wait_until(lambda: not gate_locks(cluster, client.pid), "the pin to be given up", DEADLINE)
        wait_until(lambda: not is_there(cluster, client.pid), "the backend to end", DEADLINE)
    assert cluster.execute("SELECT count(*) FROM kudos_ledger") == [(20,)]
    held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
    wait_until(lambda: cluster.execute(held) == [(0,)], "the test's own locks to go")
    assert oracle.violations() == []


@pytest.mark.parametrize("how", ["close", "reset"])
@pytest.mark.parametrize("name", STATES)
def test_a_lost_client_gives_up_its_pin_and_leaves_nothing(cluster, oracle, endpoint, name, how):
    lose(cluster, oracle, endpoint, STATES[name], how)


@pytest.mark.parametrize("name", STATES)
def test_a_lost_client_of_another_host_gives_up_its_pin_too(cluster, oracle, far_endpoint, name):
    """Nothing tells its FIN from that of a half-closed one, so the pin decides."""
    lose(cluster, oracle, far_endpoint, STATES[name], "close")


@pytest.mark.parametrize("sql", ["SELECT pg_advisory_xact_lock({0})", "SELECT 1; SELECT pg_advisory_xact_lock({0})"])
def test_a_half_closed_client_of_another_host_without_a_pin_gets_its_whole_answer(cluster, far_endpoint, sql):
    with wire.WireClient(far_endpoint) as client:
        with brake(cluster):
            client.send(wire.query(sql.format(BRAKE)))
            await_advisory = f"SELECT 1 FROM pg_locks WHERE pid = {client.pid} AND NOT granted"
            wait_until(lambda: cluster.execute(await_advisory), "the statement to run")
            client.socket.shutdown(socket.SHUT_WR)
        assert [m.kind for m in client.read_to_end()][-2:] == ["C", "Z"]


@pytest.mark.parametrize("name", WAITING)
def test_a_half_closed_client_gets_the_whole_answer_it_waits_for(cluster, oracle, direct, endpoint, name):
    state = STATES[name]
    with wire.WireClient(direct) as client:
        for sql in state.before:
            client.simple(sql)
        client.send(state.last)
        client.socket.shutdown(socket.SHUT_WR)
        expected = client.read_to_end()
    cluster.execute("CALL reset_horde()")
    oracle.mark()
    with wire.WireClient(endpoint) as client:
        with obstacle(cluster, state):
            go_into(cluster, client, state)
            client.socket.shutdown(socket.SHUT_WR)
        got = client.read_to_end()
        assert [m.raw for m in got] == [m.raw for m in expected]
        wait_until(lambda: not is_there(cluster, client.pid), "the backend to end", DEADLINE)
    oracle.assert_clean()


@pytest.mark.parametrize("name", {**HOLDING, **READING})
def test_a_half_closed_client_gets_what_a_server_would_send(cluster, oracle, direct, endpoint, name):
    """And its pin goes with its session, whose end the server decides."""
    state, answers = STATES[name], []
    for target in (direct, endpoint):
        cluster.execute("CALL reset_horde()")
        oracle.mark()
        with wire.WireClient(target.replace(user=state.user)) as client:
            for sql in state.before:
                client.simple(sql)
            client.send(state.last)
            read = client.read_until(state.read_until) if state.read_until else []
            client.send(state.then)
            client.socket.shutdown(socket.SHUT_WR)
            answers.append([m.raw for m in read + client.read_to_end()])
            wait_until(lambda: not is_there(cluster, client.pid), "the backend to end", DEADLINE)
    assert answers[1] == answers[0]
    assert gate_locks(cluster) == []
    assert oracle.violations() == []
