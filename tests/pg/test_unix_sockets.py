"""Unix sockets on both sides of the sidecar, in every combination with TCP."""

import threading

import psycopg2
import pytest

from support.endpoint import Endpoint
from support.gate import await_state
from support.pg_cluster import PASSWORD, PASSWORD_METHODS
from support.processes import free_port
from support.sidecar import Sidecar


@pytest.fixture(scope="module", params=["tcp", "unix"])
def listening_on_both(request, cluster, tmp_path_factory):
    """A sidecar that listens on TCP and on a unix socket, over either kind of upstream."""
    folder = tmp_path_factory.mktemp("socket")
    server = cluster.endpoint(unix=request.param == "unix")
    port, socket_port = free_port(), free_port()
    listen = [{"address": f"127.0.0.1:{port}"}, {"address": f"unix:{folder}", "port": socket_port}]
    with Sidecar(server, {"listen": listen}):
        yield {"tcp": Endpoint("127.0.0.1", port), "unix": Endpoint(str(folder), socket_port)}
    assert list(folder.iterdir()) == [], "the socket file is removed at the end"


@pytest.mark.parametrize("client_side", ["tcp", "unix"])
def test_touches_are_pinned_over_either_kind_of_socket(listening_on_both, oracle, client_side):
    connection = psycopg2.connect(listening_on_both[client_side].dsn())
    with connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1)")
        cursor.execute("SELECT count(*) FROM kudos_ledger")
        assert cursor.fetchone() == (21,)
    connection.close()
    oracle.assert_clean(at_least=2)


@pytest.mark.parametrize("client_side", ["tcp", "unix"])
@pytest.mark.parametrize("user", PASSWORD_METHODS)
def test_log_in_over_either_kind_of_socket(listening_on_both, client_side, user):
    endpoint = listening_on_both[client_side].replace(user=user, password=PASSWORD)
    connection = psycopg2.connect(endpoint.dsn())
    assert connection.info.user == user
    connection.close()


@pytest.mark.parametrize("client_side", ["tcp", "unix"])
def test_cancel_over_either_kind_of_socket(listening_on_both, cluster, client_side):
    connection = psycopg2.connect(listening_on_both[client_side].dsn())
    connection.autocommit = True
    pid = connection.info.backend_pid

    def cancel_when_running():
        await_state(cluster, pid, "wait_event = 'PgSleep'")
        connection.cancel()

    thread = threading.Thread(target=cancel_when_running)
    thread.start()
    with connection.cursor() as cursor, pytest.raises(psycopg2.errors.QueryCanceled):
        cursor.execute("SELECT pg_sleep(60)")
    thread.join()
    connection.close()
