"""The sockets of a running sidecar on both sides: no Nagle delay, keepalives that find a lost peer."""

import ctypes
import os
import socket

from support import wire

# Linux system calls by number, the same on every architecture; Python 3.11 has no pidfd_getfd.
PIDFD_GETFD = 438


def sockets_of(pid):
    """Every socket of a process, duplicated into this one: the options are the kernel's, whoever asks."""
    libc = ctypes.CDLL(None, use_errno=True)
    pidfd = os.pidfd_open(pid)
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            try:
                target = os.readlink(f"/proc/{pid}/fd/{name}")
            except FileNotFoundError:
                continue
            if not target.startswith("socket:"):
                continue
            duplicate = libc.syscall(PIDFD_GETFD, pidfd, int(name), 0)
            assert duplicate >= 0, os.strerror(ctypes.get_errno())
            yield socket.socket(fileno=duplicate)
    finally:
        os.close(pidfd)


def connected(pid, own_port=None, peer_port=None):
    """The process's connected TCP sockets with the given port at its own or the peer's end."""
    found = []
    for each in sockets_of(pid):
        try:
            if each.family == socket.AF_INET and (
                each.getsockname()[1] == own_port or each.getpeername()[1] == peer_port
            ):
                each.getpeername()
                found.append(each)
                continue
        except OSError:
            pass  # it listens
        each.close()
    return found


OPTIONS = {
    "TCP_NODELAY": (socket.IPPROTO_TCP, socket.TCP_NODELAY, lambda value: value == 1),
    "SO_KEEPALIVE": (socket.SOL_SOCKET, socket.SO_KEEPALIVE, lambda value: value == 1),
    # Found gone within two minutes: idle time, then so many probes in such an interval.
    "TCP_KEEPIDLE": (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, lambda value: value <= 60),
    "TCP_KEEPINTVL": (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, lambda value: value <= 10),
    "TCP_KEEPCNT": (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, lambda value: value <= 5),
}


def check(sockets, count):
    try:
        assert len(sockets) == count
        for each in sockets:
            wrong = {
                name: each.getsockopt(level, option)
                for name, (level, option, is_right) in OPTIONS.items()
                if not is_right(each.getsockopt(level, option))
            }
            assert wrong == {}, f"{each.getsockname()} to {each.getpeername()}"
    finally:
        for each in sockets:
            each.close()


def test_both_sides_have_no_delay_and_keepalives(sidecar, proxied, cluster):
    pid = sidecar.process.pid
    with wire.WireClient(proxied) as one, wire.WireClient(proxied) as other:
        assert one.rows("SELECT 1") == other.rows("SELECT 1")
        check(connected(pid, own_port=sidecar.listen_port), 2)
        ours = {
            row[0]
            for row in cluster.execute(
                f"SELECT client_port FROM pg_stat_activity WHERE pid IN ({one.pid}, {other.pid})"
            )
        }
        to_server = connected(pid, peer_port=cluster.port)
        clients = [each for each in to_server if each.getsockname()[1] in ours]
        assert len(clients) == 2
        control = [each for each in to_server if each.getsockname()[1] not in ours]
        assert control, "the control connections are TCP here too"
        check(to_server, len(to_server))


def test_the_options_stand_before_log_in(sidecar, proxied):
    """A client that never says who it is is found gone all the same."""
    with wire.WireClient(proxied, start=False) as silent:
        silent.send(wire.SSL_REQUEST)
        assert silent.read_byte() == b"N"
        own = connected(sidecar.process.pid, own_port=sidecar.listen_port)
        check(own, 1)
