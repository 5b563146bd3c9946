"""The frontend side of the PostgreSQL protocol over a plain socket, one function per message.

Source: PostgreSQL manual, "Frontend/Backend Protocol", Message Formats. Every builder returns bytes, so that
a test says exactly which bytes leave in which write; nothing here knows what a server would accept.
"""

import dataclasses
import struct

PROTOCOL_3_0 = 0x00030000
SSL_REQUEST = struct.pack("!ii", 8, 80877103)
GSSENC_REQUEST = struct.pack("!ii", 8, 80877104)


def message(kind, body=b""):
    return kind.encode() + struct.pack("!i", len(body) + 4) + body


def text(value):
    return (value if isinstance(value, bytes) else value.encode()) + b"\0"


def startup(version=PROTOCOL_3_0, **parameters):
    """StartupMessage; parameters keep the order in which they are given. `options_` etc. are not special."""
    return startup_pairs(list(parameters.items()), version)


def startup_pairs(pairs, version=PROTOCOL_3_0):
    body = b"".join(text(name) + text(value) for name, value in pairs) + b"\0"
    return struct.pack("!ii", len(body) + 8, version) + body


def cancel_request(pid, secret):
    """CancelRequest; `secret` is bytes, since its length is the server's business."""
    return struct.pack("!iii", 12 + len(secret), 80877102, pid) + secret


def query(sql):
    return message("Q", text(sql))


def parse(sql, name="", types=()):
    return message(
        "P",
        text(name)
        + text(sql)
        + struct.pack("!h", len(types))
        + b"".join(struct.pack("!I", oid) for oid in types),
    )


def bind(portal="", statement="", values=(), formats=(), result_formats=()):
    body = text(portal) + text(statement)
    body += struct.pack("!h", len(formats)) + b"".join(struct.pack("!h", f) for f in formats)
    body += struct.pack("!H", len(values))
    for value in values:
        if value is None:
            body += struct.pack("!i", -1)
        else:
            data = value if isinstance(value, bytes) else str(value).encode()
            body += struct.pack("!i", len(data)) + data
    body += struct.pack("!h", len(result_formats))
    return message("B", body + b"".join(struct.pack("!h", f) for f in result_formats))


def describe_statement(name=""):
    return message("D", b"S" + text(name))


def describe_portal(name=""):
    return message("D", b"P" + text(name))


def execute(portal="", max_rows=0):
    return message("E", text(portal) + struct.pack("!i", max_rows))


def close_statement(name=""):
    return message("C", b"S" + text(name))


def close_portal(name=""):
    return message("C", b"P" + text(name))


def sync():
    return message("S")


def flush():
    return message("H")


def terminate():
    return message("X")


def copy_data(data):
    return message("d", data)


def copy_done():
    return message("c")


def copy_fail(reason):
    return message("f", text(reason))


def password(value):
    return message("p", text(value))


def function_call(oid, arguments=(), argument_formats=(1,), result_format=1):
    """FunctionCall; arguments are bytes (or None for NULL), in binary form by default."""
    body = struct.pack("!I", oid)
    body += struct.pack("!h", len(argument_formats))
    body += b"".join(struct.pack("!h", f) for f in argument_formats)
    body += struct.pack("!h", len(arguments))
    for argument in arguments:
        body += struct.pack("!i", -1) if argument is None else struct.pack("!i", len(argument)) + argument
    return message("F", body + struct.pack("!h", result_format))


def int4(value):
    return struct.pack("!i", value)


def int8(value):
    return struct.pack("!q", value)


def extended(sql, values=(), result_formats=()):
    """The usual batch of one statement: Parse, Bind, Describe(portal), Execute, Sync."""
    return (
        parse(sql)
        + bind(values=values, result_formats=result_formats)
        + describe_portal()
        + execute()
        + sync()
    )


