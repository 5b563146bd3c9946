"""gate.mode observe and off: nothing is injected, the server gets the client's own bytes, nobody is pinned.
Observe counts and logs what it would have pinned; off looks at nothing."""

import pathlib

import conversations
import drivers
import psycopg2
import pytest

from support import wire
from support.gate import exclusive_gate, gate_locks
from support.sidecar import Sidecar
from support.waiting import wait_until
from support.wire_tap import CLIENT_BOUND, SERVER_BOUND, WireTap

PSQL_SCRIPTS = pathlib.Path(__file__).resolve().parent / "psql"
FAMILIES = [conversations.simple_protocol, conversations.extended_protocol, conversations.copies]
CASES = [(family, name) for family in FAMILIES for name in family(conversations.TOUCHING)]
IDS = [f"{family.__name__}: {name}" for family, name in CASES]
INSERT = "INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1)"


@pytest.fixture(scope="module", params=["observe", "off"])
def mode(request):
    return request.param


@pytest.fixture(scope="module")
def tapped(cluster):
    with WireTap(cluster.endpoint()) as started:
        yield started


@pytest.fixture(scope="module")
def sidecar(tapped, mode):
    """Takes the place of the pinning one; the tap behind it records what reaches the server."""
    with Sidecar(tapped.endpoint, {"gate": {"mode": mode}}) as started:
        yield started


@pytest.fixture(scope="module")
def proxied(sidecar):
    return sidecar.endpoint()


def figures(sidecar):
    verdicts = ("none", "touch")
    seen = {name: sidecar.metric("ledgergate_statements_total", verdict=name) for name in verdicts}
    return {**seen, "pins": sidecar.metric("ledgergate_pins_total")}


def hold(endpoint, steps):
    """(the messages that came, every byte that was sent, the backend's pid)"""
    user = "loader" if b" FROM STDIN" in b"".join(data for data, _, _ in steps) else "app"
    parameters = {"user": user, "database": endpoint.dbname}
    sent = wire.startup(**parameters) + b"".join(data for data, _, _ in steps) + wire.terminate()
    with wire.WireClient(endpoint.replace(user=user)) as client:
        answers = []
        for data, kinds, count in steps:
            client.send(data)
            answers += client.read_until(kinds, count) if count else []
        client.send(wire.terminate())
        return answers + client.read_to_end(), sent, client.pid


@pytest.mark.parametrize("family, name", CASES, ids=IDS)
def test_the_server_gets_the_clients_bytes_and_the_client_the_servers(
    cluster, direct, proxied, tapped, family, name
):
    steps = family(conversations.TOUCHING)[name]
    expected, _, _ = hold(direct, steps)
    cluster.execute("CALL reset_horde()")
    got, sent, pid = hold(proxied, steps)
    assert [m.raw for m in got] == [m.raw for m in expected]
    connection = tapped.of_backend(pid)
    wait_until(lambda: not connection.open, "the tap to have passed on everything")
    assert bytes(connection.directions[SERVER_BOUND].data) == sent
    received = bytes(connection.directions[CLIENT_BOUND].data)
    assert received.endswith(b"".join(m.raw for m in got))


def test_nobody_is_pinned_and_nobody_waits_for_the_gate(cluster, proxied, oracle):
    with psycopg2.connect(proxied.dsn()) as connection, connection.cursor() as cursor:
        cursor.execute(INSERT)
        assert gate_locks(cluster) == []
        cursor.execute("SAVEPOINT a")
        cursor.execute("SELECT * FROM kudos_ledger")
        assert gate_locks(cluster) == []
    connection.close()
    with exclusive_gate(cluster), wire.WireClient(proxied) as client:
        # A pin would wait here, and its lock be seen by the client's own statement.
        client.simple("SET lock_timeout = '5s'")
        messages = client.ask(wire.query(INSERT)) + client.ask(wire.extended(INSERT))
        assert not [m for m in messages if m.kind == "E"]
    oracle.assert_violations("not pinned")


@pytest.mark.parametrize(
    "program",
    [
        drivers.command("psycopg2", str(drivers.SCENARIO)),
        drivers.command("psycopg3", str(drivers.SCENARIO), "pipeline"),
        drivers.command("asyncpg", str(drivers.SCENARIO)),
        ["psql", "-X", "-a", "-f", str(PSQL_SCRIPTS / "transactions.sql")],
    ],
    ids=["psycopg2", "psycopg3", "asyncpg", "psql"],
)
def test_real_clients_cannot_tell_and_are_not_pinned(cluster, oracle, direct, proxied, program):
    outputs, touches = [], []
    for endpoint in (direct, proxied):
        cluster.execute("CALL reset_horde()")
        oracle.mark()
        outputs.append(drivers.run(endpoint, program))
        oracle.assert_violations("not pinned")
        assert not any(record.shared for record in oracle.touches())
        touches.append(drivers.kinds_and_statements(oracle))
    assert outputs[0] == outputs[1], drivers.difference(*outputs)
    assert touches[0] == touches[1]


def test_observe_counts_and_logs_each_verdict_and_off_none(sidecar, proxied, mode):
    before, logged = figures(sidecar), len(sidecar.log())
    with wire.WireClient(proxied) as client:
        client.simple(INSERT)
        client.ask(wire.extended("SELECT count(*) FROM kudos_ledger"))
        client.simple("BEGIN")
        client.simple("UPDATE users SET kudos = 1 WHERE id = 1")
        client.simple("ROLLBACK")
        client.simple("SELECT count(*) FROM jobs")
        client.ask(wire.extended("SELECT count(*) FROM jobs"))
    after = figures(sidecar)
    seen = {name: after[name] - before[name] for name in before}
    said = sidecar.log()[logged:].count(": touch by ")
    if mode == "observe":
        # Nothing of BEGIN, ROLLBACK and the two reads of jobs is a touch.
        assert (seen, said) == ({"touch": 3, "none": 4, "pins": 0}, 3)
    else:
        assert (seen, said) == ({"touch": 0, "none": 0, "pins": 0}, 0)
    assert after["pins"] == 0


def test_observe_shows_a_transition_in_band_and_lets_it_pass(sidecar, proxied, cluster, mode):
    before = sidecar.metric("ledgergate_statements_total", verdict="transition")
    with wire.WireClient(proxied) as client:
        client.simple("BEGIN")
        messages = client.simple("UPDATE kudos_ledger_control SET mode = 'ledger' WHERE id = 1")
        assert wire.kinds(messages) == ["C", "Z:T"]
        assert gate_locks(cluster) == []
        client.simple("ROLLBACK")
    seen = sidecar.metric("ledgergate_statements_total", verdict="transition") - before
    assert seen == (1 if mode == "observe" else 0)


def test_off_needs_no_more_than_an_address_and_a_server(direct):
    plain = {name: None for name in ("control", "control_row", "modes", "transitions")}
    names = ("lock_key", "applier_lock_key", "pin_before_locks", "functions", "tables")
    with Sidecar(direct, {**plain, "gate": {"mode": "off", **dict.fromkeys(names)}}) as sidecar:
        with psycopg2.connect(sidecar.endpoint().dsn()) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM kudos_ledger")
            assert cursor.fetchone() == (20,)
        connection.close()
