"""Casts of users' types, also to built-in ones and also where no text shows them, and values that are checked when
they are made."""

import pathlib

import psycopg2
import pytest

from support import wire
from support.sidecar import Sidecar

SCHEMA = pathlib.Path(__file__).parent / "catalog" / "casts.sql"

TOUCHES = {
    "an explicit cast of a column": "SELECT feeling::integer FROM typed.feelings",
    "the same in the words of the standard": "SELECT CAST(feeling AS integer) FROM typed.feelings",
    "of an element of an array": "SELECT (ARRAY[feeling])::integer[] FROM typed.feelings",
    "of a column of a view": "SELECT feeling::integer FROM typed.feeling_list",
    "of the result of a function": "SELECT typed.current_mood()::integer",
    "of a literal": "SELECT 'calm'::typed.mood::integer",
    "of a domain over the type": "SELECT feeling::integer FROM typed.steady",
    "an assignment": "INSERT INTO typed.numbers (big) SELECT flavour FROM typed.feelings",
    "an update that assigns": "UPDATE typed.numbers SET big = f.flavour FROM typed.feelings f",
    "an implicit cast in an operation": "SELECT scent + 1 FROM typed.feelings",
    "an implicit cast to an argument": "SELECT int8(scent) FROM typed.feelings",
    "of a row": "SELECT j::bigint FROM typed.journal j",
    "of a row in the words of the standard": "SELECT CAST(j AS bigint) FROM typed.journal j",
    "to a type of a user's": "SELECT 1::typed.coins",
    "assigning to a column of such a type": "INSERT INTO typed.purses VALUES (1)",
    "by the text of the value": "SELECT '(1)'::text::typed.boxed",
    "assigning the text of a value": "INSERT INTO typed.boxes VALUES ('(1)'::text)",
    "a domain in the notation of a function": "SELECT typed.account(1)",
    "the same of a string": "SELECT typed.account('1')",
    "a domain in the notation of a column": "SELECT n.account FROM generate_series(1, 2) n",
    "a row of a table as text": "SELECT ('(' || id || ')')::typed.holders FROM public.users",
    "an array of rows": "SELECT ('{\"(' || id || ')\"}')::typed.holders[] FROM public.users",
    "a row of a table from JSON": "SELECT * FROM json_populate_record(null::typed.holders, '{\"holder\": 1}')",
    "a function that makes a row of a table": "SELECT typed.last_holder()",
}

PLAIN = {
    "a cast that leads nowhere": "SELECT colour::integer FROM typed.paints",
    "reading what a cast's values are assigned to": "SELECT * FROM typed.numbers",
    "reading a table with a checked column": "SELECT * FROM typed.holders",
}


@pytest.fixture(scope="module")
def typed(cluster):
    cluster.execute(SCHEMA.read_text())
    cluster.execute("ALTER ROLE app SET search_path = typed, public")
    yield cluster


@pytest.fixture(scope="module")
def gated(typed):
    with Sidecar(typed.endpoint(), {"gate": {"functions": []}}) as started:
        yield started


def run(endpoint, statement):
    connection = psycopg2.connect(endpoint.dsn())
    connection.autocommit = True
    connection.cursor().execute(statement)
    connection.close()


@pytest.mark.parametrize("statement", TOUCHES.values(), ids=TOUCHES.keys())
def test_a_cast_that_leads_to_the_ledger_is_pinned(gated, oracle, statement):
    run(gated.endpoint(), statement)
    oracle.assert_clean()


@pytest.mark.parametrize("statement", TOUCHES.values(), ids=TOUCHES.keys())
def test_without_the_sidecar_the_oracle_reports_it(typed, oracle, statement):
    run(typed.endpoint(), statement)
    oracle.assert_violations("not pinned")


@pytest.mark.parametrize("statement", PLAIN.values(), ids=PLAIN.keys())
def test_a_type_that_leads_nowhere_is_not_pinned(gated, oracle, statement):
    before = gated.metric("ledgergate_pins_total")
    run(gated.endpoint(), statement)
    assert gated.metric("ledgergate_pins_total") == before
    assert oracle.touches() == []


def oid_of(cluster, name):
    return cluster.execute(f"SELECT '{name}'::regtype::oid::bigint")[0][0]


@pytest.mark.parametrize(
    "text, type_name, value",
    [("SELECT $1", "typed.account", b"1"), ("SELECT $1::integer", "typed.mood", b"calm")],
    ids=["a checked value", "a cast"],
)
def test_a_parameter_whose_type_only_its_number_tells_is_pinned(gated, typed, oracle, text, type_name, value):
    with wire.WireClient(gated.endpoint()) as client:
        types = [oid_of(typed, type_name)]
        client.ask(wire.parse(text, types=types) + wire.bind(values=[value]) + wire.execute() + wire.sync())
    oracle.assert_clean()
