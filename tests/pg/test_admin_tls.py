"""The operators' port over TLS, with and without certificates of the clients, and gatectl on it."""

import pathlib
import shutil
import socket
import ssl
import subprocess

import pytest
from support.certificates import Certificates
from support.gatectl import DONE, REFUSED
from support.sidecar import Sidecar, binary


@pytest.fixture(scope="module")
def certificates():
    with Certificates() as made:
        yield made


class TlsSidecar(Sidecar):
    """Its readiness is asked for as everything else here: over TLS."""

    def __init__(self, server, certificates, **section):
        self.issued = certificates
        tls = {"mode": "require", **certificates.pair("server"), **section}
        super().__init__(server, {"admin": {"tls": tls}})

    def _has_started(self):
        return self.process.poll() is not None or self.gatectl("status")[0] == DONE

    def gatectl(self, *arguments, ca="ca", client="app", scheme="https"):
        options = ["--admin", f"{scheme}://localhost:{self.admin_port}"]
        options += ["--token-file", str(self.folder / "admin-token")]
        options += ["--ca", str(self.issued.file(f"{ca}.crt"))]
        if client:
            options += ["--cert", str(self.issued.file(f"{client}.crt"))]
            options += ["--key", str(self.issued.file(f"{client}.key"))]
        program = str(pathlib.Path(binary()).with_name("gatectl"))
        done = subprocess.run([program, *options, *arguments], capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr


def test_gatectl_changes_the_mode_over_tls(cluster, certificates):
    with TlsSidecar(cluster.endpoint(), certificates) as sidecar:
        code, said, error = sidecar.gatectl("flip", "ledger", "--yes", client=None)
        assert code == DONE, error
        assert "the mode is ledger" in said
        code, _, error = sidecar.gatectl("status", ca="other_ca")
        assert code == REFUSED and "--ca" in error
        assert sidecar.gatectl("status", scheme="http")[0] == REFUSED


def test_a_client_without_a_good_certificate_is_not_let_in(cluster, certificates):
    ca = str(certificates.file("ca.crt"))
    with TlsSidecar(cluster.endpoint(), certificates, client_ca=ca) as sidecar:
        assert sidecar.gatectl("status")[0] == DONE
        assert sidecar.gatectl("status", client=None)[0] == REFUSED
        assert sidecar.gatectl("status", client="stranger")[0] == REFUSED


def test_requests_on_one_connection_and_one_that_says_nothing(cluster, certificates):
    with TlsSidecar(cluster.endpoint(), certificates) as sidecar:
        silent = socket.create_connection(("127.0.0.1", sidecar.admin_port), timeout=30)
        context = ssl.create_default_context(cafile=str(certificates.file("ca.crt")))
        raw = socket.create_connection(("127.0.0.1", sidecar.admin_port), timeout=30)
        with context.wrap_socket(raw, server_hostname="localhost") as connection:
            for _ in range(2):
                connection.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert connection.recv(65536).startswith(b"HTTP/1.1 200")
            connection.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            rest = b""
            while more := connection.recv(65536):
                rest += more
            assert rest.startswith(b"HTTP/1.1 200"), "it ends with TLS's own goodbye"
        silent.close()


def test_a_reload_reads_the_certificates_again(cluster, certificates, tmp_path):
    def put(name):
        for ending in ("crt", "key"):
            shutil.copy2(certificates.file(f"{name}.{ending}"), tmp_path / f"admin.{ending}")

    put("server")
    paths = {"cert": str(tmp_path / "admin.crt"), "key": str(tmp_path / "admin.key")}
    with TlsSidecar(cluster.endpoint(), certificates, **paths) as sidecar:
        address = ("127.0.0.1", sidecar.admin_port)
        before = ssl.get_server_certificate(address)
        put("renewed")
        assert ssl.get_server_certificate(address) == before, "only a reload reads the files"
        assert sidecar.gatectl("reload")[0] == DONE
        assert ssl.get_server_certificate(address) != before
