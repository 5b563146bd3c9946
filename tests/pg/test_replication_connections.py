"""Replication connections: their commands are relayed untouched, and SQL sent on them is gated."""

import re
import subprocess

import drivers
import pytest

from support import wire


@pytest.fixture
def replicating(direct, proxied):
    return direct.replace(user="postgres"), proxied.replace(user="postgres")


@pytest.mark.parametrize("kind", ["database", "true"])
def test_replication_commands_answer_the_same(replicating, kind):
    answers = []
    for endpoint in replicating:
        with wire.WireClient(endpoint, replication=kind) as client:
            seen = client.simple("SHOW server_version")
            # The position in the log moves on; everything else is the same.
            system = client.simple("IDENTIFY_SYSTEM")
            seen += [m for m in system if m.kind != "D"]
            seen += [
                m for m in client.simple("CREATE_REPLICATION_SLOT s TEMPORARY PHYSICAL") if m.kind != "D"
            ]
            seen += client.simple("DROP_REPLICATION_SLOT s")
            seen += client.simple("DROP_REPLICATION_SLOT s")
            seen += client.simple("NO_SUCH_COMMAND")
            seen += client.simple("TIMELINE_HISTORY 1")
            answers.append(seen)
    assert answers[0] == answers[1]
    assert wire.kinds(answers[1]).count("E") == 3


def test_sql_on_a_replication_connection_is_gated(cluster, direct, proxied, oracle):
    statements = [
        "SELECT count(*) FROM jobs",
        "INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1)",
        "SELECT count(*) FROM kudos_ledger",
        "INSERT INTO kudos_ledger (user_id, amount) VALUES (9999, 1)",
        "BEGIN",
        "SELECT user_id FROM kudos_ledger WHERE event_id = 1",
        "COMMIT",
    ]
    cluster.execute("ALTER ROLE app REPLICATION")

    def client(endpoint):
        with wire.WireClient(endpoint, replication="database") as replicator:
            return [replicator.simple(text) for text in statements]

    try:
        drivers.compare(cluster, oracle, direct, proxied, client, at_least=3)
    finally:
        cluster.execute("ALTER ROLE app NOREPLICATION")


def test_copy_both_streams_in_both_directions(cluster, replicating):
    """START_REPLICATION: data from the server, status updates from the client, then both sides end it."""
    position = cluster.execute("SELECT pg_current_wal_flush_lsn()")[0][0]
    _, proxied = replicating
    with wire.WireClient(proxied, replication="true") as client:
        client.send(wire.query(f"START_REPLICATION PHYSICAL {position}"))
        assert client.read_until("WE")[-1].kind == "W"
        cluster.execute("SELECT pg_logical_emit_message(false, 'test', 'streamed ' || repeat('x', 100000))")
        seen = b""
        while b"streamed xxx" not in seen:
            seen += client.read().body
        client.send(wire.copy_data(b"r" + bytes(8 * 4) + b"\x01"))
        assert any(client.read().body[:1] == b"k" for _ in range(1000))
        client.send(wire.copy_done())
        assert wire.kinds(client.read_until_ready())[-1] == "Z:I"


def test_base_backup(replicating, tmp_path):
    _, proxied = replicating
    output = drivers.run(
        proxied, ["pg_basebackup", "-D", str(tmp_path / "copy"), "-c", "fast", "-X", "stream", "--no-sync"]
    )
    assert "error" not in output
    assert (tmp_path / "copy/PG_VERSION").exists()


def test_dump(cluster, replicating):
    """A dump is one long REPEATABLE READ READ ONLY transaction: never pinned, and the same text."""
    program = ["pg_dump", "--no-sync", "-n", "public"]
    # Each dump protects itself with a random word in its \\restrict lines.
    dumps = [
        re.sub(r"(?m)^\\(un)?restrict .*$", "", drivers.run(endpoint, program)) for endpoint in replicating
    ]
    assert dumps[0] == dumps[1]
    assert "COPY public.kudos_ledger" in dumps[1]


def test_logical_subscription_messages(replicating, cluster):
    _, proxied = replicating
    cluster.execute("CREATE PUBLICATION everything FOR ALL TABLES")
    cluster.execute("SELECT pg_create_logical_replication_slot('plain', 'test_decoding')")
    try:
        cluster.execute("UPDATE jobs SET state = 'replicated' WHERE id = 1")
        result = subprocess.run(
            [
                "pg_recvlogical",
                "-d",
                proxied.dsn(),
                "--slot",
                "plain",
                "--start",
                "-f",
                "-",
                "--endpos",
                cluster.execute("SELECT pg_current_wal_flush_lsn()")[0][0],
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
        )
        assert "replicated" in result.stdout, result.stdout
    finally:
        cluster.execute("SELECT pg_drop_replication_slot('plain')")
        cluster.execute("DROP PUBLICATION everything")
