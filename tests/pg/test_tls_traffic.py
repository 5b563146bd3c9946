"""Traffic over TLS: cancelling, pins, COPY, sizes around the records, both ways at once, drivers."""

import asyncio
import hashlib
import io
import select
import ssl
import threading

import asyncpg
import psycopg
import psycopg2
import pytest

from support import wire
from support.endpoint import trusting_context
from support.gate import await_state, await_waiting, exclusive_gate, gate_locks
from support.horde import prepared_cluster
from support.waiting import wait_until
from tls_clients import TlsSidecar, both_legs, connect

ACCESS = ["hostnossl all tls_only 127.0.0.1/32 reject"]


@pytest.fixture(scope="session")
def cluster(certificates):
    with prepared_cluster(certificates=certificates, access=ACCESS) as started:
        started.execute("CREATE ROLE tls_only LOGIN IN ROLE app")
        yield started


@pytest.fixture(scope="module")
def sidecar(cluster, certificates):
    listeners = {"clear": None, "tls": {"mode": "require", **certificates.pair("server")}}
    with TlsSidecar(cluster.endpoint(), listeners, {"mode": "require"}) as started:
        yield started


@pytest.fixture(scope="module")
def in_clear(cluster, certificates):
    """The same towards the server in clear."""
    listeners = {"clear": None, "tls": {"mode": "require", **certificates.pair("server")}}
    with TlsSidecar(cluster.endpoint(), listeners) as started:
        yield started


@pytest.fixture
def secured(sidecar):
    return sidecar.at("tls", tls=True)


@pytest.mark.parametrize("server", ["clear", "TLS"])
@pytest.mark.parametrize("client", ["clear", "tls"])
def test_a_cancel_request_reaches_the_server_over_every_pair(request, cluster, client, server):
    through = request.getfixturevalue("sidecar" if server == "TLS" else "in_clear")
    user = "tls_only" if server == "TLS" else "app"
    sent_over_tls = wire.WireClient(through.at(client, tls=client == "tls"), start=False)
    connection = connect(through.at(client, user, tls=client == "tls"))
    assert [bool(leg) for leg in both_legs(connection)] == [client == "tls", server == "TLS"]
    pid = connection.info.backend_pid
    thread = threading.Thread(
        target=lambda: (await_state(cluster, pid, "wait_event = 'PgSleep'"), connection.cancel())
    )
    thread.start()
    with pytest.raises(psycopg2.errors.QueryCanceled):
        connection.cursor().execute("SELECT pg_sleep(60)")
    thread.join()
    # libpq 15 cancels in clear, whatever its session uses; this one is sent the way the session goes.
    with wire.WireClient(through.at(client, user, tls=client == "tls")) as session:
        session.send(wire.query("SELECT pg_sleep(60)"))
        await_state(cluster, session.pid, "wait_event = 'PgSleep'")
        sent_over_tls.send(wire.cancel_request(session.pid, session.secret))
        assert sent_over_tls.read_to_end() == [], "only the end, and that once the server has acted"
        assert wire.error_of(session.read_until_ready())["C"] == "57014"


def test_a_pin_holds_and_waits_over_tls(secured, cluster, oracle):
    with wire.WireClient(secured) as client:
        client.simple("BEGIN")
        client.simple("SELECT count(*) FROM kudos_ledger")
        assert gate_locks(cluster, client.pid)[0][1:] == ("ShareLock", True)
        client.simple("COMMIT")
        assert gate_locks(cluster, client.pid) == []
        with exclusive_gate(cluster):
            client.send(wire.extended("SELECT count(*) FROM kudos_ledger"))
            await_waiting(cluster, client.pid)
        assert wire.kinds(client.read_until_ready())[-1] == "Z:I"


def test_a_client_that_vanishes_leaves_no_pin(secured, cluster):
    client = wire.WireClient(secured)
    pid = client.pid
    client.simple("BEGIN")
    client.simple("SELECT count(*) FROM kudos_ledger")
    client.close()
    wait_until(lambda: not gate_locks(cluster, pid), "the pin to go")


@pytest.mark.parametrize("size", [8191, 8192, 16383, 16384, 16385, 32768, 65536, 262144, 262145])
def test_texts_around_the_size_of_a_record_arrive(secured, size):
    with wire.WireClient(secured) as client:
        text = "SELECT length('" + "x" * size + "')"
        assert client.rows(text) == [[str(size)]]
        assert client.rows(f"SELECT repeat('y', {size})") == [["y" * size]]


def test_rows_of_every_size_reach_a_client_that_never_blocks(secured):
    """libpq's asynchronous calls read once for each readiness of the socket: a longer record than they drain
    at once would leave them waiting for bytes that they have."""
    connection = psycopg2.connect(secured.dsn(), async_=1)

    def wait():
        while True:
            state = connection.poll()
            if state == psycopg2.extensions.POLL_OK:
                return
            reading = state == psycopg2.extensions.POLL_READ
            ends = ([connection], [], []) if reading else ([], [connection], [])
            assert any(select.select(*ends, 20)), "nothing more came"

    wait()
    cursor = connection.cursor()
    for size in range(9000, 70000, 1777):
        cursor.execute(f"SELECT repeat('x', {size})")
        wait()
        assert len(cursor.fetchone()[0]) == size
    connection.close()


