"""A stand-in for a server that says what the test wants, cut where the test wants, and ends how the test
wants."""

import contextlib
import socket
import struct
import threading

RESET = struct.pack("ii", 1, 0)


def reset(plain):
    """Ends a connection with RST instead of FIN."""
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    plain.close()


class StubServer:
    """Each connection is given to `serve(socket)` in a thread of its own, which the end of the block waits
    for."""

    def __init__(self, serve):
        self._serve = serve
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self._listening.getsockname()[1]
        self._threads = []

    def __enter__(self):
        self._accepting = threading.Thread(target=self._accept)
        self._accepting.start()
        return self

    def __exit__(self, *_):
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._accepting.join()
        for thread in self._threads:
            thread.join()

    def _accept(self):
        while True:
            try:
                accepted, _ = self._listening.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve_one, args=(accepted,))
            self._threads.append(thread)
            thread.start()

    def _serve_one(self, accepted):
        accepted.settimeout(30)
        with accepted, contextlib.suppress(ConnectionError):
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._serve(accepted)


def read_start_up(plain):
    """The start-up packet, whole."""
    head = read_exactly(plain, 4)
    return head + read_exactly(plain, struct.unpack("!i", head)[0] - 4)


def read_exactly(plain, count):
    data = b""
    while len(data) < count:
        more = plain.recv(count - len(data))
        if not more:
            raise ConnectionResetError("the peer ended")
        data += more
    return data


def relay(server, limit=None, how="FIN", piece=1 << 16):
    """What to serve so that a connection goes to `server` (an endpoint): in pieces of `piece` bytes both
    ways, and of
    what the server says only the first `limit` bytes, behind which both connections end."""

    def serve(plain):
        with server.socket() as upstream:
            forward = threading.Thread(target=_pass_on, args=(plain, upstream, None, piece))
            forward.start()
            _pass_on(upstream, plain, limit, piece)
            if limit is not None and how == "RST":
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            for each in (upstream, plain):
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RD if each is plain and how == "RST" else socket.SHUT_RDWR)
            forward.join()

    return serve


def _pass_on(source, target, limit, piece):
    left = limit
    with contextlib.suppress(OSError):
        while left is None or left > 0:
            data = source.recv(1 << 16)[:left]
            for offset in range(0, len(data), piece):
                target.sendall(data[offset : offset + piece])
            if not data:
                target.shutdown(socket.SHUT_WR)
                return
            if left is not None:
                left -= len(data)
