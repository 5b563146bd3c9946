"""SCRAM and channel binding through the sidecar: each layout with every wish of the client."""

import psycopg2
import pytest

from support.horde import prepared_cluster
from support.pg_cluster import PASSWORD
from tls_clients import TlsSidecar, both_legs, connect

RELAY = {"gate": {"mode": "off"}}


@pytest.fixture(scope="session")
def cluster(certificates):
    with prepared_cluster(certificates=certificates) as started:
        yield started


@pytest.fixture(scope="module")
def sidecars(cluster, certificates):
    """Towards the server in clear and with TLS, each with every kind of listener."""
    listeners = {
        "clear": None,
        "same": {"mode": "require", **certificates.pair("server")},
        "other": {"mode": "require", **certificates.pair("renewed")},
        "unbound": {"mode": "require", **certificates.pair("renewed"), "channel_binding": "disabled"},
    }
    with TlsSidecar(cluster.endpoint(), listeners, **RELAY) as in_clear:
        with TlsSidecar(cluster.endpoint(), listeners, {"mode": "require"}, **RELAY) as encrypted:
            yield {"clear": in_clear, "TLS": encrypted}


def log_in(sidecar, listener, binding):
    endpoint = sidecar.at(listener, "app_scram", password=PASSWORD)
    return connect(endpoint, sslmode="disable" if listener == "clear" else "require", channel_binding=binding)


@pytest.mark.parametrize(
    "listener, server, binding, problem",
    [
        ("clear", "TLS", "prefer", None),
        ("clear", "TLS", "disable", None),
        ("clear", "TLS", "require", "channel binding required, but SSL not in use"),
        ("same", "TLS", "prefer", None),
        ("same", "TLS", "require", None),
        ("same", "TLS", "disable", None),
        ("other", "clear", "prefer", None),
        ("other", "clear", "disable", None),
        ("other", "clear", "require", "channel binding is required"),
        ("other", "TLS", "prefer", "another certificate than the server"),
        ("other", "TLS", "require", "another certificate than the server"),
        ("other", "TLS", "disable", "another certificate than the server"),
        ("unbound", "TLS", "disable", None),
        ("unbound", "TLS", "prefer", "channel binding"),
    ],
)
def test_a_login_by_scram_works_or_says_why_not(sidecars, listener, server, binding, problem):
    if problem is None:
        connection = log_in(sidecars[server], listener, binding)
        assert [bool(leg) for leg in both_legs(connection)] == [listener != "clear", server == "TLS"]
        connection.close()
    else:
        with pytest.raises(psycopg2.OperationalError) as caught:
            log_in(sidecars[server], listener, binding)
        assert problem in str(caught.value)


@pytest.mark.parametrize("user", ["app", "app_md5", "app_password"])
def test_other_logins_do_not_care_about_the_certificate(sidecars, user):
    endpoint = sidecars["TLS"].at("other", user, password="" if user == "app" else PASSWORD)
    assert both_legs(connect(endpoint, sslmode="require")) == ("TLSv1.3", "TLSv1.3")


def test_the_log_says_what_to_do_about_another_certificate(sidecars):
    with pytest.raises(psycopg2.OperationalError):
        log_in(sidecars["TLS"], "other", "prefer")
    assert "channel_binding: disabled" in sidecars["TLS"].log()


def test_a_wrong_password_is_refused_in_the_servers_own_words(sidecars):
    endpoint = sidecars["TLS"].at("clear", "app_scram", password="wrong")
    with pytest.raises(psycopg2.OperationalError, match="password authentication failed"):
        connect(endpoint)
