"""53200: the server's lock table is full. The pin that cannot be had is the client's one error, its statement does not
run, and when there is room again everything works."""

import psycopg2
import pytest

from support import wire
from support.horde import prepared_cluster
from support.sidecar import Sidecar



@pytest.fixture(scope="module")
def small():
    """A server with room for few locks."""
    with prepared_cluster({"max_connections": "20", "max_prepared_transactions": "0",
                           "max_locks_per_transaction": "10"}) as started:
        yield started


@pytest.fixture
def fresh_horde():
    """The cluster of the other tests is not needed here."""


def fill(connection):
    """Takes advisory locks until there is no room for another one."""
    with connection.cursor() as cursor:
        with pytest.raises(psycopg2.errors.OutOfMemory):
            for key in range(1, 1_000_000):
                cursor.execute("SELECT pg_advisory_lock(%s)", (key,))


@pytest.mark.parametrize("text", [
    "INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1)",
    "INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1); SELECT 1"])
def test_a_full_lock_table_is_the_clients_one_error(small, text):
    with Sidecar(small.endpoint()) as sidecar, wire.WireClient(sidecar.endpoint()) as client:
        client.simple("SELECT count(*) FROM jobs")
        before = small.execute("SELECT count(*) FROM kudos_ledger")
        hoarder = psycopg2.connect(small.endpoint("postgres").dsn())
        hoarder.autocommit = True
        try:
            fill(hoarder)
            messages = client.simple(text)
            assert [m.fields()["C"] for m in messages if m.kind == "E"] == ["53200"]
            assert [m.kind for m in messages][-1] == "Z"
        finally:
            # Given back before the next connection, which needs locks too.
            hoarder.cursor().execute("SELECT pg_advisory_unlock_all()")
            hoarder.close()
        assert small.execute("SELECT count(*) FROM kudos_ledger") == before
        assert [m.kind for m in client.simple(text)].count("E") == 0
