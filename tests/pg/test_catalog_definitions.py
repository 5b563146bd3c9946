"""DDL that only defines is left alone; DDL and maintenance that run what leads to the ledger are pinned."""

import pathlib

import psycopg2
import pytest

from support.sidecar import Sidecar

SCHEMA = pathlib.Path(__file__).parent / "catalog" / "definitions.sql"

RUNS = {
    "a volatile default of a new column": "ALTER TABLE ddl.rows ADD COLUMN n bigint DEFAULT ddl.posted()",
    "a stable default of a new column": "ALTER TABLE ddl.rows ADD COLUMN n boolean DEFAULT ddl.is_known(1)",
    "a new column of a checked domain": "ALTER TABLE ddl.rows ADD COLUMN n ddl.account DEFAULT 1",
    "a new column with a check": "ALTER TABLE ddl.rows ADD COLUMN n int DEFAULT 1 CHECK (ddl.is_known(n))",
    "a new generated column": "ALTER TABLE ddl.rows ADD n boolean GENERATED ALWAYS AS (ddl.is_known(id)) STORED",
    "a conversion": "ALTER TABLE ddl.rows ALTER COLUMN note TYPE bigint USING ddl.posted()",
    "a conversion of a checked column": "ALTER TABLE ddl.valid ALTER COLUMN id TYPE bigint",
    "a conversion of an indexed column": "ALTER TABLE ddl.indexed ALTER COLUMN id TYPE bigint",
    "a conversion to a checked domain": "ALTER TABLE ddl.domains ALTER COLUMN free TYPE ddl.account",
    "a new check": "ALTER TABLE ddl.rows ADD CHECK (ddl.is_known(id))",
    "a check that is validated": "ALTER TABLE ddl.checked VALIDATE CONSTRAINT known",
    "an exclusion": "ALTER TABLE ddl.rows ADD EXCLUDE USING btree ((ddl.is_known(id)) WITH =) WHERE (id = 1)",
    "a table that becomes unlogged": "ALTER TABLE ddl.indexed SET UNLOGGED",
    "an index": "CREATE INDEX ON ddl.rows (ddl.is_known(id))",
    "a partial index": "CREATE INDEX ON ddl.rows (id) WHERE ddl.is_known(id)",
    "a concurrent index": "CREATE INDEX CONCURRENTLY ON ddl.rows (ddl.is_known(id))",
    "a reindexed table": "REINDEX TABLE ddl.indexed",
    "a reindexed index": "REINDEX INDEX ddl.indexed_known",
    "a reindexed schema": "REINDEX SCHEMA ddl",
    "a concurrent reindex": "REINDEX TABLE CONCURRENTLY ddl.indexed",
    "a cluster": "CLUSTER ddl.indexed USING indexed_known",
    "a full vacuum": "VACUUM FULL ddl.indexed",
    "an analysis": "ANALYZE ddl.indexed",
    "an analysis of extended statistics": "ANALYZE ddl.counted",
    "an analysis of everything": "ANALYZE",
    "the same in British": "analyse",
    "an analysis in vacuum": "VACUUM (ANALYZE) ddl.counted",
    "a check of a domain": "ALTER DOMAIN ddl.free_account ADD CHECK (ddl.is_known(VALUE))",
    "a check of a domain that is validated": "ALTER DOMAIN ddl.late_account VALIDATE CONSTRAINT later",
    "a partition that is attached": "ALTER TABLE ddl.parts ATTACH PARTITION ddl.loose FOR VALUES IN (5)",
    "a computed bound of a partition": "CREATE TABLE ddl.b PARTITION OF ddl.bounded FOR VALUES IN (ddl.posted())",
    "a table from a query": "CREATE TABLE ddl.made AS SELECT ddl.posted()",
    "a table from a prepared query": "PREPARE q AS SELECT ddl.posted(); CREATE TABLE ddl.made AS EXECUTE q",
    "SELECT INTO": "SELECT ddl.posted() INTO ddl.made",
    "a materialised view": "CREATE MATERIALIZED VIEW ddl.made AS SELECT ddl.posted()",
    "a refresh": "REFRESH MATERIALIZED VIEW ddl.totals",
    "a refresh of an indexed view": "REFRESH MATERIALIZED VIEW ddl.indexed_view",
    "EXPLAIN ANALYZE": "EXPLAIN ANALYZE SELECT ddl.posted()",
    "a plain EXPLAIN whose planning calls": "EXPLAIN SELECT ddl.is_known(1)",
    "COPY of a query": "COPY (SELECT ddl.posted()) TO STDOUT",
}

