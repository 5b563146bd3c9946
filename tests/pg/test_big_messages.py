"""Messages of hundreds of megabytes stream through: memory is bounded by one burst, not by a message."""

import contextlib
import pathlib
import re
import struct

import pytest

from support import wire
from support.gate import await_waiting, exclusive_gate, gate_locks
from support.sidecar import Sidecar

MIB = 1 << 20
PIECE = b"x" * MIB
# What a session may add, whatever passes: bursts in both directions, and what the gate may look at whole
# (limits.max_buffered_statement, set to 4 MiB here). Far below every message of this file.
ALLOWED_KIB = 24 * 1024


@pytest.fixture(scope="module")
def sidecar(cluster):
    with Sidecar(cluster.endpoint(), {"limits": {"max_buffered_statement": "4MiB"}}) as started:
        yield started


@pytest.fixture(scope="module")
def proxied(sidecar):
    return sidecar.endpoint()


@contextlib.contextmanager
def bounded_memory(sidecar):
    """The most that was resident while the block ran, as the kernel noted it, is near what was before."""
    process = pathlib.Path(f"/proc/{sidecar.process.pid}")
    (process / "clear_refs").write_text("5")  # proc(5): resets the peak resident set size
    before = sidecar.resident_kib()
    yield
    peak = int(re.search(r"VmHWM:\s+(\d+) kB", (process / "status").read_text()).group(1))
    assert peak - before < ALLOWED_KIB, f"from {before} KiB up to {peak} KiB"


def send_big(client, kind, front, filling, back=b""):
    """One message whose body is `front`, `filling` pieces of a MiB, and `back`."""
    length = 4 + len(front) + filling * MIB + len(back)
    client.send(kind.encode() + struct.pack("!i", length) + front)
    for _ in range(filling):
        client.socket.sendall(PIECE)
    client.send(back)


def big_query(client, sql_before, sql_behind, filling):
    send_big(client, "Q", sql_before.encode(), filling, wire.text(sql_behind))


def only_row(messages):
    errors = [m for m in messages if m.kind == "E"]
    assert not errors, errors
    (row,) = [wire.data_row(m) for m in messages if m.kind == "D"]
    return row


def skip(client, kind):
    """Reads one message of any size without keeping it; returns the length of its body."""
    while len(client.buffer) < 5:
        assert client._fill()
    assert client.buffer[:1] == kind.encode()
    length = struct.unpack("!i", client.buffer[1:5])[0] - 4
    have = client.buffer[5 : 5 + length]
    client.buffer = client.buffer[5 + length :]
    left = length - len(have)
    scratch = bytearray(MIB)
    while left:
        got = client.socket.recv_into(scratch, min(left, MIB))
        assert got
        left -= got
    return length


@pytest.mark.parametrize("table, touches", [("jobs", 0), ("kudos_ledger", 1)])
def test_a_query_text_of_256_mib(cluster, proxied, sidecar, oracle, table, touches):
    """Longer than the gate may look at: pinned, since what cannot be read could touch."""
    with wire.WireClient(proxied, timeout=120) as client, bounded_memory(sidecar):
        big_query(client, "/*", f"*/ SELECT count(*) FROM {table}", 256)
        assert only_row(client.read_until_ready()) == ["20"]
    oracle.assert_clean(touches)
    assert gate_locks(cluster) == []


def test_a_query_text_of_200_mib_in_a_transaction(cluster, proxied, sidecar, oracle):
    with wire.WireClient(proxied, timeout=120) as client, bounded_memory(sidecar):
        client.simple("BEGIN")
        insert = "INSERT INTO kudos_ledger (user_id, amount, note) VALUES (1, 1, left('"
        big_query(client, insert, "', 9))", 200)
        assert wire.kinds(client.read_until_ready()) == ["C", "Z:T"]
        assert len(gate_locks(cluster, client.pid)) == 1
        client.simple("COMMIT")
    oracle.assert_clean(2)


def test_a_query_text_that_waits_for_its_pin_is_not_kept_whole(cluster, proxied, sidecar):
    """The client is held up by the sockets meanwhile, as by a server that does not read."""
    with wire.WireClient(proxied, timeout=1) as client, bounded_memory(sidecar), exclusive_gate(cluster):
        with pytest.raises(TimeoutError):
            big_query(client, "SELECT count(*) FROM kudos_ledger /*", "*/", 256)
        await_waiting(cluster, client.pid)


