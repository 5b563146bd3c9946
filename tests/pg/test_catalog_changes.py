"""The catalog closure over time: DDL, statements prepared before it, failures, and what operators are shown."""

import json
import subprocess

import psycopg2
import pytest

from support import wire
from support.sidecar import Sidecar, binary
from support.waiting import wait_until

HEALTHY = {"gate": {"functions": [], "catalog": {"refresh": "1h"}}}


def catalog(sidecar):
    status, answer = sidecar.get("/v1/catalog")
    assert status == 200
    return answer


def await_catalog(sidecar):
    wait_until(lambda: catalog(sidecar)["generation"], "the catalog to be read")


@pytest.fixture(scope="module")
def gated(cluster):
    """Reads the catalog once an hour: what is seen sooner was seen because of the DDL that passed by."""
    with Sidecar(cluster.endpoint(), HEALTHY) as started:
        await_catalog(started)
        yield started


@pytest.fixture(autouse=True)
def clean_schema(cluster, fresh_horde):
    cluster.execute("DROP SCHEMA IF EXISTS made CASCADE; CREATE SCHEMA made AUTHORIZATION app;")
    yield
    cluster.execute("DROP SCHEMA IF EXISTS made CASCADE")


@pytest.fixture
def client(gated):
    connection = psycopg2.connect(gated.endpoint().dsn())
    connection.autocommit = True
    yield connection.cursor()
    connection.close()


@pytest.fixture
def other_client(gated):
    connection = psycopg2.connect(gated.endpoint().dsn())
    connection.autocommit = True
    yield connection.cursor()
    connection.close()


VIEW = "CREATE VIEW made.news AS SELECT user_id, amount FROM kudos_ledger"
READ_VIEW = "SELECT count(*) FROM made.news"


def test_a_new_view_is_gated_for_the_next_statement(client, oracle):
    client.execute(VIEW)
    client.execute(READ_VIEW)
    oracle.assert_clean()


def test_a_new_view_is_gated_for_other_sessions(client, other_client, oracle):
    other_client.execute("SELECT 1")
    client.execute(VIEW)
    other_client.execute(READ_VIEW)
    oracle.assert_clean()


def test_a_new_view_is_gated_in_the_transaction_that_makes_it(client, oracle):
    client.execute("BEGIN")
    client.execute(VIEW)
    client.execute(READ_VIEW)
    client.execute("COMMIT")
    oracle.assert_clean()


def test_a_view_that_was_rolled_back_leaves_the_session_usable(client, gated, oracle):
    client.execute("BEGIN")
    client.execute(VIEW)
    client.execute("ROLLBACK")
    before = gated.metric("ledgergate_pins_total")
    client.execute("SELECT 1")
    assert gated.metric("ledgergate_pins_total") == before


def test_a_function_made_harmful_is_gated_at_once(client, other_client, gated, oracle):
    client.execute("CREATE FUNCTION made.work() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'")
    other_client.execute("SELECT made.work()")
    assert oracle.touches() == []
    client.execute(
        "CREATE OR REPLACE FUNCTION made.work() RETURNS bigint LANGUAGE sql"
        " AS 'SELECT count(*) FROM kudos_ledger'"
    )
    other_client.execute("SELECT made.work()")
    oracle.assert_clean()


def test_a_statement_prepared_before_the_view_became_gated_is_judged_anew(client, other_client, oracle):
    client.execute("CREATE TABLE made.plain (user_id integer, amount numeric(20,2))")
    client.execute("CREATE VIEW made.news AS SELECT user_id, amount FROM made.plain")
    other_client.execute(f"PREPARE early AS {READ_VIEW}")
    other_client.execute("EXECUTE early")
    assert oracle.touches() == []
    client.execute("CREATE OR REPLACE VIEW made.news AS SELECT user_id, amount FROM kudos_ledger")
    other_client.execute("EXECUTE early")
    oracle.assert_clean()