DEFINES = {
    "a table with a default, a check and a generated column": "CREATE TABLE ddl.made (id bigint"
    " DEFAULT ddl.posted() CHECK (ddl.is_known(id)), b boolean GENERATED ALWAYS AS (ddl.is_known(id)) STORED)",
    "a default": "ALTER TABLE ddl.rows ALTER COLUMN id SET DEFAULT ddl.posted()",
    "a check that is not valid": "ALTER TABLE ddl.rows ADD CHECK (ddl.is_known(id)) NOT VALID",
    "a column": "ALTER TABLE ddl.rows ADD COLUMN n bigint DEFAULT 1",
    "a view": "CREATE VIEW ddl.made AS SELECT * FROM kudos_ledger",
    "a function": "CREATE FUNCTION ddl.made() RETURNS bigint LANGUAGE sql AS 'SELECT ddl.posted()'",
    "a domain": "CREATE DOMAIN ddl.made AS bigint CHECK (ddl.is_known(VALUE))",
    "a check of a domain that is not valid": "ALTER DOMAIN ddl.free_account ADD CHECK (ddl.is_known(VALUE)) NOT VALID",
    "a rule": "CREATE RULE r AS ON INSERT TO ddl.rows DO ALSO SELECT ddl.posted()",
    "a policy": "CREATE POLICY p ON ddl.rows USING (ddl.is_known(id))",
    "an index without an expression": "CREATE INDEX ON ddl.rows (note)",
    "a vacuum of a table without one": "VACUUM ddl.rows",
    "an analysis of the ledger": "ANALYZE kudos_ledger",
    "a plain EXPLAIN of the ledger": "EXPLAIN SELECT * FROM kudos_ledger",
    "dropping the way": "DROP MATERIALIZED VIEW ddl.totals",
}


@pytest.fixture(autouse=True)
def ddl(cluster, fresh_horde):
    cluster.execute(SCHEMA.read_text())


@pytest.fixture(scope="module")
def gated(cluster):
    cluster.execute(SCHEMA.read_text())
    with Sidecar(cluster.endpoint(), {"gate": {"functions": []}}) as started:
        yield started


def run(endpoint, text):
    connection = psycopg2.connect(endpoint.dsn())
    connection.autocommit = True
    with connection.cursor() as cursor:
        for statement in text.split("; "):
            if statement.startswith("COPY"):
                import io

                cursor.copy_expert(statement, io.StringIO())
            else:
                cursor.execute(statement)
    connection.close()


@pytest.mark.parametrize("statement", RUNS.values(), ids=RUNS.keys())
def test_a_definition_that_runs_a_way_to_the_ledger_is_pinned(gated, oracle, statement):
    run(gated.endpoint(), statement)
    oracle.assert_clean()


@pytest.mark.parametrize("statement", RUNS.values(), ids=RUNS.keys())
def test_without_the_sidecar_the_oracle_reports_it(cluster, oracle, statement):
    run(cluster.endpoint(), statement)
    oracle.assert_violations("not pinned")


@pytest.mark.parametrize("statement", DEFINES.values(), ids=DEFINES.keys())
def test_a_definition_that_runs_nothing_is_not_pinned(gated, oracle, statement):
    before = gated.metric("ledgergate_pins_total")
    run(gated.endpoint(), statement)
    assert gated.metric("ledgergate_pins_total") == before
    assert oracle.touches() == []


def test_a_conversion_of_a_ledger_table_is_pinned(gated, cluster):
    cluster.execute(
        "CREATE TABLE ddl.kudos_ledger (amount integer); ALTER TABLE ddl.kudos_ledger OWNER TO app"
    )
    before = gated.metric("ledgergate_pins_total")
    run(gated.endpoint(), "ALTER TABLE ddl.kudos_ledger ALTER COLUMN amount TYPE bigint USING amount * 100")
    assert gated.metric("ledgergate_pins_total") == before + 1
