"""TLS on both sides in every mode: who gets in, who is encrypted, whose certificate is looked at."""

import socket
import ssl
import subprocess
import threading

import psycopg2
import pytest

from support.horde import prepared_cluster
from support.processes import free_port
from support.sidecar import binary
from support.wire import SSL_REQUEST
from tls_clients import TlsSidecar, both_legs, connect

ACCESS = [
    "hostnossl all tls_only,certified 127.0.0.1/32 reject",
    "hostssl all certified 127.0.0.1/32 trust clientcert=verify-ca",
    "hostssl all tls_only 127.0.0.1/32 trust",
]
UPSTREAM_MODES = ["off", "prefer", "require", "verify-ca", "verify-full"]
RELAY = {"gate": {"mode": "off"}}


@pytest.fixture(scope="session")
def cluster(certificates):
    with prepared_cluster(certificates=certificates, access=ACCESS) as started:
        started.execute("CREATE ROLE tls_only LOGIN IN ROLE app; CREATE ROLE certified LOGIN IN ROLE app")
        yield started


@pytest.fixture(scope="session")
def bare_cluster():
    """A server without TLS."""
    with prepared_cluster() as started:
        yield started


def upstream_section(mode, certificates):
    section = {"mode": mode}
    if mode.startswith("verify"):
        section["ca"] = str(certificates.file("ca.crt"))
    return section


def refusal(endpoint, **extra):
    with pytest.raises(psycopg2.OperationalError) as caught:
        connect(endpoint, **extra)
    return str(caught.value)


@pytest.mark.parametrize("mode", UPSTREAM_MODES)
def test_every_client_mode_meets_every_server_mode(cluster, certificates, mode):
    own = certificates.pair("server")
    listeners = {
        "off": None,
        "allow": {"mode": "allow", **own},
        "require": {"mode": "require", **own},
    }
    encrypted = {"off": {"prefer"}, "allow": {"prefer", "require"}, "require": {"prefer", "require"}}
    refused = {"off": {"require"}, "allow": set(), "require": {"disable"}}
    with TlsSidecar(cluster.endpoint(), listeners, upstream_section(mode, certificates)) as sidecar:
        for name in listeners:
            for sslmode in ("disable", "prefer", "require"):
                if sslmode in refused[name]:
                    words = refusal(sidecar.at(name), sslmode=sslmode)
                    assert ("does not support SSL" if name == "off" else "TLS is required here") in words
                    continue
                connection = connect(sidecar.at(name), sslmode=sslmode)
                client, server = both_legs(connection)
                wants = name != "off" and sslmode in encrypted[name]
                assert (client, server) == (
                    "TLSv1.3" if wants else None,
                    None if mode == "off" else "TLSv1.3",
                )
                with connection.cursor() as cursor:
                    cursor.execute("SELECT count(*) FROM kudos_ledger")
                    assert cursor.fetchone() == (20,)
                mine = sidecar.get("/v1/sessions")[1]["sessions"]
                shown = [(s["client_tls"], s["server_tls"]) for s in mine if s["state"] == "idle"]
                assert (client, server) in shown
                connection.close()
        assert sidecar.metric("ledgergate_statements_total", verdict="touch") > 0


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
def test_both_sides_keep_to_the_versions_that_are_allowed(cluster, certificates, version):
    only = {"min_version": version, "max_version": version}
    other = "TLSv1.3" if version == "TLSv1.2" else "TLSv1.2"
    listeners = {"only": {"mode": "require", **certificates.pair("server"), **only}}
    with TlsSidecar(cluster.endpoint(), listeners, {"mode": "require", **only}, **RELAY) as sidecar:
        assert both_legs(connect(sidecar.at("only"), sslmode="require")) == (version, version)
        limits = {"ssl_min_protocol_version": other, "ssl_max_protocol_version": other}
        assert "version" in refusal(sidecar.at("only"), sslmode="require", **limits)


def test_clients_are_let_in_by_their_certificates(cluster, certificates):
    asks = {
        "client_ca": str(certificates.file("ca.crt")),
        "client_crl": str(certificates.file("ca.crl")),
    }
    own = certificates.pair("server")
    listeners = {
        "required": {"mode": "require", **own, **asks},
        "optional": {"mode": "require", **own, **asks, "client_certificate": "optional"},
    }

    def showing(name):
        return {
            "sslcert": str(certificates.file(f"{name}.crt")),
            "sslkey": str(certificates.file(f"{name}.key")),
        }

    with TlsSidecar(cluster.endpoint(), listeners, **RELAY) as sidecar:
        for name in listeners:
            assert both_legs(connect(sidecar.at(name), sslmode="require", **showing("app")))[0] == "TLSv1.3"
            assert "unknown ca" in refusal(sidecar.at(name), sslmode="require", **showing("stranger"))
            assert "revoked" in refusal(sidecar.at(name), sslmode="require", **showing("revoked"))
        without = {"sslcert": "/nonexistent", "sslmode": "require"}
        assert both_legs(connect(sidecar.at("optional"), **without))[0] == "TLSv1.3"
        assert "certificate required" in refusal(sidecar.at("required"), **without)


def test_the_sidecar_shows_the_server_its_certificate(cluster, certificates):
    for cert, let_in in (({}, False), (certificates.pair("app"), True)):
        with TlsSidecar(cluster.endpoint(), {"clear": None}, {"mode": "require", **cert}, **RELAY) as sidecar:
            if let_in:
                assert both_legs(connect(sidecar.at("clear", "certified")))[1] == "TLSv1.3"
            else:
                assert "client certificate" in refusal(sidecar.at("clear", "certified"))


