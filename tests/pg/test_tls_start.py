"""How TLS begins: asked for or at once, in pieces, never, too slowly, with something else in between."""

import contextlib
import os
import re
import socket
import ssl
import subprocess
import threading

import psycopg2
import pytest

from support import wire
from support.endpoint import trusting_context
from support.horde import prepared_cluster
from support.waiting import wait_until
from tls_clients import OverSocket, TlsSidecar, ask_for_tls, connect, direct_tls, is_closed

RELAY = {"gate": {"mode": "off"}}


@pytest.fixture(scope="session")
def cluster(certificates):
    with prepared_cluster(certificates=certificates) as started:
        yield started


@pytest.fixture(scope="module")
def sidecar(cluster, certificates):
    own = certificates.pair("server")
    listeners = {"allow": {"mode": "allow", **own}, "require": {"mode": "require", **own}, "off": None}
    with TlsSidecar(cluster.endpoint(), listeners, {"mode": "prefer"}) as started:
        yield started


def refused(sidecar):
    return sidecar.metric("ledgergate_clients_total", result="startup_refused")


@pytest.mark.parametrize("name", ["allow", "require"])
def test_tls_from_the_first_byte(sidecar, name):
    over = direct_tls(sidecar.at(name))
    assert over.selected_alpn_protocol() == "postgresql"
    with OverSocket(sidecar.at(name), over) as client:
        assert client.rows("SELECT count(*) FROM kudos_ledger") == [["20"]]


@pytest.mark.parametrize("protocols", [(), ("http/1.1",)])
def test_tls_from_the_first_byte_must_name_the_protocol(sidecar, protocols):
    try:
        over = direct_tls(sidecar.at("allow"), protocols)
    except OSError:
        return  # refused within the handshake
    assert is_closed(over)


