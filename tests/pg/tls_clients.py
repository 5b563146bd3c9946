"""What the tests of TLS share: a sidecar with several listeners, clients that do what drivers hide."""

import socket
import ssl

import psycopg2

from support.endpoint import SSL_REQUEST, Endpoint, trusting_context
from support.processes import free_port
from support.sidecar import Sidecar
from support.wire import ConnectionClosed, WireClient

CLIENT_MODES = ["off", "allow", "require"]


class TlsSidecar(Sidecar):
    """One listener for each of `listeners`, {name: tls section}, towards the server with `upstream_tls`."""

    def __init__(self, server, listeners, upstream_tls=None, await_ready=True, **changes):
        self.ports = {name: free_port() for name in listeners}
        listen = []
        for name, section in listeners.items():
            address = f"127.0.0.1:{self.ports[name]}"
            listen.append({"address": address, **({"tls": section} if section else {})})
        if upstream_tls:
            changes["upstream"] = {"tls": upstream_tls, **changes.get("upstream", {})}
        super().__init__(server, {"listen": listen, **changes}, await_ready)

    def at(self, name, user="app", dbname="horde", password="", tls=False):
        return Endpoint("127.0.0.1", self.ports[name], user, dbname, password, tls)


def connect(endpoint, **extra):
    connection = psycopg2.connect(endpoint.dsn(**extra))
    connection.autocommit = True
    return connection


def both_legs(connection):
    """(client's version or None, server's version or None) of one session."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
        server = cursor.fetchone()[0]
    return connection.info.ssl_attribute("protocol"), server


def direct_tls(endpoint, protocols=("postgresql",), context=None):
    """TLS from the first byte, as libpq does with sslnegotiation=direct."""
    context = context or trusting_context()
    if protocols:
        context.set_alpn_protocols(list(protocols))
    plain = endpoint.replace(tls=False).socket()
    return context.wrap_socket(plain, server_hostname="localhost")


class OverSocket(WireClient):
    """A WireClient on a socket that is there already."""

    def __init__(self, endpoint, over, **parameters):
        super().__init__(_Ready(endpoint, over), **parameters)


class _Ready:
    def __init__(self, endpoint, over):
        self.user, self.dbname, self.over = endpoint.user, endpoint.dbname, over

    def socket(self, timeout):
        self.over.settimeout(timeout)
        return self.over


def ask_for_tls(endpoint, timeout=20.0):
    """The plain socket and the one byte that answers SSLRequest."""
    plain = endpoint.replace(tls=False).socket(timeout)
    plain.sendall(SSL_REQUEST)
    return plain, plain.recv(1)


def is_closed(plain):
    """Whether the other side ends the connection, whatever it says before that."""
    try:
        while plain.recv(65536):
            pass
    except (ConnectionResetError, ssl.SSLError, BrokenPipeError):
        pass
    except socket.timeout:
        return False
    return True


__all__ = [
    "CLIENT_MODES",
    "ConnectionClosed",
    "OverSocket",
    "TlsSidecar",
    "ask_for_tls",
    "both_legs",
    "connect",
    "direct_tls",
    "is_closed",
]
