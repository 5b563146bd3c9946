"""A network between sidecar and server that can be cut (every connection is reset, none is taken) and mended."""

import contextlib
import socket
import struct
import threading

RESET = struct.pack("ii", 1, 0)


class CuttingRelay:
    def __init__(self, host, port):
        self.server = (host, port)
        self.lock = threading.Lock()
        self.links = []
        self.open = True

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.cut()
        self.listener.close()

    def cut(self):
        with self.lock:
            self.open = False
            links, self.links = self.links, []
        for each in links:
            # One that its peer has left already cannot be reset any more.
            with contextlib.suppress(OSError):
                each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                each.shutdown(socket.SHUT_RD)
            each.close()

    def mend(self):
        self.open = True

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                try:
                    server = socket.create_connection(self.server) if self.open else None
                except OSError:
                    server = None
                if server is None:
                    client.close()
                    continue
                self.links += [client, server]
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=self._carry, args=(source, target), daemon=True).start()

    @staticmethod
    def _carry(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            # One side is gone: so is the other.
            for each in (source, target):
                each.close()
