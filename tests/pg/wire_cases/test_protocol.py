"""Versions and options of the protocol, start-up packets and keys: what the server says, through every way."""

import signal
import struct
import subprocess

import pytest
from test_startup import DATABASE, NO_SERVERS_VERSION, PACKETS, USER, VERSIONS, start

from support import wire
from support.gate import await_state
from support.processes import spawn
from support.waiting import wait_until

PROTOCOL_3_2 = 0x00030002
SLEEP = "SELECT pg_sleep(60) FROM kudos_ledger"
OPTIONS = [
    "-c a.b=c --d.e=f -cg.h=i\\ j -c g.k=l\\\\m",
    "--application_name=long -c application_name=short\\ form",
    "-c geqo=off   --work_mem=2MB  ",
    "-c search_path=a+b%20c",
    "-c no_equals_sign",
]
SHOWN = (
    "SELECT current_setting('a.b', true), current_setting('d.e', true), current_setting('g.h', true), "
    "current_setting('g.k', true), current_setting('application_name'), current_setting('work_mem'), "
    "current_setting('search_path')"
)


@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_is_negotiated_by_the_server(direct, through, version):
    for extra in ([], [("_pq_.test_protocol_negotiation", ""), ("_pq_.another", "1")]):
        pairs = [USER, DATABASE, *extra]
        assert start(through, pairs, version) == start(direct, pairs, version)


@pytest.mark.parametrize("pairs", PACKETS)
def test_parameters_are_relayed_as_they_came(direct, through, pairs):
    assert start(through, pairs) == start(direct, pairs)


@pytest.mark.parametrize("options", OPTIONS)
def test_options_mean_what_they_mean_directly(direct, through, options):
    pairs = [USER, ("options", options), DATABASE]
    assert start(through, pairs, then=SHOWN) == start(direct, pairs, then=SHOWN)


def test_two_users_one_after_the_other_are_told_the_version_once_each(direct, through):
    for user in ("app", "loader", "postgres"):
        answer = start(through, [("user", user), DATABASE], NO_SERVERS_VERSION)
        assert answer == start(direct, [("user", user), DATABASE], NO_SERVERS_VERSION)
        assert [m.kind for m in answer].count("v") == 1


@pytest.mark.parametrize("version", [wire.PROTOCOL_3_0, PROTOCOL_3_2])
def test_a_key_of_either_length_cancels_and_a_wrong_one_does_not(cluster, direct, through, version):
    with wire.WireClient(direct, version=version) as client:
        length = len(client.secret)
    assert length == (32 if version == PROTOCOL_3_2 and major(cluster) >= 18 else 4)
    with wire.WireClient(through, version=version) as client:
        assert len(client.secret) == length
        client.send(wire.query(SLEEP))
        await_state(cluster, client.pid, "wait_event = 'PgSleep'")
        flipped = client.secret[:-1] + bytes([client.secret[-1] ^ 1])
        for wrong in (flipped, client.secret[:-1], client.secret + b"x", client.secret[:4] + bytes(28)):
            if wrong != client.secret:
                assert send_cancel(through, client.pid, wrong) == b""
        state = cluster.execute(f"SELECT wait_event FROM pg_stat_activity WHERE pid = {client.pid}")
        assert state == [("PgSleep",)]
        assert send_cancel(through, client.pid, client.secret) == b""
        assert wire.error_of(client.read_until_ready())["C"] == "57014"


def major(cluster):
    return int(cluster.execute("SHOW server_version_num")[0][0]) // 10000


def send_cancel(endpoint, pid, secret):
    with endpoint.socket() as plain:
        plain.sendall(wire.cancel_request(pid, secret))
        return plain.recv(100)


@pytest.mark.parametrize(
    "option", ["max_protocol_version=3.0", "max_protocol_version=3.2", "max_protocol_version=latest"]
)
def test_libpq_that_asks_for_a_version_sees_the_same(direct, through, option):
    """psql is that of the server's own major version: before 18 it says that it does not know the option."""

    def psql(endpoint):
        done = subprocess.run(
            ["psql", "-X", "-c", "SELECT count(*) FROM kudos_ledger", f"{endpoint.dsn()} {option}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    assert psql(through) == psql(direct)


def test_psql_cancels_with_the_newest_protocol_that_it_knows(cluster, through):
    newest = "max_protocol_version=latest" if major(cluster) >= 18 else ""
    process = spawn(
        ["psql", "-X", "-c", "SELECT 'newest', pg_sleep(60) FROM kudos_ledger", f"{through.dsn()} {newest}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    asleep = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE 'SELECT ''newest''%'"
    wait_until(lambda: cluster.execute(asleep), "psql's statement to run")
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    assert "canceling statement due to user request" in output


@pytest.mark.parametrize("size", [1, 9000])
def test_log_in_may_arrive_in_any_pieces(direct, through, size):
    def log_in(endpoint):
        with wire.WireClient(endpoint, start=False) as client:
            packet = wire.startup_pairs([USER, DATABASE, ("application_name", "x" * size)])
            for offset in range(0, len(packet), 1 if size == 1 else 700):
                client.send(packet[offset : offset + (1 if size == 1 else 700)])
            return [m for m in client.read_until_ready() if m.kind != "K"]

    assert log_in(through) == log_in(direct)


@pytest.mark.parametrize("length", [1, 1023, 1024, 4096, 65_000])
def test_passwords_of_any_length_travel_whole(cluster, direct, through, length):
    secret = "p" * length
    cluster.execute(
        "SET password_encryption = 'scram-sha-256'; ALTER ROLE app_password PASSWORD '" + secret + "'"
    )

    def log_in(endpoint, words):
        with wire.WireClient(endpoint, start=False) as client:
            client.send(wire.startup(user="app_password", database="horde"))
            asked = client.read()
            client.send(wire.password(words))
            return [asked, *[m for m in client.read_until("ZE") if m.kind != "K"]]

    assert log_in(through, secret) == log_in(direct, secret)
    assert log_in(through, secret + "!") == log_in(direct, secret + "!")


def test_a_hostile_search_path_does_not_redirect_the_pin(cluster, through, way, oracle):
    cluster.execute("CREATE SCHEMA hostile; GRANT USAGE ON SCHEMA hostile TO app")
    try:
        for name in ("pg_advisory_xact_lock_shared", "pg_advisory_lock_shared", "pg_advisory_unlock_shared"):
            cluster.execute(f"CREATE FUNCTION hostile.{name}(bigint) RETURNS void LANGUAGE sql AS 'SELECT'")
        oracle.mark()
        options = "-c search_path=hostile,pg_catalog,public"
        with wire.WireClient(through, options=options) as client:
            insert = "INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1)"
            for part in (
                wire.query(insert),
                wire.extended(insert),
                wire.query("BEGIN"),
                wire.query(insert),
                wire.query("COMMIT"),
                wire.query("CALL post_in_two_transactions(1)"),
            ):
                assert not [m for m in client.ask(part) if m.kind == "E"]
        if way == "gated":
            oracle.assert_clean(at_least=5)
        else:
            oracle.assert_violations("not pinned")
    finally:
        cluster.execute("DROP SCHEMA hostile CASCADE")


def test_a_truncated_or_impossible_packet_closes_its_own_socket(through):
    for length in (0, 3, 4, 7, 8, (1 << 31) - 1, -1):
        with through.socket() as plain:
            plain.sendall(struct.pack("!i", length) + b"\0\3\0\0")
            plain.shutdown(1)
            assert plain.recv(100)[:1] in (b"", b"E")
    with wire.WireClient(through) as client:
        assert client.rows("SELECT 1") == [["1"]]
