"""Garbage as the first packet closes that socket alone: no server connection, no memory, no descriptor."""

import random
import re
import socket
import struct

import pytest

from support import wire
from support.waiting import wait_until

SEED = 20_260_731


def talk(endpoint, data, half_close=False):
    """What comes back until the other side closes."""
    with endpoint.socket() as plain:
        answer = b""
        try:
            plain.sendall(data)
            if half_close:
                plain.shutdown(socket.SHUT_WR)
            while chunk := plain.recv(4096):
                answer += chunk
        except ConnectionError:
            pass
        return answer


def backends(cluster):
    rows = cluster.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'" " AND usename = 'app'"
    )
    return rows[0][0]


def check_alive(proxied):
    with wire.WireClient(proxied) as client:
        assert client.rows("SELECT count(*) FROM kudos_ledger") == [["20"]]


@pytest.fixture(autouse=True)
def nothing_is_left_behind(cluster, proxied, fresh_horde):
    yield
    check_alive(proxied)
    wait_until(lambda: backends(cluster) == 0, "the backends of the test to go")


LENGTHS = [0, 1, 3, 4, 7, 10_001, 1 << 20, (1 << 31) - 1, -1, -(1 << 31)]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("tail", [b"", b"\0\3\0\0", b"\0\3\0\0user\0app\0\0", b"x" * 9000])
def test_impossible_lengths_close_the_socket(proxied, length, tail):
    assert talk(proxied, struct.pack("!i", length) + tail, half_close=True)[:1] in (b"", b"E")


# Whole, but without a user: the server's own error is relayed.
WITHOUT_A_USER = struct.pack("!ii", 9, wire.PROTOCOL_3_0) + b"\0"
NONSENSE = [
    b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500),
    b"\0" * 100,
    b"\xff" * 100,
    b"Q\0\0\0\x0dSELECT 1\0",
    struct.pack("!ii", 8, wire.PROTOCOL_3_0),
    struct.pack("!ii", 16, wire.PROTOCOL_3_0) + b"user\0app",
    struct.pack("!ii", 17, wire.PROTOCOL_3_0) + b"user\0app\0",
    struct.pack("!ii", 8, 80877102),
    struct.pack("!iii", 12, 80877102, 1),
    wire.cancel_request(1, bytes(300)),
    struct.pack("!ii", 9, 80877103) + b"x",
]


@pytest.mark.parametrize("packet", [*NONSENSE, WITHOUT_A_USER])
def test_packets_that_make_no_sense_close_the_socket(proxied, packet):
    answer = talk(proxied, packet, half_close=True)
    assert answer[:1] in (b"", b"E", b"N"), answer


def test_a_truncated_packet_closes_the_socket(proxied):
    packet = wire.startup(user="app", database="horde")
    for length in range(len(packet)):
        assert talk(proxied, packet[:length], half_close=True) == b""


def test_random_blobs_close_the_socket(proxied):
    """Read as a length most of them are impossible; the rest never gets whole."""
    chance = random.Random(SEED)
    print("seed", SEED)
    for _ in range(1000):
        blob = chance.randbytes(chance.randrange(1, 64))
        answer = talk(proxied, blob, half_close=True)
        assert answer[:1] in (b"", b"E", b"N"), (blob, answer)


@pytest.fixture
def connections_received(cluster):
    """Tells how many TCP connections the server has received since the last call, as its own log says. The
    test's own connections go over the unix socket, and the sidecar's control connections stand already."""
    cluster.execute("ALTER SYSTEM SET log_connections = on")
    cluster.execute("SELECT pg_reload_conf()")
    wait_until(lambda: cluster.execute("SHOW log_connections") == [("on",)], "the setting")
    offset = cluster.log_file.stat().st_size

    def since_last_call():
        nonlocal offset
        # The postmaster hands connections over in their order: what came before this one is in the log.
        cluster.execute("SELECT 'marker'")
        log = cluster.log_file.read_bytes()[offset:].decode(errors="replace")
        offset += len(log.encode())
        assert "connection received: host=[local]" in log
        return len(re.findall(r"connection received: host=127\.0\.0\.1", log))

    yield since_last_call
    cluster.execute("ALTER SYSTEM RESET log_connections")
    cluster.execute("SELECT pg_reload_conf()")


