"""A relay without delay that stands between the sidecar and the server, and counts what passes.

`round_trips` is the number of times the flow turned from server-bound to client-bound: what a network with
latency would charge. It does not depend on how the kernel cuts or joins segments. `reads` counts the
segments that the tap received in each direction; two writes that follow each other at once may arrive as
one, so it is a lower bound of the writes.
"""

import socket
import struct
import threading

from support.endpoint import Endpoint
from support.waiting import wait_until

SERVER_BOUND, CLIENT_BOUND = "server-bound", "client-bound"


class Direction:
    def __init__(self):
        self.reads = 0
        self.data = bytearray()


class TappedConnection:
    def __init__(self, number):
        self.number = number
        self.lock = threading.Lock()
        self.directions = {SERVER_BOUND: Direction(), CLIENT_BOUND: Direction()}
        self.round_trips = 0
        self.last = None
        self.open = True

    def note(self, name, data):
        with self.lock:
            direction = self.directions[name]
            direction.reads += 1
            direction.data += data
            if name == CLIENT_BOUND and self.last == SERVER_BOUND:
                self.round_trips += 1
            self.last = name

    def snapshot(self):
        with self.lock:
            return Counts(
                self.round_trips,
                {name: d.reads for name, d in self.directions.items()},
                {name: len(d.data) for name, d in self.directions.items()},
            )

    def messages(self, name, since=0):
        """The typed messages of one direction from byte offset `since` on, as (kind, body)."""
        with self.lock:
            data = bytes(self.directions[name].data[since:])
        if name == SERVER_BOUND and since == 0:
            data = data[_start_up_length(data) :]
        return list(split(data))


class Counts:
    def __init__(self, round_trips, reads, size):
        self.round_trips, self.reads, self.bytes = round_trips, reads, size

    def __sub__(self, earlier):
        return Counts(
            self.round_trips - earlier.round_trips,
            {name: self.reads[name] - earlier.reads[name] for name in self.reads},
            {name: self.bytes[name] - earlier.bytes[name] for name in self.bytes},
        )

    def __repr__(self):
        return f"Counts(round_trips={self.round_trips}, reads={self.reads}, bytes={self.bytes})"


class WireTap:
    """`with WireTap(server_endpoint) as tap:` then connect to `tap.endpoint`.

    `before(direction, data)` is called with what is about to be passed on, and may hold it up by not returning.
    """

    def __init__(self, server, before=None):
        self.server = server
        self.before = before
        self.connections = []

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        port = self.listener.getsockname()[1]
        self.endpoint = Endpoint(
            "127.0.0.1", port, self.server.user, self.server.dbname, self.server.password
        )
        self.sockets = []
        self.threads = [threading.Thread(target=self._accept, daemon=True)]
        self.threads[0].start()
        return self

    def __exit__(self, *_):
        # shutdown, not only close: close alone does not wake a thread that waits in accept or recv.
        for plain in [self.listener, *self.sockets]:
            try:
                plain.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            plain.close()
        for thread in self.threads:
            thread.join(10)

    def of_backend(self, pid):
        """The connection whose BackendKeyData named `pid`."""

        def found():
            for connection in list(self.connections):
                for kind, body in connection.messages(CLIENT_BOUND):
                    if kind == "K" and struct.unpack("!i", body[:4])[0] == pid:
                        return connection
            return None

        return wait_until(found, f"the tap to see the start of backend {pid}")

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = self.server.socket(timeout=None)
            for plain in (client, server):
                plain.settimeout(None)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = TappedConnection(len(self.connections))
            self.connections.append(connection)
            self.sockets += [client, server]
            for name, source, target in ((SERVER_BOUND, client, server), (CLIENT_BOUND, server, client)):
                arguments = (connection, name, source, target, self.before)
                thread = threading.Thread(target=_pump, args=arguments, daemon=True)
                self.threads.append(thread)
                thread.start()


def _pump(connection, name, source, target, before):
    try:
        while data := source.recv(1 << 16):
            if before is not None:
                before(name, data)
            connection.note(name, data)
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for plain in (source, target):
            try:
                plain.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
    connection.open = False


def split(data):
    """Whole messages of a typed stream; an incomplete one at the end is left out."""
    offset = 0
    while offset + 5 <= len(data):
        length = struct.unpack("!i", data[offset + 1 : offset + 5])[0]
        if offset + 1 + length > len(data):
            return
        yield chr(data[offset]), data[offset + 5 : offset + 1 + length]
        offset += 1 + length


def _start_up_length(data):
    """How many bytes at the beginning of a server-bound stream are untyped start-up packets."""
    offset = 0
    while offset + 8 <= len(data):
        length, code = struct.unpack("!ii", data[offset : offset + 8])
        offset += length
        if code not in (80877103, 80877104):
            return offset
    return offset
