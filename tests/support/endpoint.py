"""Where a client connects: the server itself, or a sidecar in front of it."""

import dataclasses
import socket
import ssl
import struct

SSL_REQUEST = struct.pack("!ii", 8, 80877103)


@dataclasses.dataclass(frozen=True)
class Endpoint:
    host: str  # a loopback address, or the folder of a unix socket
    port: int
    user: str = "app"
    dbname: str = "horde"
    password: str = ""
    tls: bool = False  # every client must have TLS; the certificate is not looked at

    def replace(self, **changes):
        return dataclasses.replace(self, **changes)

    @property
    def is_unix(self):
        return self.host.startswith("/")

    def dsn(self, **extra):
        """A libpq connection string."""
        fields = {"host": self.host, "port": self.port, "user": self.user, "dbname": self.dbname}
        if self.password:
            fields["password"] = self.password
        if self.tls:
            fields["sslmode"] = "require"
        fields.update(extra)
        return " ".join(f"{key}='{_escaped(value)}'" for key, value in fields.items())

    def environment(self):
        """The same for programs that read libpq's environment variables."""
        values = {
            "PGHOST": self.host,
            "PGPORT": str(self.port),
            "PGUSER": self.user,
            "PGDATABASE": self.dbname,
        }
        if self.password:
            values["PGPASSWORD"] = self.password
        if self.tls:
            values["PGSSLMODE"] = "require"
        return values

    def socket(self, timeout=30.0):
        """A raw connected socket, for tests that speak the protocol themselves."""
        if self.is_unix:
            plain = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            plain.settimeout(timeout)
            plain.connect(f"{self.host}/.s.PGSQL.{self.port}")
        else:
            plain = socket.create_connection((self.host, self.port), timeout)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.tls:
            plain.sendall(SSL_REQUEST)
            answer = plain.recv(1)
            assert answer == b"S", f"the request for TLS was answered {answer!r}"
            return trusting_context().wrap_socket(plain)
        return plain


def trusting_context():
    """A client's that takes any certificate."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _escaped(value):
    return str(value).replace("\\", "\\\\").replace("'", "\\'")