def test_hundreds_of_megabytes_go_through_copy_both_ways(sidecar, secured):
    connection = connect(secured)
    cursor = connection.cursor()
    cursor.execute("CREATE TEMP TABLE bulk (line text)")
    line = b"0123456789abcdef" * 64 + b"\n"
    total = 150_000

    class Lines(io.RawIOBase):
        left = total

        def readable(self):
            return True

        def read(self, size=-1):
            count = min(self.left, max(size // len(line), 1))
            self.left -= count
            return line * count

    class Digest(io.RawIOBase):
        size = 0
        digest = hashlib.sha256()

        def write(self, data):
            self.size += len(data)
            self.digest.update(data)
            return len(data)

    before = sidecar.resident_kib()
    cursor.copy_expert("COPY bulk FROM STDIN", Lines())
    into = Digest()
    cursor.copy_expert("COPY bulk TO STDOUT", into)
    assert into.size == total * len(line)
    expected = hashlib.sha256()
    for _ in range(total):
        expected.update(line)
    assert into.digest.digest() == expected.digest()
    assert sidecar.resident_kib() - before < 20_000, "what passes by is not kept"
    connection.close()


def test_both_sides_write_at_once_without_a_standstill(secured):
    """Fifty megabytes of parameters go up while as much comes down."""
    count, size = 500, 100_000
    client = wire.WireClient(secured, timeout=60)
    with client:
        value = "x" * size
        one = wire.parse("SELECT $1::text", types=(25,)) + wire.bind(values=(value,)) + wire.execute()
        # A TLS socket of this client may not be used from two threads at once: one loop does both.
        client.socket.setblocking(False)
        pending, received, sent = memoryview(one * count + wire.sync()), 0, 0
        tail = b""
        while not tail.endswith(b"Z\0\0\0\5I"):
            ready = select.select([client.socket], [client.socket] if sent < len(pending) else [], [], 60)
            assert any(ready), f"a standstill after {sent} bytes up and {received} bytes down"
            received, tail = drain(client.socket, received, tail)
            if sent < len(pending):
                sent += push(client.socket, pending[sent : sent + 65536])
        assert received > count * size


def drain(tls, received, tail):
    while True:
        try:
            data = tls.recv(65536)
        except (ssl.SSLWantReadError, BlockingIOError):
            return received, tail
        assert data, "the connection ended"
        received += len(data)
        tail = (tail + data)[-16:]


def push(tls, data):
    try:
        return tls.send(data)
    except (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
        return 0


def test_a_client_that_reads_nothing_costs_no_memory(sidecar, secured):
    with wire.WireClient(secured) as client:
        before = sidecar.resident_kib()
        client.send(wire.query("SELECT repeat('x', 1000000) FROM generate_series(1, 300)"))
        client.read()
        wait_until(
            lambda: sidecar.get("/v1/sessions")[1]["sessions"][0]["bytes_from_server"] > 1_000_000,
            "the answer to begin",
        )
        assert sidecar.resident_kib() - before < 20_000
        assert len([m for m in client.read_until_ready() if m.kind == "D"]) == 300


def test_pipelines_of_psycopg_are_answered_in_order(secured):
    with psycopg.connect(secured.dsn(), autocommit=True) as connection:
        with connection.pipeline():
            cursors = [connection.execute("SELECT %s::int", (i,)) for i in range(500)]
            assert [cursor.fetchone()[0] for cursor in cursors] == list(range(500))
        assert connection.pgconn.ssl_in_use


def test_asyncpg_works_over_tls(secured):
    async def work():
        connection = await asyncpg.connect(
            host=secured.host,
            port=secured.port,
            user=secured.user,
            database=secured.dbname,
            ssl=trusting_context(),
        )
        try:
            async with connection.transaction():
                assert await connection.fetchval("SELECT count(*) FROM kudos_ledger") == 20
            rows = await connection.fetch("SELECT repeat('x', 10000) FROM generate_series(1, 1000)")
            with pytest.raises(asyncio.TimeoutError):
                await connection.fetchval("SELECT pg_sleep(60)", timeout=0.2)
            assert await connection.fetchval("SELECT 1") == 1
            return len(rows)
        finally:
            await connection.close()

    assert asyncio.run(work()) == 1000


def test_sessions_that_end_are_ended_politely(secured, cluster):
    """A FATAL of the server arrives, and behind it the end of TLS, not a broken stream."""
    with wire.WireClient(secured) as client:
        cluster.execute(f"SELECT pg_terminate_backend({client.pid})")
        last = client.read_to_end()
        assert wire.error_of(last)["C"] == "57P01"
