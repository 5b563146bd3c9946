"""Byte for byte: what a server answers is what the sidecar's client reads, touched or not."""

import conversations
import pytest

from support import wire

FAMILIES = [conversations.simple_protocol, conversations.extended_protocol, conversations.copies]
CASES = [(family, name) for family in FAMILIES for name in family(conversations.TOUCHING)]
IDS = [f"{family.__name__}: {name}" for family, name in CASES]


def hold(endpoint, steps):
    """The messages that came; process ids and secret keys are of the start-up, which is left out."""
    with wire.WireClient(endpoint.replace(user="loader" if is_copy(steps) else "app")) as client:
        answers = []
        for data, kinds, count in steps:
            client.send(data)
            answers += client.read_until(kinds, count) if count else []
        client.send(wire.terminate())
        return answers + client.read_to_end()


def is_copy(steps):
    return b" FROM STDIN" in b"".join(data for data, _, _ in steps)


def compare(cluster, oracle, direct, proxied, steps):
    expected = hold(direct, steps)
    cluster.execute("CALL reset_horde()")
    direct_touches = len(oracle.touches())
    oracle.mark()
    got = hold(proxied, steps)
    assert [m.raw for m in got] == [m.raw for m in expected], f"\n direct {expected}\nproxied {got}"
    assert len(oracle.touches()) == direct_touches
    return got


@pytest.mark.parametrize("family, name", CASES, ids=IDS)
def test_touching_conversations_are_the_same(cluster, oracle, direct, proxied, family, name):
    compare(cluster, oracle, direct, proxied, family(conversations.TOUCHING)[name])
    assert oracle.violations() == []


@pytest.mark.parametrize("family, name", CASES, ids=IDS)
def test_untouched_conversations_are_the_same(cluster, oracle, direct, proxied, sidecar, family, name):
    pins = sidecar.metric("ledgergate_pins_total")
    compare(cluster, oracle, direct, proxied, family(conversations.UNTOUCHED)[name])
    assert oracle.touches() == []
    # A DO block may hide anything, and so may EXECUTE or Bind of a name that nobody has seen prepared.
    unknown_names = (
        "prepared by SQL",
        "named, run again and closed",
        "errors at Bind and Execute",
        "discarding",
    )
    if name not in ("a block", "a block and a call", *unknown_names):
        assert sidecar.metric("ledgergate_pins_total") == pins


@pytest.mark.parametrize("family, name", CASES, ids=IDS)
def test_touching_conversations_may_arrive_in_pieces(cluster, oracle, direct, proxied, family, name):
    """Every client message cut into single bytes: the framing must not matter to the gate."""
    steps = family(conversations.TOUCHING)[name]
    pieces = []
    for data, kinds, count in steps:
        cuts = [data[offset : offset + 1] for offset in range(len(data))]
        pieces += [(cut, kinds, 0) for cut in cuts[:-1]] + [(cuts[-1], kinds, count)]
    expected = hold(direct, steps)
    cluster.execute("CALL reset_horde()")
    oracle.mark()
    assert [m.raw for m in hold(proxied, pieces)] == [m.raw for m in expected]
    assert oracle.violations() == []