def test_a_parse_text_of_200_mib(proxied, sidecar, oracle):
    with wire.WireClient(proxied, timeout=120) as client, bounded_memory(sidecar):
        behind = wire.text("*/ SELECT count(*) FROM kudos_ledger") + struct.pack("!h", 0)
        send_big(client, "P", b"\0/*", 200, behind)
        client.send(wire.bind() + wire.execute() + wire.sync())
        assert only_row(client.read_until_ready()) == ["20"]
    oracle.assert_clean(1)


@pytest.mark.parametrize("table, column, touches", [("jobs", "payload", 0), ("kudos_ledger", "note", 1)])
def test_one_parameter_of_500_mib(proxied, sidecar, oracle, table, column, touches):
    sql = f"SELECT count(*), max(length($1)) FROM {table} WHERE {column} IS DISTINCT FROM left($1, 5)"
    with wire.WireClient(proxied, timeout=120) as client, bounded_memory(sidecar):
        client.send(wire.parse(sql, types=[25]))
        front = b"\0\0" + struct.pack("!hhi", 0, 1, 500 * MIB)
        send_big(client, "B", front, 500, struct.pack("!h", 0))
        client.send(wire.execute() + wire.sync())
        assert only_row(client.read_until_ready()) == ["20", str(500 * MIB)]
    oracle.assert_clean(touches)


@pytest.mark.parametrize("source, touches", [("generate_series(1, 2)", 0), ("kudos_ledger LIMIT 2", 1)])
@pytest.mark.parametrize("protocol", ["simple", "extended"])
def test_rows_of_300_mib(proxied, sidecar, oracle, source, touches, protocol):
    sql = f"SELECT repeat('x', {300 * MIB}) FROM {source}"
    with wire.WireClient(proxied, timeout=120) as client, bounded_memory(sidecar):
        client.send(wire.query(sql) if protocol == "simple" else wire.extended(sql))
        kinds = [m.kind for m in client.read_until("T")]
        assert kinds[-1] == "T" and "E" not in kinds
        assert [skip(client, "D") for _ in range(2)] == [300 * MIB + 6] * 2
        assert wire.kinds(client.read_until_ready()) == ["C", "Z:I"]
    oracle.assert_clean(touches)


def test_a_client_that_does_not_read_its_rows_is_not_read_ahead_for(proxied, sidecar):
    """The server is held up by the sockets, instead of its rows by the sidecar's memory."""
    with wire.WireClient(proxied, timeout=120) as client, bounded_memory(sidecar):
        sql = f"SELECT repeat('x', {MIB}) FROM generate_series(1, 300), kudos_ledger LIMIT 300"
        client.send(wire.query(sql))
        assert client.read().kind == "T"
        with wire.WireClient(proxied) as other:
            # Another session goes on meanwhile, on either worker.
            assert other.rows("SELECT count(*) FROM kudos_ledger") == [["20"]]
        assert [skip(client, "D") for _ in range(300)] == [MIB + 6] * 300
        client.read_until_ready()


def test_copy_in_one_message_of_200_mib(proxied, sidecar, oracle):
    with wire.WireClient(proxied.replace(user="loader"), timeout=120) as client, bounded_memory(sidecar):
        client.send(wire.query("COPY kudos_ledger (user_id, amount, note) FROM STDIN"))
        client.read_until("G")
        send_big(client, "d", b"1\t1\t", 200, b"\n")
        client.send(wire.copy_done())
        assert [m.kind for m in client.read_until_ready()] == ["C", "Z"]
        assert client.rows("SELECT max(length(note)) FROM kudos_ledger") == [[str(200 * MIB)]]
    oracle.assert_clean(1)


def test_a_notice_of_100_mib(proxied, sidecar):
    text = f"DO $$ BEGIN RAISE NOTICE '%', repeat('x', {100 * MIB}); END $$"
    with wire.WireClient(proxied, timeout=120) as client, bounded_memory(sidecar):
        client.send(wire.query(text))
        assert skip(client, "N") > 100 * MIB
        assert wire.kinds(client.read_until_ready()) == ["C", "Z:I"]
