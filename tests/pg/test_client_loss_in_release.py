"""A session-level hold is being given back when the client goes away or cancels: the one time that the server works
for a client that has no statement of its own under way."""

import struct
import threading

import pytest

from support import wire
from support.gate import gate_locks
from support.sidecar import Sidecar
from support.waiting import wait_until
from support.wire_tap import CLIENT_BOUND, SERVER_BOUND, WireTap
from test_cancel import send_cancel
from test_client_loss import CALL, DEADLINE, INSERT, is_there, leave

RELEASE = struct.pack("!I", 2885)  # the OID of pg_advisory_unlock_shared(int8), in a FunctionCall

# What leads to a release: behind the ReadyForQuery of an envelope, or in one write with the client's COMMIT.
ENDINGS = {
    "envelope": ((), CALL),
    "commit": (("BEGIN", "SAVEPOINT a", INSERT), "COMMIT"),
}


class Barrier:
    """Holds a release up at the tap, either on its way to the server or its reply on the way back."""

    def __init__(self):
        self.direction = None
        self.asked = False
        self.reached, self.open = threading.Event(), threading.Event()

    def close(self, direction):
        self.asked = False
        self.reached.clear()
        self.open.clear()
        self.direction = direction

    def before(self, direction, data):
        self.asked = self.asked or (direction == SERVER_BOUND and RELEASE in data)
        if self.asked and direction == self.direction:
            self.direction = None
            self.reached.set()
            assert self.open.wait(60)


@pytest.fixture(scope="module")
def barrier():
    return Barrier()


@pytest.fixture(scope="module")
def sidecar(cluster, barrier):
    with WireTap(cluster.endpoint(), barrier.before) as tap, Sidecar(tap.endpoint) as started:
        yield started


@pytest.fixture(scope="module")
def proxied(sidecar):
    return sidecar.endpoint()


@pytest.fixture(params=[SERVER_BOUND, CLIENT_BOUND])
def direction(request):
    return request.param


def go_into(cluster, client, barrier, direction, ending):
    """Until the release, or its reply, stands at the tap."""
    before, last = ENDINGS[ending]
    for sql in before:
        client.simple(sql)
    barrier.close(direction)
    client.send(wire.query(last))
    assert barrier.reached.wait(20), "there was no release"
    if direction == SERVER_BOUND:
        assert gate_locks(cluster, client.pid)
    else:
        wait_until(lambda: not gate_locks(cluster, client.pid), "the server to have carried it out")


@pytest.mark.parametrize("how", ["close", "reset"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_client_that_is_lost_leaves_no_lock(cluster, sidecar, proxied, oracle, barrier, direction, ending, how):
    noticed = sidecar.metric("ledgergate_abandoned_total")
    client = wire.WireClient(proxied)
    go_into(cluster, client, barrier, direction, ending)
    leave(client, how)
    wait_until(lambda: sidecar.metric("ledgergate_abandoned_total") > noticed, "the sidecar to notice")
    barrier.open.set()
    wait_until(lambda: not gate_locks(cluster, client.pid), "the lock to go", DEADLINE)
    wait_until(lambda: not is_there(cluster, client.pid), "the backend to end", DEADLINE)
    assert oracle.violations() == []


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_half_closed_client_gets_its_answer_behind_the_release(
    cluster, proxied, oracle, barrier, direction, ending
):
    with wire.WireClient(proxied) as client:
        go_into(cluster, client, barrier, direction, ending)
        client.socket.shutdown(1)
        barrier.open.set()
        assert wire.kinds(client.read_to_end()) == ["C", "Z:I"]
        assert gate_locks(cluster, client.pid) == []
    oracle.assert_clean()


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_cancel_does_not_show_and_leaves_no_lock(cluster, proxied, oracle, barrier, direction, ending):
    with wire.WireClient(proxied) as client:
        go_into(cluster, client, barrier, direction, ending)
        canceller = threading.Thread(target=send_cancel, args=(proxied, client.pid, client.secret))
        canceller.start()
        canceller.join(20)
        assert not canceller.is_alive(), "the request was not carried out"
        barrier.open.set()
        assert wire.kinds(client.read_until_ready()) == ["C", "Z:I"]
        assert gate_locks(cluster, client.pid) == []
        assert client.rows("SELECT count(*) FROM kudos_ledger WHERE amount = 1") != [["0"]]
    oracle.assert_clean()