@dataclasses.dataclass(frozen=True)
class Message:
    kind: str
    body: bytes

    @property
    def raw(self):
        return message(self.kind, self.body)

    def fields(self):
        """The fields of an ErrorResponse or NoticeResponse by their letter."""
        parts = self.body.split(b"\0")
        return {part[:1].decode(): part[1:].decode("utf-8", "replace") for part in parts if part}

    def __repr__(self):
        if self.kind in "EN":
            fields = self.fields()
            return f"{self.kind}({fields.get('C')} {fields.get('M')})"
        return f"{self.kind}({self.body!r})"


class ConnectionClosed(Exception):
    """The other side ended the connection; `messages` is what came before that."""

    def __init__(self, messages=()):
        super().__init__(f"closed after {list(messages)}")
        self.messages = list(messages)


class WireClient:
    """A connection whose bytes the test writes and reads itself. `parameters` go into the start-up packet."""

    def __init__(self, endpoint, start=True, timeout=20.0, version=PROTOCOL_3_0, **parameters):
        self.endpoint = endpoint
        self.socket = endpoint.socket(timeout)
        self.buffer = b""
        self.pid, self.secret = None, None
        self.startup_messages = []
        if start:
            fields = {"user": endpoint.user, "database": endpoint.dbname, **parameters}
            self.send(startup(version, **fields))
            self.startup_messages = self.read_until_ready()
            for answer in self.startup_messages:
                if answer.kind == "K":
                    self.pid, self.secret = struct.unpack("!i", answer.body[:4])[0], answer.body[4:]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, *parts):
        """All parts in one write."""
        self.socket.sendall(b"".join(parts))

    def close(self):
        self.socket.close()

    def _fill(self):
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            data = b""
        self.buffer += data
        return bool(data)

    def read_byte(self):
        """The one untyped byte that answers SSLRequest and GSSENCRequest."""
        if not self.buffer and not self._fill():
            raise ConnectionClosed()
        byte, self.buffer = self.buffer[:1], self.buffer[1:]
        return byte

    def read(self):
        """One backend message."""
        while True:
            if len(self.buffer) >= 5:
                length = struct.unpack("!i", self.buffer[1:5])[0]
                if len(self.buffer) >= length + 1:
                    found = Message(chr(self.buffer[0]), self.buffer[5 : length + 1])
                    self.buffer = self.buffer[length + 1 :]
                    return found
            if not self._fill():
                raise ConnectionClosed()

    def read_until(self, kinds, count=1):
        """Messages up to and with the `count`-th whose kind is one of `kinds`."""
        messages = []
        while count:
            try:
                messages.append(self.read())
            except ConnectionClosed:
                raise ConnectionClosed(messages) from None
            count -= messages[-1].kind in kinds
        return messages

    def read_until_ready(self, count=1):
        return self.read_until("Z", count)

    def read_to_end(self):
        """Everything up to the end of the connection, as messages."""
        messages = []
        while True:
            try:
                messages.append(self.read())
            except ConnectionClosed:
                return messages

    def ask(self, *parts, count=1):
        """Sends in one write and reads up to the `count`-th ReadyForQuery."""
        self.send(*parts)
        return self.read_until_ready(count)

    def simple(self, sql):
        return self.ask(query(sql))

    def rows(self, sql):
        """The rows of a simple query as lists of text (None for NULL); an error fails the test."""
        messages = self.simple(sql)
        errors = [m for m in messages if m.kind == "E"]
        assert not errors, f"{sql}: {errors}"
        return [data_row(m) for m in messages if m.kind == "D"]


def data_row(row):
    count, offset, values = struct.unpack("!h", row.body[:2])[0], 2, []
    for _ in range(count):
        length = struct.unpack("!i", row.body[offset : offset + 4])[0]
        offset += 4
        values.append(None if length < 0 else row.body[offset : offset + length].decode())
        offset += max(length, 0)
    return values


def kinds(messages):
    """The message types in order, ReadyForQuery with its state: `["1", "2", "C", "Z:I"]`."""
    return [f"Z:{m.body.decode()}" if m.kind == "Z" else m.kind for m in messages]


def error_of(messages):
    """The fields of the only ErrorResponse; fails when there is none, or more than one."""
    errors = [m for m in messages if m.kind == "E"]
    assert len(errors) == 1, f"expected exactly one error, got {messages}"
    return errors[0].fields()
