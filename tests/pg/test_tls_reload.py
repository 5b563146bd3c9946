"""Certificates are read again on a running sidecar; sessions go on with what they began with."""

import os
import signal
import ssl

import pytest

from support import wire
from support.horde import prepared_cluster
from support.waiting import wait_until
from tls_clients import TlsSidecar, ask_for_tls, connect

RELAY = {"gate": {"mode": "off"}}


@pytest.fixture(scope="session")
def cluster(certificates):
    with prepared_cluster(certificates=certificates) as started:
        yield started


@pytest.fixture
def own(cluster, certificates, tmp_path):
    """Its certificate lies in files that the test may replace."""
    pair = {"cert": str(tmp_path / "tls.crt"), "key": str(tmp_path / "tls.key")}
    ca = tmp_path / "ca.crt"
    put(certificates, tmp_path, "server", "ca")
    listeners = {"tls": {"mode": "require", **pair, "channel_binding": "disabled"}, "clear": None}
    with TlsSidecar(cluster.endpoint(), listeners, {"mode": "verify-ca", "ca": str(ca)}, **RELAY) as started:
        yield started


def put(certificates, folder, name, authority):
    """New files take the names, as a renewed secret is put in place."""
    files = {"tls.crt": f"{name}.crt", "tls.key": f"{name}.key", "ca.crt": f"{authority}.crt"}
    for target, source in files.items():
        new = folder / f"{target}.new"
        new.write_bytes(certificates.file(source).read_bytes())
        new.chmod(0o600)
        os.replace(new, folder / target)


def shown(own):
    """The certificate that a client sees now."""
    plain, answer = ask_for_tls(own.at("tls"))
    assert answer == b"S"
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with context.wrap_socket(plain) as tls:
        return tls.getpeercert(binary_form=True)


def certificate(certificates, name):
    return ssl.PEM_cert_to_DER_cert(certificates.file(f"{name}.crt").read_text())


def hang_up(own):
    own.process.send_signal(signal.SIGHUP)


def post(own):
    assert own.request("POST", "/v1/reload", {})[0] == 202


@pytest.mark.parametrize("ask", [hang_up, post])
def test_a_renewed_certificate_is_shown_to_those_that_come(own, certificates, tmp_path, ask):
    assert shown(own) == certificate(certificates, "server")
    with wire.WireClient(own.at("tls", tls=True)) as client:
        client.simple("BEGIN")
        put(certificates, tmp_path, "renewed", "ca")
        ask(own)
        wait_until(lambda: shown(own) == certificate(certificates, "renewed"), "the new certificate")
        assert client.rows("SELECT 1") == [["1"]], "who is there goes on, in its transaction"
        assert wire.kinds(client.simple("COMMIT"))[-1] == "Z:I"


def test_a_broken_certificate_changes_nothing_and_is_named(own, certificates, tmp_path):
    (tmp_path / "tls.crt").write_text("half a certif")
    status, answer = own.request("POST", "/v1/reload", {})
    assert status == 422 and "tls.crt holds no certificate" in str(answer)
    assert shown(own) == certificate(certificates, "server")


def test_another_authority_of_the_server_counts_from_now_on(own, cluster, certificates, tmp_path):
    with wire.WireClient(own.at("clear")) as client:
        put(certificates, tmp_path, "server", "other_ca")
        post(own)
        with pytest.raises(Exception, match="could not connect to upstream server"):
            connect(own.at("clear"))
        assert client.rows("SELECT 1") == [["1"]]
        cluster.show_certificate("stranger")
        try:
            connect(own.at("clear")).close()
        finally:
            cluster.show_certificate("server")