def test_bad_first_packets_cost_no_server_connection(proxied, connections_received):
    assert connections_received() == 0
    for length in LENGTHS:
        for tail in (b"", b"\0\3\0\0", b"x" * 100):
            talk(proxied, struct.pack("!i", length) + tail, half_close=True)
    for packet in NONSENSE:
        talk(proxied, packet, half_close=True)
    assert connections_received() == 0, "nonsense reached the server"
    whole = wire.startup(user="app", database="horde")
    for length in range(len(whole)):
        talk(proxied, whole[:length], half_close=True)
    for request in (wire.SSL_REQUEST, wire.GSSENC_REQUEST, wire.SSL_REQUEST + wire.GSSENC_REQUEST):
        talk(proxied, request, half_close=True)
    for _ in range(100):
        proxied.socket().close()
    assert connections_received() == 0, "a start that was broken off reached the server"
    check_alive(proxied)
    assert connections_received() == 1, "the log does not show what it should"


def test_random_start_up_packets_cost_no_server_connection(proxied, connections_received):
    """Of the right length and version, with parameters that never end as they must."""
    chance = random.Random(SEED + 1)
    print("seed", SEED + 1)
    for _ in range(300):
        body = struct.pack("!i", wire.PROTOCOL_3_0) + chance.randbytes(chance.randrange(60)) + b"\xff"
        answer = talk(proxied, struct.pack("!i", 4 + len(body)) + body, half_close=True)
        assert answer[:1] in (b"", b"E"), (body, answer)
    assert connections_received() == 0


def test_connecting_and_closing_leaves_no_trace(proxied, sidecar):
    """10 000 probes: neither descriptors nor memory grow, and the log says nothing above debug."""

    def probe(count):
        for _ in range(count):
            proxied.socket().close()
        check_alive(proxied)

    probe(3000)
    descriptors = wait_until(lambda: sidecar.descriptor_count(), "a count")
    memory, log = sidecar.resident_kib(), len(sidecar.log())
    probe(10_000)
    wait_until(lambda: sidecar.descriptor_count() <= descriptors + 2, "the descriptors to be closed")
    # Not even a fifth of a KiB for each.
    assert sidecar.resident_kib() - memory < 2048
    said = [
        line for line in sidecar.log()[log:].splitlines() if " debug: " not in line and " trace: " not in line
    ]
    assert len(said) < 20, said[:30]


@pytest.mark.parametrize(
    "garbage",
    [
        b"Q\xff\xff\xff\xff",
        b"Q\0\0\0\3",
        b"Q\0\0\0\0",
        b"\0\0\0\0\4",
        b"~\0\0\0\4",
        b"Q\x7f\xff\xff\xff",
        b"B\0\0\0\5\0",
        b"P\0\0\0\6ab",
        b"F\0\0\0\5\0",
        b"D\0\0\0\6X\0",
        b"C\0\0\0\4",
        b"E\0\0\0\4",
    ],
)
def test_messages_that_make_no_sense_end_that_session_alone(direct, proxied, cluster, garbage):
    """As on a server: an error or nothing, then the end of the connection; and nothing for anybody else."""

    def talk_after_log_in(endpoint):
        with wire.WireClient(endpoint) as client:
            client.send(garbage)
            client.socket.shutdown(socket.SHUT_WR)
            return client.read_to_end()

    with wire.WireClient(proxied) as witness:
        messages = talk_after_log_in(proxied)
        assert all(m.kind in "ENZ" for m in messages), messages
        if wire.kinds(messages):
            assert [m.fields()["C"] for m in messages if m.kind == "E"] == [
                m.fields()["C"] for m in talk_after_log_in(direct) if m.kind == "E"
            ]
        assert witness.rows("SELECT 1") == [["1"]]
    wait_until(lambda: backends(cluster) == 0, "both backends to go")
