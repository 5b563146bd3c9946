"""Plays a session on an endpoint, and knows when everything that can be answered has been answered.

Directly that is exact: over a unix socket the kernel says whether the server has read everything (SIOCOUTQ),
and a backend that then sleeps has nothing more to say. Through the sidecar it is known from the direct run how
many messages to expect; without a direct run, from the ReadyForQuery that each message usually makes, and else
the session's backend must sleep and nothing arrive for a while.
"""

import array
import collections
import dataclasses
import fcntl
import select
import struct
import termios
import time

from support import wire
from support.waiting import DeadlineExceeded

QUIET = 0.008  # seconds without a byte, with a sleeping backend, that count as "nothing more comes"
DEADLINE = 20.0
REFUSAL = b"ledgergate cannot "  # documented: never run unpinned
ENDED = wire.Message("!", b"the connection was closed")

# Whatever state a session has ended in, after these messages it is idle and has said so.
FAREWELL = (
    wire.copy_fail("over")
    + wire.sync()
    + wire.query("ROLLBACK")
    + wire.sync()
    + wire.query("SELECT 'the end'")
)


@dataclasses.dataclass
class Answer:
    """What came back until the session had nothing more to say."""

    messages: list
    reached: list  # for each write, how many messages had come before the next one was sent
    pid: int
    closed: bool = False
    stopped: str = None  # why the session was not played to its end: "difference", "silence" or "refused"
    compared: int = 0  # how many messages were equal


