"""Temporary ways to the ledger: each session has a schema for them, which it calls pg_temp."""

import pathlib

import psycopg2
import pytest

from support.sidecar import Sidecar

SCHEMA = pathlib.Path(__file__).parent / "catalog" / "temporary.sql"

TOUCHES = {
    "a function": "SELECT {schema}.read_it()",
    "a procedure": "CALL {schema}.post_it()",
    "a domain": "SELECT '1'::{schema}.account",
    "a domain in the notation of a function": "SELECT {schema}.account(1)",
    "a view": "SELECT count(*) FROM {schema}.news",
    "a view without its schema": "SELECT count(*) FROM news",
    "a trigger": "INSERT INTO {schema}.deeds VALUES (1)",
    "an operator": "SELECT 1 OPERATOR({schema}.===) 1",
    "a quoted schema": 'SELECT "{schema}".read_it()',
}


@pytest.fixture(scope="module")
def gated(cluster):
    with Sidecar(cluster.endpoint(), {"gate": {"functions": [], "catalog": {"refresh": "1h"}}}) as started:
        yield started


def with_temporary_ways(endpoint):
    connection = psycopg2.connect(endpoint.dsn())
    connection.autocommit = True
    connection.cursor().execute(SCHEMA.read_text())
    return connection


@pytest.fixture(scope="module")
def client(gated):
    connection = with_temporary_ways(gated.endpoint())
    yield connection.cursor()
    connection.close()


@pytest.fixture(scope="module")
def later_client(gated, client):
    """Has another schema than the first one; both are there at once."""
    connection = with_temporary_ways(gated.endpoint())
    yield connection.cursor()
    connection.close()


def own_schema(cursor):
    cursor.execute("SELECT nspname FROM pg_namespace WHERE oid = pg_my_temp_schema()")
    return cursor.fetchone()[0]


@pytest.mark.parametrize("statement", TOUCHES.values(), ids=TOUCHES.keys())
def test_a_temporary_way_is_pinned_under_its_alias(client, oracle, statement):
    client.execute(statement.format(schema="pg_temp"))
    oracle.assert_clean()


@pytest.mark.parametrize("statement", TOUCHES.values(), ids=TOUCHES.keys())
def test_a_temporary_way_is_pinned_under_the_schemas_own_name(client, oracle, statement):
    client.execute(statement.format(schema=own_schema(client)))
    oracle.assert_clean()


@pytest.mark.parametrize("statement", TOUCHES.values(), ids=TOUCHES.keys())
def test_a_temporary_way_of_another_session_is_pinned_there(client, later_client, oracle, statement):
    assert own_schema(client) != own_schema(later_client)
    later_client.execute(statement.format(schema="pg_temp"))
    oracle.assert_clean()


@pytest.mark.parametrize("statement", TOUCHES.values(), ids=TOUCHES.keys())
def test_without_the_sidecar_the_oracle_reports_it(cluster, oracle, statement):
    connection = with_temporary_ways(cluster.endpoint())
    oracle.mark()
    connection.cursor().execute(statement.format(schema="pg_temp"))
    connection.close()
    oracle.assert_violations("not pinned")


def test_a_schema_that_is_not_temporary_is_still_told_apart(client, gated, cluster, oracle):
    cluster.execute(
        "CREATE SCHEMA plain; CREATE FUNCTION plain.read_it() RETURNS int LANGUAGE sql AS 'SELECT 1'"
    )
    cluster.execute("GRANT USAGE ON SCHEMA plain TO app")
    before = gated.metric("ledgergate_pins_total")
    client.execute("SELECT plain.read_it()")
    assert gated.metric("ledgergate_pins_total") == before
    assert oracle.touches() == []
