"""Every authentication method is relayed as it is, right and wrong passwords alike."""

import psycopg2
import pytest

from support import wire
from support.pg_cluster import PASSWORD, PASSWORD_METHODS


def who_am_i(endpoint):
    connection = psycopg2.connect(endpoint.dsn())
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT session_user, current_database()")
            return cursor.fetchone()
    finally:
        connection.close()


def refusal(endpoint):
    with pytest.raises(psycopg2.OperationalError) as caught:
        psycopg2.connect(endpoint.dsn())
    return str(caught.value).replace(str(endpoint.port), "PORT")


def test_trust(proxied):
    assert who_am_i(proxied) == ("app", "horde")


@pytest.mark.parametrize("user", PASSWORD_METHODS)
def test_password_methods(proxied, user):
    assert who_am_i(proxied.replace(user=user, password=PASSWORD)) == (user, "horde")


@pytest.mark.parametrize("user", PASSWORD_METHODS)
@pytest.mark.parametrize("password", ["wrong", "x" * 900])
def test_refusals_are_the_servers_own_words(direct, proxied, user, password):
    wrong = {"user": user, "password": password}
    assert refusal(proxied.replace(**wrong)) == refusal(direct.replace(**wrong))


@pytest.mark.parametrize("change", [{"user": "nobody_of_that_name"}, {"dbname": "no_such_database"}])
def test_unknown_names_are_refused_in_the_servers_own_words(direct, proxied, change):
    assert refusal(proxied.replace(**change)) == refusal(direct.replace(**change))


def test_a_long_password_travels_whole(cluster, direct, proxied):
    long_password = "long " * 180
    cluster.execute(
        "SET password_encryption = 'scram-sha-256'; " f"ALTER ROLE app_password PASSWORD '{long_password}'"
    )
    try:
        assert who_am_i(proxied.replace(user="app_password", password=long_password))[0] == "app_password"
    finally:
        cluster.execute(f"ALTER ROLE app_password PASSWORD '{PASSWORD}'")


def conversation(endpoint, chunk):
    """A clear-text password login, with every client message cut into pieces of `chunk` bytes."""
    with wire.WireClient(endpoint, start=False) as client:

        def send(data):
            for offset in range(0, len(data), chunk):
                client.send(data[offset : offset + chunk])

        send(wire.startup(user="app_password", database="horde"))
        messages = client.read_until("R")
        send(wire.password(PASSWORD))
        messages += client.read_until_ready()
        send(wire.query("SELECT count(*) FROM kudos_ledger"))
        return [m.raw for m in messages + client.read_until_ready() if m.kind != "K"]


@pytest.mark.parametrize("chunk", [1, 7, 10_000])
def test_log_in_may_arrive_in_any_pieces(direct, proxied, chunk):
    assert conversation(proxied, chunk) == conversation(direct, 10_000)
