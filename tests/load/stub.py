"""A server in one process that holds many thousand sessions: it greets anybody and answers every statement
with one row.

Started as a program it prints its port. The row says `read committed`, which is what a sidecar asks for
once per session.
"""

import asyncio
import resource
import struct
import sys

from support import wire

ROW = wire.message("D", struct.pack("!hi", 1, 14) + b"read committed")
COLUMN = wire.message("T", struct.pack("!h", 1) + b"c\0" + struct.pack("!ihihih", 0, 0, 25, -1, -1, 0))
DONE = wire.message("C", b"SELECT 1\0")
READY = wire.message("Z", b"I")
ANSWERS = {
    ord("Q"): COLUMN + ROW + DONE + READY,
    ord("P"): wire.message("1"),
    ord("B"): wire.message("2"),
    ord("D"): COLUMN,
    ord("E"): ROW + DONE,
    ord("C"): wire.message("3"),
    ord("S"): READY,
    ord("F"): wire.message("V", struct.pack("!i", 0)) + READY,
}
PARAMETERS = {
    "server_version": "15.0",
    "server_encoding": "UTF8",
    "client_encoding": "UTF8",
    "standard_conforming_strings": "on",
    "in_hot_standby": "off",
    "default_transaction_read_only": "off",
    "is_superuser": "off",
    "session_authorization": "app",
}


def greeting(number):
    parameters = b"".join(
        wire.message("S", wire.text(name) + wire.text(value)) for name, value in PARAMETERS.items()
    )
    return (
        wire.message("R", bytes(4))
        + parameters
        + wire.message("K", struct.pack("!ii", number, number))
        + READY
    )


class Session(asyncio.Protocol):
    count = 0

    def connection_made(self, transport):
        self.transport = transport
        self.buffer = b""
        self.started = False

    def data_received(self, data):
        self.buffer += data
        answer = []
        while len(self.buffer) >= 5:
            header = 0 if not self.started else 1
            length = header + struct.unpack_from("!i", self.buffer, header)[0]
            if len(self.buffer) < length:
                break
            kind, self.buffer = self.buffer[0], self.buffer[length:]
            if not self.started:
                self.started = True
                Session.count += 1
                answer.append(greeting(Session.count))
            elif kind == ord("X"):
                self.transport.close()
            else:
                answer.append(ANSWERS.get(kind, b""))
        self.transport.write(b"".join(answer))


async def serve():
    server = await asyncio.get_running_loop().create_server(Session, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    sys.exit(asyncio.run(serve()))
