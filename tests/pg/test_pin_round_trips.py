"""A pin adds no round trip and no segment of its own: counted between the sidecar and the server.

Each conversation is held through the sidecar, once about a table that is gated and once about one that is
not; between sidecar and server the flow must turn round equally often. The envelope is the control: it is
known to cost one round trip, so the count would notice one.
"""

import conversations
import pytest

from support import wire
from support.sidecar import Sidecar
from support.wire_tap import CLIENT_BOUND, SERVER_BOUND, WireTap, split

INSERT = "INSERT INTO {table} ({column}, {other}) VALUES (50, '1')"
SELECT = "SELECT {column} FROM {table} WHERE {key} = 1"
TOUCHING = {"table": "kudos_reservations", "column": "user_id", "other": "amount", "key": "id"}
UNTOUCHED = {"table": "jobs", "column": "id", "other": "payload", "key": "id"}


@pytest.fixture(scope="module")
def tapped(cluster):
    with WireTap(cluster.endpoint()) as tap, Sidecar(
        tap.endpoint, {"control": {"dsn": cluster.endpoint("gate_operator").dsn()}}
    ) as sidecar:
        yield tap, sidecar


def connection_of(tap, client):
    """The tapped connection of the client's session, behind what the sidecar asks once after the log-in."""
    client.simple("SELECT 1")
    return tap.of_backend(client.pid)


def measure(tapped, steps, names):
    """What passed between sidecar and server, from the first to the last answer of the steps."""
    tap, sidecar = tapped
    with wire.WireClient(sidecar.endpoint()) as client:
        connection = connection_of(tap, client)
        before = connection.snapshot()
        for data, kinds, count in steps(names):
            client.send(data)
            client.read_until(kinds, count)
        after = connection.snapshot()
        messages = connection.messages(SERVER_BOUND, before.bytes[SERVER_BOUND])
        counts = after - before
    return counts, [kind for kind, _ in messages]


def simple(*texts):
    return lambda names: [conversations.simple(text.format(**names)) for text in texts]


def extended(*texts):
    return lambda names: [conversations.ask(wire.extended(text.format(**names))) for text in texts]


def pipelined(*texts):
    return lambda names: [
        conversations.ask(*[wire.query(text.format(**names)) for text in texts], count=len(texts))
    ]


def one_batch(*texts):
    return lambda names: [
        conversations.ask(
            *[conversations.prepared_run(text.format(**names), ()) for text in texts], wire.sync()
        )
    ]


def prepared(text):
    return lambda names: [
        conversations.ask(wire.parse(text.format(**names), "s"), wire.describe_statement("s"), wire.sync()),
        *[conversations.ask(wire.bind("", "s"), wire.execute(), wire.sync())] * 3,
    ]


SHAPES = {
    "simple in a transaction": simple("BEGIN", INSERT, SELECT, "COMMIT"),
    "simple in autocommit": simple(INSERT, SELECT, SELECT),
    "simple in a transaction, rolled back": simple("BEGIN", SELECT, "ROLLBACK"),
    "extended in autocommit": extended(INSERT, SELECT, SELECT),
    "extended in a transaction": extended("BEGIN", INSERT, SELECT, "COMMIT"),
    "prepared": prepared(SELECT),
    "a batch with its own BEGIN": one_batch("BEGIN", INSERT, SELECT, "COMMIT"),
    "a batch": one_batch(SELECT, INSERT, SELECT),
    "a savepoint before the touch": simple("BEGIN", "SAVEPOINT a", INSERT, "ROLLBACK TO a", SELECT, "COMMIT"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_pin_adds_no_round_trip(tapped, cluster, oracle, name):
    untouched, untouched_kinds = measure(tapped, SHAPES[name], UNTOUCHED)
    cluster.execute("CALL reset_horde()")
    oracle.mark()
    touching, touching_kinds = measure(tapped, SHAPES[name], TOUCHING)
    oracle.assert_clean()
    assert touching.round_trips == untouched.round_trips
    # The same number of segments: the pin rides in the write of the statement, its answer in the same read.
    assert touching.reads[SERVER_BOUND] == untouched.reads[SERVER_BOUND]
    # It was there all the same.
    assert touching.bytes[SERVER_BOUND] > untouched.bytes[SERVER_BOUND]
    assert len(touching_kinds) > len(untouched_kinds)


@pytest.mark.parametrize("name", SHAPES)
def test_what_touches_nothing_is_relayed_byte_for_byte(tapped, name):
    tap, sidecar = tapped
    steps = SHAPES[name](UNTOUCHED)
    with wire.WireClient(sidecar.endpoint()) as client:
        connection = connection_of(tap, client)
        offsets = {side: connection.snapshot().bytes[side] for side in (SERVER_BOUND, CLIENT_BOUND)}
        received = []
        for data, kinds, count in steps:
            client.send(data)
            received += client.read_until(kinds, count)
        sent = list(split(b"".join(data for data, _, _ in steps)))
        assert connection.messages(SERVER_BOUND, offsets[SERVER_BOUND]) == sent
        assert connection.messages(CLIENT_BOUND, offsets[CLIENT_BOUND]) == [
            (m.kind, m.body) for m in received
        ]


def test_a_pipelining_simple_client_waits_at_most_once_more(tapped, oracle):
    """The second touch comes while the answer to the first pin is on its way: it may be held until then."""

    def steps(names):
        return [conversations.simple("BEGIN"), *pipelined(INSERT, SELECT, "COMMIT")(names)]

    untouched, _ = measure(tapped, steps, UNTOUCHED)
    oracle.mark()
    touching, _ = measure(tapped, steps, TOUCHING)
    oracle.assert_clean()
    assert touching.round_trips <= untouched.round_trips + 1


def test_the_count_would_notice_a_round_trip(tapped, oracle):
    """The control: a text of several statements goes by envelope, which is confirmed first."""
    text = f"{SELECT}; {SELECT}"
    untouched, _ = measure(tapped, simple(text), UNTOUCHED)
    touching, _ = measure(tapped, simple(text), TOUCHING)
    assert touching.round_trips > untouched.round_trips


def test_a_later_touch_in_a_pinned_transaction_costs_nothing(tapped):
    """Known held: the pin is not taken again."""
    steps = simple("BEGIN", SELECT, SELECT, SELECT, "COMMIT")
    _, kinds = measure(tapped, steps, TOUCHING)
    assert kinds == ["Q", "F", "Q", "Q", "Q", "Q"]


def test_names_never_stand_without_their_schema(tapped):
    """A hostile search_path must not redirect the lock: every text the sidecar adds names pg_catalog."""
    tap, sidecar = tapped
    with wire.WireClient(sidecar.endpoint()) as client:
        connection = connection_of(tap, client)
        offset = connection.snapshot().bytes[SERVER_BOUND]
        client.simple(SELECT.format(**TOUCHING))
        client.ask(wire.extended(SELECT.format(**TOUCHING)))
        added = [
            body
            for kind, body in connection.messages(SERVER_BOUND, offset)
            if kind in "PQ" and b"advisory" in body
        ]
    assert added
    assert all(b"pg_catalog.pg_advisory" in body for body in added)
