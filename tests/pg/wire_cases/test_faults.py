"""Connections that end anywhere: every byte of either direction may be the last one, by FIN and by RST."""

import os
import signal
import socket

import psycopg2
import pytest
from rows import INSERT, LEDGER

from support import wire
from support.endpoint import Endpoint
from support.gate import gate_locks
from support.horde import prepared_cluster
from support.sidecar import Sidecar
from support.stub_server import StubServer, read_start_up, relay, reset
from support.waiting import wait_until
from ways import CHANGES

LOG_IN = wire.startup(user="loader", database="horde")
COPY = (
    wire.query("COPY kudos_ledger (user_id, amount) FROM STDIN")
    + wire.copy_data(b"1\t1\n")
    + wire.copy_done()
)
TOUCHING = wire.query("BEGIN") + wire.query(INSERT) + wire.extended(LEDGER) + COPY + wire.query("ROLLBACK")
CONVERSATION = LOG_IN + TOUCHING + wire.terminate()


def close_with_fin(plain):
    plain.close()


def half_close(plain):
    """Everything that still comes is read up to the end."""
    plain.shutdown(socket.SHUT_WR)
    while plain.recv(65536):
        pass
    plain.close()


def backends(cluster):
    return cluster.execute("SELECT count(*) FROM pg_stat_activity WHERE usename = 'loader'")[0][0]


@pytest.mark.parametrize("end", [close_with_fin, reset, half_close])
def test_a_client_may_go_at_every_byte(cluster, through, sidecar, end):
    descriptors = sidecar.descriptor_count()
    for length in range(1, len(CONVERSATION)):
        plain = through.socket()
        plain.sendall(CONVERSATION[:length])
        end(plain)
    wait_until(lambda: backends(cluster) == 0, "the server to have no session left", deadline=60)
    assert gate_locks(cluster) == []
    assert cluster.execute("SELECT count(*) FROM kudos_ledger") == [(20,)]
    wait_until(lambda: sidecar.descriptor_count() <= descriptors + 4, "the sockets to be closed")
    with wire.WireClient(through) as client:
        assert client.rows("SELECT count(*) FROM kudos_ledger") == [["20"]]


def messages_of(data):
    """The whole messages, without the key, which differs each time."""
    found, offset = [], 0
    while len(data) - offset >= 5:
        length = 1 + int.from_bytes(data[offset + 1 : offset + 5], "big")
        if len(data) - offset < length:
            break
        found.append(data[offset : offset + length])
        offset += length
    return [each for each in found if each[:1] != b"K"]


def talk(endpoint):
    """Everything that a client reads that asks one touching query once it is logged in."""
    got, asked = b"", False
    with endpoint.socket() as plain:
        plain.sendall(wire.startup(user="app", database="horde"))
        while True:
            try:
                data = plain.recv(65536)
            except ConnectionResetError:
                return got
            if not data:
                return got
            got += data
            if got.endswith(READY):
                plain.sendall(wire.terminate() if asked else wire.query(LEDGER))
                asked = True


READY = b"Z\0\0\0\x05I"


@pytest.mark.parametrize("how", ["FIN", "RST"])
def test_a_server_may_go_at_every_byte_and_what_it_said_arrives(cluster, direct, way, how):
    """The server's bytes are cut short between it and the sidecar, whose control connection stays whole."""
    said = talk(direct)
    expected = messages_of(said)
    limit = [0]

    def serve(plain):
        relay(direct, limit[0], how)(plain)

    with StubServer(serve) as stub:
        with Sidecar(cluster.endpoint(), {**CHANGES[way], "upstream": {"port": stub.port}}) as sidecar:
            for length in range(1, len(said)):
                limit[0] = length
                got = messages_of(talk(sidecar.endpoint()))
                assert got == expected[: len(got)] or wire_error(got[-1]) == "08006", (length, got)
                if how == "FIN" and way == "relaying":
                    assert len(got) == len(messages_of(said[:length])), length
            assert sidecar.get("/livez")[0] == 200
            wait_until(lambda: sidecar.metric("ledgergate_clients") == 0, "no session to be left")


def wire_error(raw):
    return wire.Message(chr(raw[0]), raw[5:]).fields().get("C") if raw[:1] == b"E" else None


@pytest.fixture(scope="module")
def own_cluster():
    with prepared_cluster() as started:
        yield started


