"""Rules with columns, partitions and event triggers: what the closure pins, and what it leaves alone."""

import pathlib

import psycopg2
import pytest

from support.sidecar import Sidecar
from support.waiting import wait_until

SCHEMA = pathlib.Path(__file__).parent / "catalog" / "narrowed.sql"
TABLES = [
    {"name": "kudos_ledger"},
    {"name": "teams", "pin_on": "lock"},
    {"name": "wallets", "pin_on": "write", "columns": ["coins"]},
]

PINNED = [
    "UPDATE narrowed.wallets SET coins = 1 WHERE id = 1",
    'UPDATE narrowed.profiles SET "My coins" = 1 WHERE id = 1',
    "UPDATE narrowed.public_profiles SET shown = 1 WHERE id = 1",
    "DELETE FROM narrowed.public_profiles WHERE id = 20",
    "SELECT narrowed.pay(1)",
    "SELECT narrowed.put(1)",
    "SELECT narrowed.locked()",
    "INSERT INTO narrowed.deeds VALUES (1, 11)",
    "UPDATE narrowed.deeds SET day = 12 WHERE id = 3",
]
LEFT_ALONE = [
    "SELECT coins FROM narrowed.wallets",
    "UPDATE narrowed.wallets SET bio = 'x' WHERE id = 1",
    "UPDATE narrowed.profiles SET \"About me\" = 'x' WHERE id = 1",
    "UPDATE narrowed.public_profiles SET about = 'x' WHERE id = 1",
    "SELECT * FROM narrowed.public_profiles",
    "SELECT narrowed.describe(1)",
    "SELECT narrowed.looked()",
    "UPDATE narrowed.deeds SET id = id WHERE id = 4",
    "DELETE FROM narrowed.deeds WHERE id = 5",
    "INSERT INTO narrowed.deeds_1 VALUES (100, 1)",
    "SELECT count(*) FROM narrowed.deeds",
]


@pytest.fixture(scope="module")
def gated(cluster):
    cluster.execute(SCHEMA.read_text())
    with Sidecar(cluster.endpoint(), {"gate": {"functions": [], "tables": TABLES}}) as started:
        yield started


def pins_of(sidecar, statement):
    before = sidecar.metric("ledgergate_pins_total")
    connection = psycopg2.connect(sidecar.endpoint().dsn())
    connection.autocommit = True
    connection.cursor().execute(statement)
    connection.close()
    return sidecar.metric("ledgergate_pins_total") - before


@pytest.mark.parametrize("statement", PINNED)
def test_what_assigns_a_gated_column_is_pinned(gated, statement):
    assert pins_of(gated, statement) == 1


@pytest.mark.parametrize("statement", LEFT_ALONE)
def test_what_assigns_others_is_left_alone(gated, statement):
    assert pins_of(gated, statement) == 0


def test_an_event_trigger_has_every_definition_pinned(gated, cluster, oracle):
    cluster.execute(
        "CREATE FUNCTION narrowed.on_ddl() RETURNS event_trigger LANGUAGE plpgsql AS"
        " $$ BEGIN INSERT INTO public.kudos_ledger (user_id, amount) VALUES (1, 1); END $$;"
        "CREATE EVENT TRIGGER posts ON ddl_command_end EXECUTE FUNCTION narrowed.on_ddl()"
    )
    try:
        # Defining something beside a gated name has the catalog read again.
        pins_of(gated, "CREATE VIEW narrowed.noticed AS SELECT user_id FROM kudos_ledger")
        wait_until(
            lambda: any(each["name"] == "DDL" for each in gated.get("/v1/catalog")[1]["gated"]),
            "the event trigger to be known",
        )
        oracle.mark()
        assert pins_of(gated, "CREATE TABLE narrowed.anything (id integer)") == 1
        oracle.assert_clean()
    finally:
        cluster.execute("DROP EVENT TRIGGER posts")
