"""What the server says unasked: notifications, notices, changed parameters."""

import select

import psycopg2
import pytest

from support import wire
from support.waiting import wait_until


@pytest.fixture
def connection(proxied):
    opened = psycopg2.connect(proxied.dsn())
    opened.autocommit = True
    yield opened
    opened.close()


def notified(connection):
    def received():
        select.select([connection], [], [], 0.1)
        connection.poll()
        return connection.notifies

    notifies = wait_until(received, "a notification")
    return [(n.channel, n.payload) for n in notifies]


def test_an_idle_listener_hears_at_once(connection, cluster):
    connection.cursor().execute("LISTEN news")
    cluster.execute("NOTIFY news, 'from elsewhere'")
    assert notified(connection) == [("news", "from elsewhere")]


def test_a_listener_hears_itself_behind_a_touch(connection, oracle):
    cursor = connection.cursor()
    cursor.execute("LISTEN news")
    cursor.execute("BEGIN")
    cursor.execute("SELECT count(*) FROM kudos_ledger")
    cursor.execute("NOTIFY news, 'mine'")
    cursor.execute("COMMIT")
    assert notified(connection) == [("news", "mine")]
    oracle.assert_clean()


def test_notify_in_the_statement_that_touches(connection, oracle):
    cursor = connection.cursor()
    cursor.execute("LISTEN news")
    cursor.execute("SELECT pg_notify('news', count(*)::text) FROM kudos_ledger")
    assert notified(connection) == [("news", "20")]
    oracle.assert_clean()


@pytest.mark.parametrize(
    "statement",
    [
        "SET application_name = 'renamed'",
        "SET client_encoding = 'LATIN1'",
        "SET TimeZone = 'Europe/Berlin'; SELECT count(*) FROM kudos_ledger; SET DateStyle = 'German, DMY'",
        "BEGIN; SET LOCAL application_name = 'local'; SELECT count(*) FROM kudos_ledger; COMMIT",
        "SELECT set_config('application_name', note, false) FROM kudos_ledger WHERE event_id = 1",
        "UPDATE kudos_ledger SET note = set_config('application_name', 'set', false) WHERE event_id = 2",
        "DO $$ BEGIN PERFORM set_config('application_name', 'by DO', false); RAISE NOTICE 'said'; END $$",
        "RESET ALL",
        "DISCARD ALL",
    ],
)
def test_parameter_changes_arrive_in_place(direct, proxied, statement):
    answers = []
    for endpoint in (direct, proxied):
        with wire.WireClient(endpoint, application_name="before") as client:
            client.simple("SET application_name = 'start'")
            answers.append(client.simple(statement) + client.simple("SELECT 1"))
    assert answers[0] == answers[1]
    # SET LOCAL in one message is over before the server reports it.
    assert "S" in wire.kinds(answers[0]) or "LOCAL" in statement


def test_all_levels_of_notices_arrive_in_place(direct, proxied):
    """client_min_messages below LOG would also show the oracle's own records, so jobs are asked here."""

    def said(endpoint):
        with wire.WireClient(endpoint) as client:
            return (
                client.simple(
                    "DO $$ BEGIN RAISE NOTICE 'one'; RAISE WARNING 'two'; RAISE INFO 'three'; END $$"
                )
                + client.simple("SELECT announce(payload) FROM jobs WHERE id = 1")
                + client.simple("SELECT announce(note), amount / 0 FROM kudos_ledger WHERE event_id = 1")
            )

    assert said(proxied) == said(direct)
    assert wire.kinds(said(proxied)).count("N") >= 4


def test_notices_during_log_in_arrive(direct, proxied):
    def said(endpoint):
        with wire.WireClient(endpoint, options="-c client_min_messages=debug1") as client:
            return [m for m in client.startup_messages if m.kind != "K"]

    assert said(proxied) == said(direct)
