"""A server that is not there: clients hear it at once, and readiness says so."""

import signal
import socket

import psycopg2
import pytest

from support import wire
from support.endpoint import Endpoint
from support.horde import prepared_cluster
from support.processes import free_port
from support.sidecar import Sidecar
from support.waiting import wait_until



@pytest.fixture(scope="module")
def without_server():
    with Sidecar(Endpoint("127.0.0.1", free_port()), await_ready=False) as sidecar:
        yield sidecar


def refusal(endpoint):
    with wire.WireClient(endpoint, start=False) as client:
        client.send(wire.startup(user="app", database="horde"))
        messages = client.read_to_end()
        return wire.error_of(messages)


def test_clients_hear_08006(without_server):
    error = refusal(without_server.endpoint())
    assert error["C"] == "08006"
    assert error["S"] == "FATAL"


def test_libpq_shows_the_words(without_server):
    with pytest.raises(psycopg2.OperationalError, match="FATAL"):
        psycopg2.connect(without_server.endpoint().dsn())


def test_the_error_tells_nothing_about_the_configuration(without_server):
    """Neither addresses nor names of other databases for strangers."""
    words = " ".join(refusal(without_server.endpoint()).values())
    assert str(without_server.server.port) not in words
    assert "gate_operator" not in words


def test_readiness_says_so_and_liveness_does_not(without_server):
    status, reasons = without_server.get("/readyz")
    assert status == 503
    assert str(reasons).strip()
    assert without_server.get("/livez")[0] == 200


def test_a_server_that_never_answers_is_given_up(tmp_path):
    """Its port accepts and says nothing: connect_timeout ends the wait of start-up, not of the session."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as silent:
        port = silent.getsockname()[1]
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            # The queue of the listener is filled, so that the kernel answers no further connection.
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))
        with Sidecar(
            Endpoint("127.0.0.1", port), {"upstream": {"connect_timeout": "200ms"}}, await_ready=False
        ) as sidecar:
            assert refusal(sidecar.endpoint())["C"] == "08006"
        for filler in fillers:
            filler.close()


@pytest.fixture
def own_cluster():
    with prepared_cluster() as started:
        yield started


def ready(sidecar):
    return sidecar.get("/readyz")[0] == 200


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
def test_a_server_that_goes_and_comes_back(own_cluster, how):
    with Sidecar(own_cluster.endpoint()) as sidecar:
        with wire.WireClient(sidecar.endpoint()) as client:
            client.simple("BEGIN")
            client.simple("SELECT count(*) FROM kudos_ledger")
            own_cluster.stop(how)
            last = client.read_to_end()
            # The server's own words, when it had any, and then the end.
            assert [m.kind for m in last] in ([], ["E"], ["N"], ["N", "E"])
            assert {m.fields()["C"] for m in last} <= {"57P01", "57P02"}
        wait_until(lambda: not ready(sidecar), "/readyz to say 503")
        assert refusal(sidecar.endpoint())["C"] == "08006"
        own_cluster.start()
        wait_until(lambda: ready(sidecar), "/readyz to say 200 again")
        with wire.WireClient(sidecar.endpoint()) as client:
            assert client.rows("SELECT count(*) FROM kudos_ledger") == [["20"]]


def test_too_many_connections_is_the_servers_own_answer(own_cluster):
    own_cluster.execute("ALTER ROLE app CONNECTION LIMIT 1")
    with Sidecar(own_cluster.endpoint()) as sidecar, wire.WireClient(sidecar.endpoint()):
        assert refusal(sidecar.endpoint())["C"] == "53300"


def test_a_backend_that_dies_takes_its_session_along(own_cluster):
    with Sidecar(own_cluster.endpoint()) as sidecar, wire.WireClient(sidecar.endpoint()) as client:
        own_cluster.execute("SELECT pg_terminate_backend(%s)", parameters=(client.pid,))
        messages = client.read_to_end()
        assert wire.error_of(messages)["C"] == "57P01"
