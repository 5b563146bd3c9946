"""REPEATABLE READ and SERIALIZABLE: no transaction acts on a mode older than its pin (F3), and a READ ONLY one, such as
a dump, is never pinned and delays no transition."""

import psycopg2
import psycopg2.errors
import pytest

from support.gate import gate_locks

HIGH = ["REPEATABLE READ", "SERIALIZABLE"]


def connect(endpoint, isolation=None, readonly=None, autocommit=False):
    connection = psycopg2.connect(endpoint.dsn())
    connection.set_session(isolation_level=isolation, readonly=readonly, autocommit=autocommit)
    return connection


def mode_of(cursor):
    cursor.execute("SELECT mode FROM kudos_ledger_control WHERE id = 1")
    return cursor.fetchone()[0]


def insert(cursor):
    cursor.execute("INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1)")


@pytest.mark.parametrize("isolation", HIGH)
def test_a_snapshot_from_before_a_transition_ends_in_40001(proxied, sidecar, oracle, isolation):
    connection = connect(proxied, isolation)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM jobs")   # takes the snapshot and touches nothing
        assert sidecar.flip("ledger")["state"] == "committed"
        with pytest.raises(psycopg2.errors.SerializationFailure, match="mode"):
            mode_of(cursor)
        with pytest.raises(psycopg2.errors.InFailedSqlTransaction):
            insert(cursor)
    connection.rollback()
    with connection.cursor() as cursor:
        assert mode_of(cursor) == "ledger"
        insert(cursor)
    connection.commit()
    connection.close()
    oracle.assert_clean(2)


@pytest.mark.parametrize("isolation", HIGH)
def test_a_snapshot_from_after_a_transition_is_proved_once_and_the_transaction_goes_on(
        proxied, sidecar, cluster, oracle, isolation):
    assert sidecar.flip("ledger")["state"] == "committed"
    connection = connect(proxied, isolation)
    with connection.cursor() as cursor:
        assert mode_of(cursor) == "ledger"
        assert len(gate_locks(cluster)) == 1
        insert(cursor)
        cursor.execute("SAVEPOINT a")
        insert(cursor)
        cursor.execute("ROLLBACK TO a")
        insert(cursor)
        assert len(gate_locks(cluster)) >= 1
    connection.commit()
    connection.close()
    oracle.assert_clean(4)


def test_a_read_only_dump_is_not_pinned_and_delays_no_transition(proxied, sidecar, cluster):
    connection = connect(proxied, "REPEATABLE READ", readonly=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM kudos_ledger")
        before = mode_of(cursor)
        assert gate_locks(cluster) == []
        assert sidecar.flip("ledger")["state"] == "committed"
        assert mode_of(cursor) == before   # its snapshot fixes the mode it sees
    connection.commit()
    connection.close()


@pytest.mark.parametrize("how", [
    "SET default_transaction_isolation = 'repeatable read'",
    "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE",
    "SELECT set_config('default_transaction_isolation', 'repeatable read', false)"])
def test_a_default_level_changed_by_sql_is_noticed(proxied, sidecar, oracle, how):
    connection = connect(proxied, autocommit=True)
    with connection.cursor() as cursor:
        insert(cursor)
        cursor.execute(how)
        insert(cursor)
        cursor.execute("BEGIN")
        cursor.execute("SELECT count(*) FROM jobs")
        assert sidecar.flip("ledger")["state"] == "committed"
        with pytest.raises(psycopg2.errors.SerializationFailure):
            insert(cursor)
        cursor.execute("ROLLBACK")
        cursor.execute("RESET ALL")
        cursor.execute("BEGIN")
        cursor.execute("SELECT count(*) FROM jobs")
        assert sidecar.flip("shadow")["state"] == "committed"
        insert(cursor)
        cursor.execute("COMMIT")
    connection.close()
    oracle.assert_clean(3)


@pytest.mark.parametrize("setting", ["role", "database", "options"])
def test_a_default_level_from_before_the_session_is_asked_for(proxied, sidecar, cluster, oracle, setting):
    options = None
    if setting == "options":
        options = "-c default_transaction_isolation=serializable"
    elif setting == "role":
        cluster.execute("ALTER ROLE app SET default_transaction_isolation = 'repeatable read'")
    else:
        cluster.execute("ALTER DATABASE horde SET default_transaction_isolation = 'repeatable read'")
    try:
        connection = psycopg2.connect(proxied.dsn(), options=options)
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM jobs")
            assert sidecar.flip("ledger")["state"] == "committed"
            with pytest.raises(psycopg2.errors.SerializationFailure):
                insert(cursor)
        connection.rollback()
        connection.autocommit = True
        with connection.cursor() as cursor:
            insert(cursor)   # autocommit: the lock is granted before the snapshot exists
        connection.close()
    finally:
        cluster.execute("ALTER ROLE app RESET default_transaction_isolation")
        cluster.execute("ALTER DATABASE horde RESET default_transaction_isolation")
    assert gate_locks(cluster) == []
    oracle.assert_clean(1)
