"""Each conversation of rows.py has the same answers, byte for byte, directly and by every way through the
sidecar."""

import pytest

from rows import ROWS
from support import wire


def hold(endpoint, row):
    """The messages that came behind log-in, up to the end of the connection."""
    with wire.WireClient(endpoint.replace(user=row.user), timeout=60, **row.parameters) as client:
        answers = []
        for data, kinds, count in row.steps:
            client.send(data)
            answers += client.read_until(kinds, count) if count else []
        client.send(wire.terminate())
        return answers + client.read_to_end()


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_answered_as_directly(cluster, oracle, direct, through, way, name):
    row = ROWS[name]
    expected = hold(direct, row)
    cluster.execute("CALL reset_horde()")
    oracle.mark()
    got = hold(through, row)
    assert [m.raw for m in got] == [m.raw for m in expected], f"\n direct {expected}\nthrough {got}"
    if way == "gated":
        assert oracle.violations() == []