def test_a_server_that_admits_only_tls_is_reached(cluster):
    with TlsSidecar(cluster.endpoint(), {"clear": None}, {"mode": "prefer"}, **RELAY) as sidecar:
        assert both_legs(connect(sidecar.at("clear", "tls_only"))) == (None, "TLSv1.3")


def test_a_server_without_tls_is_used_only_where_tls_is_a_preference(bare_cluster, certificates):
    for mode in UPSTREAM_MODES:
        upstream = upstream_section(mode, certificates)
        with TlsSidecar(
            bare_cluster.endpoint(), {"clear": None}, upstream, await_ready=False, **RELAY
        ) as sidecar:
            if mode in ("off", "prefer"):
                assert both_legs(connect(sidecar.at("clear"))) == (None, None)
            else:
                assert "could not connect to upstream server" in refusal(sidecar.at("clear"))
                assert "does not offer TLS" in sidecar.log()


def test_a_unix_socket_to_the_server_is_never_encrypted(cluster, certificates):
    upstream = upstream_section("verify-full", certificates)
    with TlsSidecar(cluster.endpoint(unix=True), {"clear": None}, upstream, **RELAY) as sidecar:
        assert both_legs(connect(sidecar.at("clear"))) == (None, None)


@pytest.mark.parametrize("shown", ["misnamed", "stranger"])
def test_a_server_with_the_wrong_certificate_gets_nothing(cluster, certificates, shown):
    cluster.show_certificate(shown)
    try:
        for mode in UPSTREAM_MODES[1:]:
            upstream = upstream_section(mode, certificates)
            with TlsSidecar(cluster.endpoint(), {"clear": None}, upstream, **RELAY) as sidecar:
                taken = mode in ("prefer", "require") or (mode == "verify-ca" and shown == "misnamed")
                if taken:
                    assert both_legs(connect(sidecar.at("clear")))[1] == "TLSv1.3"
                else:
                    words = refusal(sidecar.at("clear"))
                    assert "could not connect to upstream server" in words and "certificate" not in words
                    assert "certificate verify failed" in sidecar.log()
    finally:
        cluster.show_certificate("server")


class NameReader:
    """A server that shakes hands once and remembers which name it was asked for."""

    def __init__(self, certificates):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificates.file("server.crt"), certificates.file("server.key"))
        self.context.sni_callback = self._take
        self.names = []
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _take(self, _socket, name, _context):
        self.names.append(name)

    def _serve(self):
        while True:
            client, _ = self.listening.accept()
            request = client.recv(8, socket.MSG_WAITALL)
            if request != SSL_REQUEST:
                client.close()  # the probe whether anybody is there
                continue
            client.sendall(b"S")
            with self.context.wrap_socket(client, server_side=True):
                return


@pytest.mark.parametrize("host, name", [("localhost", "localhost"), ("127.0.0.1", None)])
def test_the_server_is_told_the_name_it_was_found_by(cluster, certificates, host, name):
    reader = NameReader(certificates)
    upstream = {"host": host, "port": reader.port, "tls": {"mode": "require"}}
    with TlsSidecar(cluster.endpoint(), {"clear": None}, None, False, upstream=upstream, **RELAY) as sidecar:
        refusal(sidecar.at("clear"))
        reader.thread.join(20)
    assert reader.names == [name]


def check(folder, certificates, listener, upstream):
    """What --check-config says about the two sections."""
    file = folder / "ledgergate.yaml"
    lines = [
        "listen:",
        f"  - address: 127.0.0.1:{free_port()}",
        f"    tls: {listener}",
        "upstream:",
        "  host: localhost",
        f"  tls: {upstream}",
        "gate: { mode: off }",
    ]
    text = "\n".join(lines).replace("CERTS", str(certificates.folder))
    file.write_text(text + "\n")
    command = [str(binary()), "--config", str(file), "--check-config"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.returncode, result.stderr.replace(str(folder) + "/", "")


def own(name):
    return f"{{ mode: allow, cert: CERTS/{name}.crt, key: CERTS/{name}.key }}"


@pytest.mark.parametrize(
    "listener, upstream, problem",
    [
        (own("server"), "{ mode: verify-full, ca: CERTS/ca.crt }", None),
        (own("stranger"), "{ mode: off }", None),
        ("{ mode: off }", "{ mode: verify-full, ca: CERTS/ca.crt }", None),
        (own("stranger"), "{ mode: verify-ca, ca: CERTS/ca.crt }", "cannot be the server's own certificate"),
        (own("stranger"), "{ mode: prefer, ca: CERTS/ca.crt }", "cannot be the server's own certificate"),
        (own("misnamed"), "{ mode: verify-full, ca: CERTS/ca.crt }", "names none of the hosts"),
        (
            own("stranger")[:-1] + ", channel_binding: disabled }",
            "{ mode: verify-ca, ca: CERTS/ca.crt }",
            None,
        ),
        (own("expired"), "{ mode: off }", "has expired"),
        (
            "{ mode: require, cert: CERTS/server.crt, key: CERTS/app.key }",
            "{ mode: off }",
            "is not the key of",
        ),
    ],
)
def test_layouts_that_cannot_work_are_refused_with_their_place(
    tmp_path, certificates, listener, upstream, problem
):
    code, words = check(tmp_path, certificates, listener, upstream)
    if problem is None:
        assert (code, words) == (0, "")
    else:
        assert code == 78
        assert words.startswith("ledgergate.yaml:3:") and problem in words