def test_a_protocol_statement_prepared_before_a_trigger_is_judged_anew(client, gated, oracle):
    client.execute("CREATE TABLE made.deeds (id integer)")
    with wire.WireClient(gated.endpoint()) as early:
        early.ask(wire.parse("INSERT INTO made.deeds VALUES (1)", "s") + wire.sync())
        early.ask(wire.bind(statement="s") + wire.execute() + wire.sync())
        assert oracle.touches() == []
        client.execute(
            "CREATE FUNCTION made.pay() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1); RETURN NEW; END $$"
        )
        client.execute("CREATE TRIGGER t AFTER INSERT ON made.deeds FOR EACH ROW EXECUTE FUNCTION made.pay()")
        early.ask(wire.bind(statement="s") + wire.execute() + wire.sync())
    oracle.assert_clean()


SLEEPING_WAY = (
    "CREATE FUNCTION made.pay() RETURNS trigger LANGUAGE plpgsql AS"
    " $$ BEGIN INSERT INTO public.kudos_ledger (user_id, amount) VALUES (1, 1); RETURN NEW; END $$;"
    "CREATE FUNCTION made.known(n int) RETURNS boolean LANGUAGE plpgsql AS"
    " $$ BEGIN RETURN EXISTS (SELECT FROM public.kudos_ledger); END $$;"
    "CREATE DOMAIN made.account AS int CHECK (made.known(VALUE));"
    "CREATE TABLE made.deeds (id integer); CREATE TABLE made.holders (id made.account);"
    "CREATE TRIGGER t AFTER INSERT ON made.deeds FOR EACH ROW EXECUTE FUNCTION made.pay();"
    "ALTER TABLE made.deeds DISABLE TRIGGER t;"
    "CREATE TABLE made.guarded (id integer); INSERT INTO made.guarded VALUES (1);"
    "ALTER TABLE made.guarded FORCE ROW LEVEL SECURITY;"
    "CREATE POLICY p ON made.guarded USING (made.known(id));"
)

# What opens the way names nothing that leads to the ledger.
AWAKENINGS = {
    "a trigger": ("ALTER TABLE made.deeds ENABLE TRIGGER t", "INSERT INTO made.deeds VALUES (1)"),
    "all triggers": ("ALTER TABLE made.deeds ENABLE TRIGGER ALL", "INSERT INTO made.deeds VALUES (1)"),
    "policies": ("ALTER TABLE made.guarded ENABLE ROW LEVEL SECURITY", "SELECT count(*) FROM made.guarded"),
    "the name of a schema": ("ALTER SCHEMA made RENAME TO remade", "SELECT remade.known(1)"),
    "the type of a column": (
        "CREATE TABLE made.copied AS TABLE made.holders",
        "INSERT INTO made.copied VALUES (1)",
    ),
    "the type of a column, by SELECT INTO": (
        "SELECT * INTO made.copied FROM made.holders",
        "INSERT INTO made.copied VALUES (1)",
    ),
}


@pytest.fixture
def sleeping_ways(cluster, client, other_client, gated):
    cluster.execute("SET ROLE app; " + SLEEPING_WAY)
    client.execute(VIEW)  # has the catalog read
    other_client.execute("SELECT 1")
    yield
    cluster.execute("DROP SCHEMA IF EXISTS remade CASCADE")


@pytest.mark.parametrize("definition, touch", AWAKENINGS.values(), ids=AWAKENINGS.keys())
def test_a_way_that_was_asleep_is_known_to_others_when_its_client_goes_on(
    cluster, client, other_client, sleeping_ways, oracle, definition, touch
):
    # A schema is its owner's to rename, and the database's.
    cluster.execute("GRANT CREATE ON DATABASE horde TO app")
    oracle.mark()
    client.execute(definition)
    other_client.execute(touch)
    oracle.assert_clean()


@pytest.mark.parametrize("definition, touch", AWAKENINGS.values(), ids=AWAKENINGS.keys())
def test_a_way_that_was_asleep_is_pinned_in_the_same_text(
    cluster, client, sleeping_ways, oracle, definition, touch
):
    cluster.execute("GRANT CREATE ON DATABASE horde TO app")
    oracle.mark()
    client.execute(f"{definition}; {touch}")
    oracle.assert_clean()