def test_a_backend_that_is_killed_in_the_middle_of_its_result_ends_that_session_alone(own_cluster, way):
    """kill -9 makes the whole server start anew: sessions end, the sidecar stays and serves the next ones."""
    with Sidecar(own_cluster.endpoint(), CHANGES[way]) as sidecar:
        restarts = restarts_of(own_cluster)
        for round_number in range(3):
            with wire.WireClient(sidecar.endpoint()) as client:
                client.send(
                    wire.query("SELECT repeat('x', 8000) FROM kudos_ledger, generate_series(1, 20000)")
                )
                assert client.read().kind == "T"
                os.kill(client.pid, signal.SIGKILL)
                read_up_to_the_end(client.socket)
            wait_until(
                lambda: accepts(own_cluster, restarts + round_number + 1), "the server to have recovered"
            )
            with wire.WireClient(sidecar.endpoint()) as client:
                assert client.rows("SELECT count(*) FROM kudos_ledger") == [["20"]]
        wait_until(lambda: sidecar.metric("ledgergate_clients") == 0, "no session to be left")


def read_up_to_the_end(plain):
    try:
        while plain.recv(1 << 20):
            pass
    except ConnectionResetError:
        pass


def restarts_of(cluster):
    return cluster.log_file.read_bytes().count(b"all server processes terminated; reinitializing")


def accepts(cluster, restarts):
    """Whether it has noticed the kill, so often, and serves again."""
    if restarts_of(cluster) < restarts:
        return False
    try:
        return cluster.execute("SELECT count(*) FROM kudos_ledger") == [(20,)]
    except psycopg2.OperationalError:
        return False


def test_the_last_words_of_a_server_arrive_that_closes_at_once_behind_them(cluster, way):
    words = wire.message("E", b"SFATAL\0C57P03\0Mthe database system is starting up\0\0")

    def serve(plain):
        read_start_up(plain)
        plain.sendall(words)

    with StubServer(serve) as stub, Sidecar(
        cluster.endpoint(), {**CHANGES[way], "upstream": {"port": stub.port}}, await_ready=False
    ) as sidecar:
        for _ in range(200):
            with wire.WireClient(sidecar.endpoint(), start=False) as client:
                client.send(wire.startup(user="app", database="horde"))
                assert [m.raw for m in client.read_to_end()] == [words]


@pytest.mark.parametrize("piece", [1, 1 << 16])
def test_messages_may_be_cut_anywhere_on_the_way_to_the_server(cluster, direct, way, piece):
    """Byte by byte, and a thousand answers at once."""
    count = 50 if piece == 1 else 1000
    batch = [wire.query(LEDGER), wire.extended(LEDGER), wire.query("SELECT 1")] * count

    def ask(endpoint):
        with wire.WireClient(endpoint, timeout=60) as client:
            return [m.raw for m in client.ask(*batch, count=len(batch))]

    with StubServer(relay(direct, piece=piece)) as stub, Sidecar(
        cluster.endpoint(), {**CHANGES[way], "upstream": {"port": stub.port}}
    ) as sidecar:
        assert ask(sidecar.endpoint()) == ask(direct)


def test_an_idle_session_ends_with_the_servers_words(cluster, through):
    with wire.WireClient(through) as client:
        cluster.execute("SELECT pg_terminate_backend(%s)", parameters=(client.pid,))
        assert wire.error_of(client.read_to_end())["C"] == "57P01"


def test_the_answer_of_a_half_closed_client_is_whole(direct, through):
    def ask(endpoint):
        with wire.WireClient(endpoint) as client:
            client.send(wire.query("SELECT repeat('x', 8000) FROM kudos_ledger, generate_series(1, 100)"))
            client.socket.shutdown(socket.SHUT_WR)
            return [m.raw for m in client.read_to_end()]

    assert ask(through) == ask(direct)


def test_a_port_that_nobody_listens_on_is_left_for_the_next_host(cluster, way):
    """127.0.0.2 refuses at once; the second host of the list is the server."""
    server = cluster.endpoint()
    changes = {**CHANGES[way], "upstream": {"host": "127.0.0.2, 127.0.0.1"}}
    with Sidecar(server, changes) as sidecar, wire.WireClient(sidecar.endpoint()) as client:
        assert client.rows("SELECT count(*) FROM kudos_ledger") == [["20"]]
        client.send(wire.query("SELECT pg_sleep(60)"))
        wait_until(
            lambda: cluster.execute(
                f"SELECT 1 FROM pg_stat_activity WHERE pid = {client.pid} AND wait_event = 'PgSleep'"
            ),
            "the statement to run",
        )
        with Endpoint("127.0.0.1", sidecar.listen_port).socket() as plain:
            plain.sendall(wire.cancel_request(client.pid, client.secret))
            assert plain.recv(10) == b""
        assert wire.error_of(client.read_until_ready())["C"] == "57014"
