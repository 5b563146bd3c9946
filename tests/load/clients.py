"""Many clients in one process: log-ins in groups, then one statement on all of them at once."""

import contextlib
import resource
import select
import time

from support import wire

GROUP = 200
READY = b"Z\0\0\0\x05I"


@contextlib.contextmanager
def many(endpoint, count):
    """`count` sockets that are logged in. The limit on descriptors is raised for them."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    sockets = []
    packet = wire.startup(user=endpoint.user, database=endpoint.dbname)
    try:
        while len(sockets) < count:
            group = [endpoint.socket(60) for _ in range(min(GROUP, count - len(sockets)))]
            sockets += group
            for each in group:
                each.sendall(packet)
            await_ready(group)
        yield sockets
    finally:
        for each in sockets:
            each.close()


def ask_all(sockets, sql):
    """One statement on each, all in flight at once."""
    text = wire.query(sql)
    for each in sockets:
        each.sendall(text)
    await_ready(sockets)


def rounds(sockets, sql, count):
    """The milliseconds that each of `count` rounds took: from the first question to the last answer."""
    measured = []
    for _ in range(count):
        began = time.monotonic()
        ask_all(sockets, sql)
        measured.append((time.monotonic() - began) * 1000)
    return measured


def await_ready(sockets):
    """Reads each up to its ReadyForQuery."""
    poller = select.epoll()
    waiting = {}
    for each in sockets:
        waiting[each.fileno()] = (each, b"")
        poller.register(each.fileno(), select.EPOLLIN)
    try:
        while waiting:
            events = poller.poll(60)
            assert events, f"{len(waiting)} clients wait for an answer"
            for number, _ in events:
                plain, tail = waiting[number]
                data = plain.recv(65536)
                assert data, f"a client was closed: {tail!r}"
                tail = (tail + data)[-300:]
                if tail.endswith(READY):
                    poller.unregister(number)
                    del waiting[number]
                else:
                    waiting[number] = (plain, tail)
    finally:
        poller.close()