def oid_of(cluster, name):
    return cluster.execute(f"SELECT '{name}'::regproc::oid::bigint")[0][0]


def test_a_function_call_by_oid_is_pinned_when_it_leads_to_the_ledger(client, cluster, gated, oracle):
    client.execute(
        "CREATE FUNCTION made.reads() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM kudos_ledger'"
    )
    client.execute("CREATE FUNCTION made.plain() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'")
    with wire.WireClient(gated.endpoint()) as caller:
        wait_until(
            lambda: not unpinned_call(gated, caller, oid_of(cluster, "made.plain")),
            "the harmless function to be known",
        )
        caller.ask(wire.function_call(oid_of(cluster, "made.reads"), []))
    oracle.assert_clean()


def unpinned_call(gated, caller, oid):
    before = gated.metric("ledgergate_pins_total")
    caller.ask(wire.function_call(oid, []))
    return gated.metric("ledgergate_pins_total") - before


def test_a_function_that_writes_the_control_row_is_a_transition(client, cluster, gated, oracle):
    cluster.execute(
        "CREATE FUNCTION made.change(wanted text) RETURNS void LANGUAGE plpgsql AS"
        " $$ BEGIN UPDATE public.kudos_ledger_control SET mode = wanted WHERE id = 1; END $$"
    )
    client.execute("CREATE VIEW made.poke AS SELECT user_id FROM kudos_ledger")  # has the catalog read
    client.execute("SELECT made.change('ledger')")
    oracle.assert_clean(at_least=0)
    assert gated.metric("ledgergate_statements_total", verdict="transition") > 0
    client.execute("SELECT made.change('shadow')")


def test_explain_names_the_path(client, gated):
    client.execute(VIEW)
    status, answer = gated.request("POST", "/v1/explain", {"sql": "begin; select * from made.news; commit"})
    assert status == 200
    assert answer["verdict"] == "touch" and answer["pin"]["autocommit"] == "envelope"
    first, read, last = answer["statements"]
    assert first["verdict"] == last["verdict"] == "none"
    assert read["reason"] == "catalog" and read["access"] == "read"
    assert read["paths"][0]["why"] == ["view over public.kudos_ledger", "configured, pin_on: any"]
    assert read["pin"] == {"autocommit": "as_extended", "in_transaction": "inline", "extended": "inline"}


def test_explain_needs_no_token_and_says_where_a_text_cannot_be_read(gated):
    status, answer = gated.request(
        "POST", "/v1/explain", {"sql": "select from from kudos_ledger"}, token=None
    )
    assert status == 200
    assert answer["verdict"] == "touch" and answer["unreadable"]["position"] == 13


@pytest.mark.parametrize(
    "body, code",
    [
        ("{", "malformed_json"),
        ({}, "missing_field"),
        ({"sql": 1}, "wrong_type"),
        ({"sq": ""}, "unknown_field"),
    ],
)
def test_explain_refuses_what_makes_no_sense(gated, body, code):
    status, answer = gated.request("POST", "/v1/explain", body)
    assert (status, answer["error"]["code"]) == (400, code)


def gatectl(sidecar, *arguments, stdin=None):
    program = binary().parent / "gatectl"
    address = f"http://127.0.0.1:{sidecar.admin_port}"
    return subprocess.run(
        [str(program), "--admin", address, *arguments], input=stdin, capture_output=True, text=True
    )


def test_gatectl_explains(client, gated):
    client.execute(VIEW)
    asked = gatectl(gated, "explain", "select * from made.news")
    assert asked.returncode == 0
    assert "touch, by catalog news (read)" in asked.stdout and "view over public.kudos_ledger" in asked.stdout
    from_stdin = gatectl(gated, "-o", "json", "explain", "-", stdin="select 1")
    assert json.loads(from_stdin.stdout)["verdict"] == "none"