def test_libpq_connects_directly_where_it_can(sidecar):
    """libpq 17 and newer know the way; older ones ask first."""
    version = subprocess.run(["psql", "--version"], capture_output=True, text=True, check=True).stdout
    direct = int(re.search(r"(\d+)\.", version).group(1)) >= 17
    extra = {"sslmode": "require", **({"sslnegotiation": "direct"} if direct else {})}
    command = ["psql", "-X", "-A", "-t", "-c", "SELECT count(*) FROM kudos_ledger"]
    dsn = sidecar.at("require").dsn(**extra)
    result = subprocess.run([*command, dsn], capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("20\n", "")


def test_tls_from_the_first_byte_is_no_start_where_there_is_no_tls(sidecar):
    with pytest.raises(OSError):
        direct_tls(sidecar.at("off"))


def test_a_handshake_may_come_byte_by_byte(sidecar):
    plain, answer = ask_for_tls(sidecar.at("require"))
    assert answer == b"S"
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = trusting_context().wrap_bio(incoming, outgoing)
    while True:
        try:
            tls.do_handshake()
            break
        except ssl.SSLWantReadError:
            for byte in outgoing.read():
                plain.sendall(bytes([byte]))
            incoming.write(plain.recv(65536))
    tls.write(wire.startup(user="app", database="horde"))
    for byte in outgoing.read():
        plain.sendall(bytes([byte]))
    received = b""
    while b"Z\0\0\0\5I" not in received:
        try:
            received += tls.read(65536)
        except ssl.SSLWantReadError:
            incoming.write(plain.recv(65536))
    # A goodbye in one direction leaves the other: the whole answer still comes.
    tls.write(wire.query("SELECT repeat('x', 100000) FROM kudos_ledger"))
    with pytest.raises(ssl.SSLWantReadError):
        tls.unwrap()
    plain.sendall(outgoing.read())
    received = b""
    while True:
        try:
            more = tls.read(65536)
        except ssl.SSLWantReadError:
            data = plain.recv(65536)
            if not data:
                break
            incoming.write(data)
            continue
        except ssl.SSLZeroReturnError:
            break
        if not more:
            break
        received += more
    assert received.count(b"x" * 100000) == 20 and received.endswith(b"Z\0\0\0\5I")


def test_clear_text_behind_the_request_is_never_taken_for_encrypted(sidecar):
    for name in ("allow", "require"):
        before = refused(sidecar)
        plain = sidecar.at(name).socket()
        plain.sendall(wire.SSL_REQUEST + wire.startup(user="app", database="horde"))
        assert plain.recv(1) == b"", "not even an answer"
        wait_until(lambda: refused(sidecar) > before, "the refusal to be counted")


def test_clear_text_instead_of_the_handshake_ends_the_connection(sidecar):
    plain, answer = ask_for_tls(sidecar.at("allow"))
    assert answer == b"S"
    plain.sendall(wire.startup(user="app", database="horde"))
    assert is_closed(plain)


def test_gss_encryption_is_denied_and_tls_may_follow(sidecar):
    plain = sidecar.at("require").socket()
    plain.sendall(wire.GSSENC_REQUEST)
    assert plain.recv(1) == b"N"
    plain.sendall(wire.SSL_REQUEST)
    assert plain.recv(1) == b"S"
    with OverSocket(sidecar.at("require"), trusting_context().wrap_socket(plain)) as client:
        assert client.rows("SELECT 1") == [["1"]]


@pytest.mark.parametrize("request_again", [wire.SSL_REQUEST, wire.GSSENC_REQUEST])
def test_encryption_inside_tls_is_not_understood(sidecar, request_again):
    with wire.WireClient(sidecar.at("require", tls=True), start=False) as client:
        client.send(request_again)
        assert wire.error_of(client.read_to_end())["C"] == "0A000"


def test_a_session_in_clear_is_refused_in_words_where_tls_is_required(sidecar):
    with wire.WireClient(sidecar.at("require"), start=False) as client:
        client.send(wire.startup(user="app", database="horde"))
        fields = wire.error_of(client.read_to_end())
    assert (fields["S"], fields["C"]) == ("FATAL", "28000")


def test_broken_handshakes_leave_nothing_behind(sidecar):
    hello = record_of_a_hello()
    connect(sidecar.at("allow")).close()

    def settled():
        return wait_until(
            lambda: sidecar.get("/v1/sessions")[1]["sessions"] == [] and sidecar.descriptor_count(), ""
        )

    before = settled()
    for cut in list(range(0, len(hello), 7)) + [len(hello)]:
        plain, answer = ask_for_tls(sidecar.at("require"))
        assert answer == b"S"
        plain.sendall(hello[:cut])
        plain.close()
    for damage in range(0, len(hello), 11):
        plain, _ = ask_for_tls(sidecar.at("require"))
        plain.sendall(hello[:damage] + bytes([hello[damage] ^ 0xFF]) + hello[damage + 1 :])
        plain.close()
    wait_until(lambda: sidecar.descriptor_count() <= before, "the sockets to be closed")
    connect(sidecar.at("require"), sslmode="require").close()


def test_thousands_of_broken_handshakes_cost_no_memory(sidecar):
    def break_one():
        plain, _ = ask_for_tls(sidecar.at("allow"))
        plain.sendall(b"\x16\x03\x01\x00\x05nonsense" * 10)
        assert is_closed(plain)
        plain.close()

    for _ in range(300):
        break_one()
    before = sidecar.resident_kib()
    for _ in range(2000):
        break_one()
    assert sidecar.resident_kib() - before < 4000


@pytest.mark.parametrize("record", [b"\x15\x03\x03\x00\x02\x02\x28", b"\x17\x03\x03\x00\x20" + b"x" * 32])
def test_a_broken_stream_ends_the_session_and_its_transaction(sidecar, cluster, record):
    """A fatal alert, or a record that was changed; the client then stays on its socket."""
    client = wire.WireClient(sidecar.at("require", tls=True))
    client.simple("BEGIN")
    client.simple("SELECT count(*) FROM kudos_ledger")
    pid = client.pid
    with socket.socket(fileno=os.dup(client.socket.fileno())) as plain:
        plain.sendall(record)
        wait_until(
            lambda: not cluster.execute(f"SELECT 1 FROM pg_stat_activity WHERE pid = {pid}"),
            "the server's session to end",
        )
        plain.settimeout(20)
        assert is_closed(plain)
    client.close()


def record_of_a_hello():
    outgoing = ssl.MemoryBIO()
    tls = trusting_context().wrap_bio(ssl.MemoryBIO(), outgoing)
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    return outgoing.read()


def test_a_slow_handshake_ends_with_the_start_up_time(cluster, certificates):
    listeners = {"require": {"mode": "require", **certificates.pair("server")}}
    limits = {"limits": {"client_startup_timeout": "500ms"}}
    with TlsSidecar(cluster.endpoint(), listeners, **limits, **RELAY) as sidecar:
        hello = record_of_a_hello()
        for sent in (b"", hello[:1], hello[:-1], hello):
            plain, _ = ask_for_tls(sidecar.at("require"))
            plain.sendall(sent)
            assert is_closed(plain)
        silent = sidecar.at("require").socket()
        assert is_closed(silent)
        wait_until(
            lambda: sidecar.metric("ledgergate_clients_total", result="startup_timeout") == 5,
            "all five to be counted as too slow",
        )


class StubServer:
    """Answers the request for TLS with bytes of the test's choice, and remembers what comes after that."""

    def __init__(self, answer):
        self.answer = answer
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.received = b""
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            client, _ = self.listening.accept()
            client.settimeout(20)
            if client.recv(8, socket.MSG_WAITALL) == wire.SSL_REQUEST:
                client.sendall(self.answer)
                with contextlib.suppress(ConnectionResetError):
                    while data := client.recv(4096):
                        self.received += data
            client.close()


HOSTILE = wire.message("E", b"SFATAL\0VFATAL\0C28000\0Mcall this number\0\0")


@pytest.mark.parametrize("answer", [HOSTILE, b"S" + HOSTILE, b"N" + HOSTILE, b"?"])
def test_what_a_server_says_before_tls_is_not_shown(cluster, answer):
    stub = StubServer(answer)
    upstream = {"port": stub.port, "tls": {"mode": "prefer"}}
    with TlsSidecar(cluster.endpoint(), {"clear": None}, None, False, upstream=upstream, **RELAY) as sidecar:
        with pytest.raises(psycopg2.OperationalError) as caught:
            connect(sidecar.at("clear"))
        assert "could not connect to upstream server" in str(caught.value)
        assert "call this number" not in str(caught.value) + sidecar.log()
    assert stub.received == b"", "not even the start-up packet was sent"


def test_a_server_that_never_answers_is_given_up(cluster):
    stub = StubServer(b"")
    upstream = {"port": stub.port, "connect_timeout": "300ms", "tls": {"mode": "prefer"}}
    with TlsSidecar(cluster.endpoint(), {"clear": None}, None, False, upstream=upstream, **RELAY) as sidecar:
        with pytest.raises(psycopg2.OperationalError, match="could not connect to upstream server"):
            connect(sidecar.at("clear"))