class Player:
    """One connection. `functions` are OIDs by name; `expected` is the answer of the direct run, and playing stops
    where this one differs from it or is refused; `on_settled(player, index)` is called behind every write, and
    `transition` is who takes the gate when the session's text says so."""

    def __init__(
        self,
        endpoint,
        session,
        functions,
        expected=None,
        on_settled=None,
        transition=None,
        application="random",
        patience=DEADLINE,
    ):
        self.client = wire.WireClient(
            endpoint.replace(user=session.user), application_name=application, timeout=DEADLINE
        )
        self.endpoint = endpoint
        self.session = session
        self.functions = functions
        self.expected = expected
        self.still_expected = _by_stream(expected.messages) if expected else None
        self.compared = 0
        self.stopped = None
        self.on_settled = on_settled
        self.transition = transition
        self.messages = []
        self.ready = 0
        self.owed = 0
        self.is_behind = False  # there may be answers still to come
        self.closed = False
        self.patience = patience

    @property
    def pid(self):
        return self.client.pid

    def play(self):
        reached = []
        try:
            for index, write in enumerate(self.session.writes):
                self._write(write)
                if self.closed:
                    break
                self._settle(index)
                reached.append(len(self.messages))
                if self.stopped:
                    break
                if self.on_settled:
                    self.on_settled(self, index)
            if not self.stopped:
                self._farewell()
        finally:
            self.client.close()
            if self.transition:
                self.transition.finish()
        return Answer(self.messages, reached, self.pid, self.closed, self.stopped, self.compared)

    def status_now(self):
        """I, T or E when the session's last message has been answered to its end, else None."""
        last = self.messages[-1] if self.messages else None
        if self.is_behind or not self.last_step.makes_ready or last is None or last.kind != "Z":
            return None
        return last.body.decode()

    def _write(self, write):
        data = b""
        self.last_step = write[-1]
        for step in write:
            if step.is_message:
                data += step.data(self.functions)
                self.owed += step.makes_ready
            elif step.verb == "cancel":
                self._send(data)
                data = b""
                self._cancel()
            else:
                self._send(data)
                data = b""
                self.transition.move(step.verb)
        self._send(data)

    def _send(self, data):
        pieces = self.session.pieces or max(len(data), 1)
        try:
            for offset in range(0, len(data), pieces):
                self.client.socket.sendall(data[offset : offset + pieces])
        except OSError:
            self.closed = True

    def _cancel(self):
        with self.endpoint.socket(DEADLINE) as other:
            other.sendall(wire.cancel_request(self.client.pid, self.client.secret))
            other.recv(1)

    def _settle(self, index):
        if self.endpoint.is_unix:
            self._settle_directly()
        elif self.expected is not None:
            self._await_messages(self.expected.reached[index])
        else:
            self._settle_by_silence()

    def _settle_directly(self):
        sleeping = 0
        end = time.monotonic() + DEADLINE
        while sleeping < 2 and not self.closed:
            if self._receive(0.0002 if sleeping else 0):
                sleeping = 0
            elif _unread_by_peer(self.client.socket) or not sleeps(self.pid):
                sleeping = 0
                self._receive(0.0001)
            else:
                sleeping += 1
            if time.monotonic() > end:
                raise DeadlineExceeded("the server itself does not come to rest")

    def _await_messages(self, count):
        end = time.monotonic() + self.patience
        while not self._has_diverged() and len(self.messages) < count and not self.closed:
            if not self._receive(0.2) and time.monotonic() > end:
                self.stopped = "silence"
                return

    def _has_diverged(self):
        while not self.stopped and self.compared < len(self.messages):
            self.stopped = self._compare(self.messages[self.compared])
            self.compared += not self.stopped
        return self.stopped

    def _compare(self, got):
        """None when `got` is what the direct run says; ParameterStatus may come at any time, in its own order."""
        stream = self.still_expected[got.kind == "S"]
        if not stream:
            return "difference"
        wanted = stream.popleft()
        if comparable(got) == comparable(wanted):
            return None
        if got.kind == wanted.kind == "E" and b"\0C25P02\0" in got.body:
            # A pin sent ahead in a transaction that then failed: 25P02 in place of the client's own error.
            return None
        stream.appendleft(wanted)
        return "refused" if got.kind == "E" and REFUSAL in got.body else "difference"

    def _settle_by_silence(self):
        end = time.monotonic() + self.patience
        self.is_behind = False
        while self.ready < self.owed and not self.closed:
            if not self._receive(QUIET) and sleeps(self.pid) and not self._receive(QUIET):
                self.is_behind = True
                return
            if time.monotonic() > end:
                self.stopped = "silence"
                return

    def _receive(self, patience):
        """Takes what there is to read; false when there was nothing for `patience` seconds."""
        if self.closed or not select.select([self.client.socket], [], [], patience)[0]:
            return False
        if not self.client._fill():
            self.closed = True
            self.messages.append(ENDED)
            return True
        buffer, offset = self.client.buffer, 0
        while len(buffer) - offset >= 5:
            length = struct.unpack_from("!i", buffer, offset + 1)[0] + 1
            if len(buffer) - offset < length:
                break
            found = wire.Message(chr(buffer[offset]), buffer[offset + 5 : offset + length])
            self.ready += found.kind == "Z"
            self.messages.append(found)
            offset += length
        self.client.buffer = buffer[offset:]
        return True

    def _farewell(self):
        """Ends what is open, and waits until the server has said so."""
        if self.closed:
            return
        self._send(FAREWELL)
        end = time.monotonic() + self.patience
        while not self._is_over() and not (self.expected and self._has_diverged()):
            if self.transition:
                self.transition.let_go()
            if not self._receive(0.01 if self.transition else 0.2) and time.monotonic() > end:
                self.stopped = "silence"
                return
        if self.expected and self._has_diverged():
            return
        self._send(wire.terminate())

    def _is_over(self):
        if self.closed:
            return True
        last = self.messages[-3:]
        return len(last) == 3 and last[0].kind == "D" and b"the end" in last[0].body and last[2].kind == "Z"


def _by_stream(messages):
    """What comes in turn, and the ParameterStatus messages, which are asynchronous."""
    streams = collections.deque(), collections.deque()
    for message in messages:
        streams[message.kind == "S"].append(message)
    return streams


def comparable(message):
    """The message without what may differ between two servers: the process that sent a notification."""
    return (message.kind, message.body[4:] if message.kind == "A" else message.body)


def _unread_by_peer(unix_socket):
    count = array.array("i", [0])
    fcntl.ioctl(unix_socket, termios.TIOCOUTQ, count)
    return count[0]


def sleeps(pid):
    """Does the process wait for something? One that is gone does."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rpartition(b") ")[2][:1] == b"S"
    except OSError:
        return True