def test_gatectl_lists_the_catalog_and_what_cannot_be_seen(client, gated):
    client.execute(
        "CREATE FUNCTION made.built(t text) RETURNS void LANGUAGE plpgsql AS 'BEGIN EXECUTE t; END'"
    )
    client.execute(VIEW)
    listed = gatectl(gated, "catalog").stdout
    assert "view made.news" in listed
    assert "function made.built: runs SQL that is put together at run time" in listed


def test_status_and_metrics_tell_how_old_the_catalog_is(gated):
    part = gated.get("/v1/status")[1]["catalog"]
    assert part["enabled"] and part["generation"] and part["age_ms"] >= 0 and part["error"] is None
    assert gated.metric("ledgergate_catalog_names") == part["names"] > 10
    assert ("ledgergate_catalog_age_seconds", ()) in gated.metrics()


UNREACHABLE = {"control": {"dsn": "host=127.0.0.1 port=1 user=gate_operator dbname=horde connect_timeout=1"}}


def pins_of(cluster, on_error, *statements):
    gate = {"functions": [], "catalog": {"on_error": on_error}}
    with Sidecar(cluster.endpoint(), {**UNREACHABLE, "gate": gate}, await_ready=False) as sidecar:
        connection = psycopg2.connect(sidecar.endpoint().dsn())
        connection.autocommit = True
        for statement in statements:
            connection.cursor().execute(statement)
        connection.close()
        assert sidecar.get("/v1/status")[1]["catalog"]["error"]
        return sidecar.metric("ledgergate_pins_total")


def test_a_client_is_let_go_when_the_catalog_cannot_be_read_and_stays_pinned(cluster):
    gate = {"functions": [], "catalog": {"on_error": "names_only"}}
    with Sidecar(cluster.endpoint(), {**UNREACHABLE, "gate": gate}, await_ready=False) as sidecar:
        connection = psycopg2.connect(sidecar.endpoint().dsn())
        connection.autocommit = True
        connection.cursor().execute(VIEW)
        connection.cursor().execute(READ_VIEW)
        connection.close()
        assert sidecar.metric("ledgergate_pins_total") == 1
        assert sidecar.metric("ledgergate_catalog_late_total") >= 1
        assert "could not be read in time" in sidecar.log()


def test_until_the_catalog_was_read_everything_else_is_pinned(cluster):
    assert pins_of(cluster, "closed", "SELECT 1", "UPDATE jobs SET state = 'x' WHERE id = 1") == 2
    assert pins_of(cluster, "closed", "SET work_mem = '1MB'", "BEGIN", "SHOW work_mem", "COMMIT") == 0


def test_with_names_only_the_configured_names_alone_are_pinned(cluster):
    statements = ["SELECT 1", "UPDATE jobs SET state = 'x' WHERE id = 1", "SELECT count(*) FROM kudos_ledger"]
    assert pins_of(cluster, "names_only", *statements) == 1


def test_a_failed_reading_keeps_the_last_closure(cluster, oracle):
    cluster.execute("SET ROLE app; " + VIEW)
    settings = {"gate": {"functions": [], "catalog": {"refresh": "1s"}}}
    with Sidecar(cluster.endpoint(), settings) as sidecar:
        await_catalog(sidecar)
        cluster.execute("ALTER ROLE gate_operator NOLOGIN")
        try:
            cluster.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'gate_operator'"
            )
            wait_until(lambda: catalog(sidecar)["error"], "the catalog connection to be missed")
            connection = psycopg2.connect(sidecar.endpoint().dsn())
            connection.autocommit = True
            connection.cursor().execute(READ_VIEW)
            connection.close()
            oracle.assert_clean()
            assert catalog(sidecar)["generation"] == 1 and catalog(sidecar)["gated"]
        finally:
            cluster.execute("ALTER ROLE gate_operator LOGIN")
        wait_until(lambda: not catalog(sidecar)["error"], "the catalog to be read again")
