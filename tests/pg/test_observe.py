"""gate.mode observe: what the report says would have been pinned, by whom, through what, and for how long."""

import psycopg
import psycopg2
import pytest
from support.gatectl import gatectl
from support.sidecar import Sidecar
from support.waiting import wait_until


@pytest.fixture
def observing(cluster):
    with Sidecar(cluster.endpoint(), {"gate": {"mode": "observe"}}) as started:
        yield started


def connect(sidecar, application="billing"):
    connection = psycopg2.connect(sidecar.endpoint().dsn(application_name=application))
    connection.autocommit = True
    return connection


def report(sidecar):
    status, answer = sidecar.get("/v1/observe")
    assert status == 200, answer
    return answer


def statements(sidecar):
    return {(each["application"], each["statement"]): each for each in report(sidecar)["statements"]}


def wait_for_pins(sidecar, count):
    """A client hears of the end of its transaction a moment before the report does."""
    wait_until(lambda: sum(each["pin"]["count"] for each in report(sidecar)["statements"]) == count, "the pins to end")


def test_statements_of_a_client_are_counted_without_their_constants(observing):
    with connect(observing) as connection, connection.cursor() as cursor:
        for number in range(3):
            cursor.execute(
                f"SELECT amount FROM kudos_ledger WHERE note = 'secret {number}' AND user_id = {number}"
            )
        cursor.execute("SELECT state FROM jobs WHERE id = 1")
    wait_for_pins(observing, 3)
    assert list(statements(observing)) == [
        ("billing", "SELECT amount FROM kudos_ledger WHERE note = ? AND user_id = ?")
    ]
    (seen,) = report(observing)["statements"]
    assert (seen["user"], seen["verdict"], seen["reason"], seen["name"]) == (
        "app",
        "touch",
        "table",
        "kudos_ledger",
    )
    assert (seen["executions"], seen["pin"]["count"]) == (3, 3)


def test_a_pin_would_last_until_the_transaction_is_over(observing, cluster):
    connection = connect(observing)
    cursor = connection.cursor()
    cursor.execute("BEGIN")
    cursor.execute("INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 5)")
    cursor.execute("SELECT pg_sleep(0.2)")
    assert [each["pin"]["count"] for each in report(observing)["statements"]] == [0]
    cursor.execute("COMMIT")
    wait_for_pins(observing, 1)
    pin = report(observing)["statements"][0]["pin"]
    assert pin["longest_ms"] >= 200 and pin["average_ms"] == pin["longest_ms"]
    connection.close()


def test_prepared_statements_count_at_each_execution(observing):
    with psycopg.connect(observing.endpoint().dsn(application_name="worker"), autocommit=True) as connection:
        for number in range(4):
            connection.execute("SELECT amount FROM kudos_ledger WHERE user_id = %s", (number,), prepare=True)
    wait_for_pins(observing, 4)
    seen = statements(observing)[("worker", "SELECT amount FROM kudos_ledger WHERE user_id = $1")]
    assert (seen["executions"], seen["pin"]["count"]) == (4, 4)


def test_a_change_of_the_mode_is_a_transition_and_clients_are_told_apart(observing):
    for application in ("billing", "migration"):
        with connect(observing, application) as connection, connection.cursor() as cursor:
            cursor.execute("UPDATE kudos_ledger_control SET mode = 'shadow' WHERE id = 1")
    verdicts = {each["application"]: each["verdict"] for each in report(observing)["statements"]}
    assert verdicts == {"billing": "transition", "migration": "transition"}


def test_gatectl_shows_it_and_says_so_when_the_gate_does_not_observe(observing, sidecar):
    with connect(observing) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM kudos_ledger")
    code, out, _ = gatectl(observing, "observe")
    assert code == 0 and "gate.mode observe" in out and "SELECT count(*) FROM kudos_ledger" in out
    with connect(sidecar) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM kudos_ledger")
    code, out, _ = gatectl(sidecar, "observe")
    assert code == 0 and "only gate.mode observe adds to this" in out
    assert report(sidecar)["statements"] == []


def test_statements_beyond_the_limit_are_only_counted(observing):
    with connect(observing) as connection, connection.cursor() as cursor:
        for number in range(1003):
            cursor.execute(f"SELECT {number} AS column_{number} FROM kudos_ledger LIMIT 0")
    answer = report(observing)
    assert (len(answer["statements"]), answer["left_out"]) == (1000, 3)
