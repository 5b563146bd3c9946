"""One connection of a crowd: plays a random session without ever waiting long, and may come to a bad end."""

import asyncio
import dataclasses
import random
import socket
import struct

import generator
from player import FAREWELL
from support import wire

PATIENCE = 20.0
QUIET = 0.02
FATES = ("whole",) * 12 + ("cancel", "cancel", "reset", "fin", "half", "killed", "partial")
LOST = ("reset", "fin", "partial")


class Failed(Exception):
    """The session did not come to the end that it should have come to."""


class Member:
    """`harness` says where to connect, `seed` is the whole session, its fate included."""

    def __init__(self, harness, seed):
        self.harness = harness
        self.chance = random.Random(seed)
        self.session = with_own_names(generator.session(seed, flips=True), seed)
        self.fate = self.chance.choice(FATES)
        self.fatal_write = self.chance.randrange(len(self.session.writes))
        self.name = f"crowd {seed}"
        self.buffer = b""
        self.ready = 0
        self.transactions = 0
        self.is_over = False
        self.was_fatal = False  # has the server said that it closes the connection?
        self.last = ()

    async def live(self):
        endpoint = self.harness.proxied.replace(user=self.session.user)
        self.reader, self.writer = await asyncio.open_connection(endpoint.host, endpoint.port)
        try:
            self._send(wire.startup(user=endpoint.user, database=endpoint.dbname, application_name=self.name))
            await self._until(lambda: self.ready)
            await self._play()
        except TimeoutError:
            raise Failed(f"{self.fate}: {self.ready} answers, then silence behind {self.last}") from None
        except OSError as error:
            if not self.was_fatal:
                raise Failed(f"{self.fate}: the connection broke behind {self.last}: {error!r}") from error
        finally:
            self.writer.close()

    async def _play(self):
        owed = 1
        for index, write in enumerate(self.session.writes):
            data = b"".join(step.data(self.harness.functions) for step in write)
            owed += sum(step.makes_ready for step in write)
            if index == self.fatal_write and self.fate in LOST:
                return self._get_lost(data)
            self._send(data)
            if index == self.fatal_write and self.fate == "cancel":
                await self._cancel()
            elif index == self.fatal_write and self.fate == "killed":
                self.harness.watch.execute("SELECT pg_terminate_backend(%s)", (self.pid,))
            elif index == self.fatal_write and self.fate == "half":
                break
            await self._settle(owed)
        self._send(FAREWELL)
        if self.fate == "half":
            self.writer.write_eof()
        await self._until(lambda: self.is_over)
        return None

    def _send(self, data):
        pieces = self.session.pieces or max(len(data), 1)
        for offset in range(0, len(data), pieces):
            self.writer.write(data[offset : offset + pieces])

    def _get_lost(self, data):
        if self.fate == "partial":
            data = data[: self.chance.randrange(len(data) + 1)]
        self._send(data)
        if self.fate != "fin":
            plain = self.writer.get_extra_info("socket")
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    async def _cancel(self):
        endpoint = self.harness.proxied
        reader, writer = await asyncio.open_connection(endpoint.host, endpoint.port)
        writer.write(wire.cancel_request(self.pid, self.secret))
        await asyncio.wait_for(reader.read(), PATIENCE)
        writer.close()

    async def _settle(self, owed):
        """Until everything is answered, or nothing has come for a while."""
        while self.ready < owed:
            try:
                await self._read(QUIET)
            except TimeoutError:
                return

    async def _until(self, condition):
        while not condition():
            await self._read(PATIENCE)

    async def _read(self, patience):
        data = await asyncio.wait_for(self.reader.read(65536), patience)
        if not data:
            raise ConnectionResetError("end of file")
        self.buffer += data
        offset = 0
        while len(self.buffer) - offset >= 5:
            end = offset + struct.unpack_from("!i", self.buffer, offset + 1)[0] + 1
            if end > len(self.buffer):
                break
            self._take(wire.Message(chr(self.buffer[offset]), self.buffer[offset + 5 : end]))
            offset = end
        self.buffer = self.buffer[offset:]

    def _take(self, message):
        self.last = (*self.last[-3:], message)
        if message.kind == "Z":
            self.ready += 1
            self.transactions += message.body == b"I"
        elif message.kind == "K":
            self.pid, self.secret = struct.unpack("!i", message.body[:4])[0], message.body[4:]
        elif message.kind == "E":
            self.was_fatal = message.fields()["V"] == "FATAL"
        elif message.kind == "D" and b"the end" in message.body:
            self.is_over = True


def with_own_names(session, seed):
    """The session with a name of its own for what it prepares, since those are of the whole database."""

    def renamed(step):
        return dataclasses.replace(
            step, arguments=tuple(a.replace("'g1'", f"'g{seed}'") for a in step.arguments)
        )

    return session.with_writes([renamed(step) for step in write] for write in session.writes)
