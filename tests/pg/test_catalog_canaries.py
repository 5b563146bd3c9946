"""A test that cannot fail proves nothing: with any one kind of link left out of the closure the oracle must notice."""

import os
import pathlib
import subprocess

import psycopg2
import pytest

from support.sidecar import Sidecar

SCHEMA = pathlib.Path(__file__).parent / "catalog" / "kinds.sql"
CANARY = os.environ.get("LEDGERGATE_CANARY_BIN", "build/release/bin/ledgergate_canary")
SETTINGS = {"gate": {"functions": []}}

# A statement for each kind of link, that reaches the ledger by it.
WORKLOADS = {
    "aggregate": "SELECT kinds.how_many_known(1)",
    "cast": "SELECT 'calm'::kinds.mood::integer",
    "check": "INSERT INTO kinds.checked VALUES (1)",
    "default_value": "INSERT INTO kinds.quotes (id) VALUES (1)",
    "domain": "SELECT '1'::kinds.account",
    "event_trigger": "CREATE TABLE kinds.anything (id integer)",
    "foreign_key": "DELETE FROM kinds.parents",
    "generated_column": "INSERT INTO kinds.derived VALUES (1)",
    "index": "INSERT INTO kinds.indexed VALUES (1)",
    "inheritance": "DELETE FROM kinds.elders",
    "materialized_view": "REFRESH MATERIALIZED VIEW kinds.totals",
    "operation": "SELECT 1 OPERATOR(kinds.===) 1",
    "operator_class": "INSERT INTO kinds.paints VALUES ('dark')",
    "partition": "INSERT INTO kinds.parts VALUES (1)",
    "policy": "SELECT count(*) FROM kinds.guarded",
    "procedure": "CALL kinds.settle()",
    "rebuild": "REINDEX INDEX kinds.indexed_known",
    "row_type": "SELECT j::bigint FROM kinds.journal j",
    "rule": "INSERT INTO kinds.requests VALUES (1)",
    "sql_body": "SELECT kinds.by_sql()",
    "standard_body": "SELECT kinds.by_standard()",
    "statistics": "ANALYZE kinds.counted",
    "trigger": "INSERT INTO kinds.deeds VALUES (1)",
    "trigger_condition": "INSERT INTO kinds.wishes VALUES (1)",
    "type": "INSERT INTO kinds.holders VALUES (1)",
    "view": "SELECT count(*) FROM kinds.news",
    "word_body": "SELECT kinds.amount()",
}

# What a foreign table stands for is touched by another server's session, if at all, which no pin of this one helps:
# what is said of it is all there is to see.
SAID_ONLY = "foreign_table"
FOREIGN_TABLE = """
    DROP FOREIGN DATA WRAPPER IF EXISTS far CASCADE;
    CREATE FOREIGN DATA WRAPPER far;
    CREATE SERVER afar FOREIGN DATA WRAPPER far;
    CREATE FOREIGN TABLE kinds.far_ledger (amount numeric) SERVER afar OPTIONS (table_name 'kudos_ledger');
"""


def links():
    return subprocess.run(
        [CANARY, "--list-links"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout.split()


def without(kind, cluster):
    return Sidecar(cluster.endpoint(), SETTINGS, command=[CANARY, "--without-link", kind])


@pytest.fixture(autouse=True)
def kinds(request, cluster, fresh_horde):
    cluster.execute(SCHEMA.read_text())
    if "[event_trigger]" not in request.node.name:
        yield
        return
    cluster.execute("CREATE EVENT TRIGGER posts ON ddl_command_end EXECUTE FUNCTION kinds.on_ddl()")
    yield
    cluster.execute("DROP EVENT TRIGGER posts")


def run(endpoint, statement):
    connection = psycopg2.connect(endpoint.dsn())
    connection.autocommit = True
    connection.cursor().execute(statement)
    connection.close()


def test_every_kind_of_link_has_a_workload():
    assert sorted([*WORKLOADS, SAID_ONLY]) == sorted(links())


@pytest.mark.parametrize("kind", WORKLOADS)
def test_the_oracle_notices_when_a_kind_of_link_is_left_out(cluster, oracle, kind):
    with without(kind, cluster) as canary:
        oracle.mark()
        run(canary.endpoint(), WORKLOADS[kind])
    oracle.assert_violations("not pinned")


@pytest.mark.parametrize("kind", WORKLOADS)
def test_the_oracle_finds_nothing_when_none_is_left_out(cluster, oracle, kind):
    with Sidecar(cluster.endpoint(), SETTINGS) as product:
        oracle.mark()
        run(product.endpoint(), WORKLOADS[kind])
    oracle.assert_clean()


def said(sidecar, text):
    return sidecar.request("POST", "/v1/explain", {"sql": text})[1]["verdict"]


def test_what_is_said_of_a_foreign_table_depends_on_its_link(cluster):
    cluster.execute(FOREIGN_TABLE)
    with without(SAID_ONLY, cluster) as canary:
        assert said(canary, "SELECT * FROM kinds.far_ledger") == "none"
    with Sidecar(cluster.endpoint(), SETTINGS) as product:
        assert said(product, "SELECT * FROM kinds.far_ledger") == "touch"
