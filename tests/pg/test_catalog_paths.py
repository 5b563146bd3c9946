"""Statements that reach the ledger without naming it: through whatever the catalogs can lead through."""

import pathlib

import psycopg2
import pytest

from support.sidecar import Sidecar
from support.waiting import wait_until

PATHS = pathlib.Path(__file__).parent / "catalog" / "paths.sql"

TOUCHES = {
    "a view": "SELECT count(*) FROM postings",
    "a view over a view": 'SELECT count(*) FROM "Big postings"',
    "an insert through a view": "INSERT INTO postings (user_id, amount) VALUES (1, 1)",
    "an update through a view over a view": 'UPDATE "Big postings" SET amount = 1 WHERE event_id = 1',
    "a delete through a view": "DELETE FROM postings WHERE event_id = 1",
    "a refresh": "REFRESH MATERIALIZED VIEW totals",
    "a rule": "INSERT INTO requests VALUES (1, 1)",
    "an SQL function": "SELECT post(1)",
    "a function that calls one": "SELECT post_twice(1)",
    "a standard SQL body": "SELECT balance(1)",
    "a standard SQL expression": "SELECT balance_text(1)",
    "a procedure": "CALL settle(1)",
    "a statement in a string": "SELECT by_text(1)",
    "a trigger on insert": "INSERT INTO deeds (id, user_id) VALUES (100, 1)",
    "a trigger on update of a column": "UPDATE deeds SET done = true WHERE id = 2",
    "a trigger in COPY": "COPY deeds (id, user_id) FROM STDIN",
    "a trigger instead of a delete": "DELETE FROM deed_list WHERE id = 3",
    "a default": "INSERT INTO quotes (id) VALUES (1)",
    "a check": "INSERT INTO checked VALUES (1)",
    "a generated column": "INSERT INTO generated (user_id) VALUES (1)",
    "an index": "INSERT INTO indexed VALUES (1)",
    "a domain of a column": "INSERT INTO with_domain VALUES (1)",
    "a domain in an expression": "SELECT '1'::account",
    "a policy": "SELECT count(*) FROM guarded",
    "an operator": "SELECT 1 === 1",
    "an aggregate": "SELECT total_balance(n) FROM generate_series(1, 2) n",
    "a cascading delete": "DELETE FROM accounts WHERE id = 50",
    "a delete that sets null": "DELETE FROM parents WHERE id = 50",
    "a cascading update": "UPDATE parents SET id = 1000 WHERE id = 60",
    "a child table": "SELECT count(*) FROM old_postings",
}

PLAIN = {
    "reading a table that has an insert trigger": "SELECT count(*) FROM deeds",
    "deleting from it": "DELETE FROM deeds WHERE id = 9",
    "updating a column that has no trigger": "UPDATE deeds SET note = 'x' WHERE id = 8",
    "a disabled trigger": "INSERT INTO quiet VALUES (1, 1)",
    "reading the parent of a foreign key": "SELECT count(*) FROM accounts",
    "updating nothing that cascades": "UPDATE accounts SET id = id WHERE id = 70",
    "reading what a rule writes from": "SELECT count(*) FROM requests",
    "reading a column of a gated domain": "SELECT count(*) FROM with_domain",
    "reading a generated column": "SELECT count(*) FROM generated",
    "an ungated table": "UPDATE jobs SET state = 'done' WHERE id = 1",
}


def settings(closure):
    catalog = {"closure": closure, "refresh": "1s", "on_error": "names_only"}
    return {"gate": {"functions": [], "catalog": catalog}}


@pytest.fixture(scope="module")
def paths(cluster):
    cluster.execute(PATHS.read_text())
    yield cluster


@pytest.fixture(scope="module")
def gated(paths):
    with Sidecar(paths.endpoint(), settings(True)) as started:
        wait_until(lambda: started.get("/v1/status")[1]["catalog"]["generation"], "the catalog to be read")
        yield started


@pytest.fixture(scope="module")
def names_only(paths):
    with Sidecar(paths.endpoint(), settings(False)) as started:
        yield started


def run(endpoint, statement):
    connection = psycopg2.connect(endpoint.dsn())
    connection.autocommit = True
    try:
        with connection.cursor() as cursor:
            if statement.startswith("COPY"):
                import io

                cursor.copy_expert(statement, io.StringIO("200\t1\n"))
            else:
                cursor.execute(statement)
    finally:
        connection.close()


@pytest.fixture(autouse=True)
def same_rows(paths, fresh_horde):
    paths.execute(
        "TRUNCATE hidden.deeds; ALTER TABLE hidden.deeds DISABLE TRIGGER USER;"
        "INSERT INTO hidden.deeds SELECT n, n FROM generate_series(1, 20) n;"
        "ALTER TABLE hidden.deeds ENABLE TRIGGER USER;"
        "TRUNCATE hidden.quiet;"
        "INSERT INTO hidden.accounts SELECT n FROM generate_series(1, 100) n ON CONFLICT DO NOTHING;"
        "DELETE FROM hidden.parents WHERE id > 100;"
        "INSERT INTO hidden.parents SELECT n FROM generate_series(1, 100) n ON CONFLICT DO NOTHING;"
        "INSERT INTO hidden.old_postings (event_id, user_id, amount) VALUES (-1, 1, 0);"
        "UPDATE public.kudos_ledger SET account_id = 50 WHERE event_id = 1;"
        "UPDATE public.kudos_stat_events SET parent_id = 50;"
        "INSERT INTO public.kudos_stat_events (user_id, amount, parent_id) VALUES (1, 0, 60);"
    )


@pytest.mark.parametrize("statement", TOUCHES.values(), ids=TOUCHES.keys())
def test_a_hidden_way_to_the_ledger_is_pinned(gated, paths, oracle, statement):
    run(gated.endpoint(), statement)
    oracle.assert_clean()


@pytest.mark.parametrize("statement", TOUCHES.values(), ids=TOUCHES.keys())
def test_without_the_closure_the_oracle_reports_it(names_only, paths, oracle, statement):
    run(names_only.endpoint(), statement)
    oracle.assert_violations("not pinned")


@pytest.mark.parametrize("statement", PLAIN.values(), ids=PLAIN.keys())
def test_what_leads_nowhere_is_not_pinned(gated, paths, oracle, statement):
    before = gated.metric("ledgergate_pins_total")
    run(gated.endpoint(), statement)
    assert gated.metric("ledgergate_pins_total") == before
    assert oracle.touches() == []
