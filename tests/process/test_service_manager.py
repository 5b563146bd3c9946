"""ledgergate under a service manager: what it says through $NOTIFY_SOCKET. The test stands in for systemd."""

import os
import pathlib
import re
import socket
import sys
import tempfile

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS)]

from support.endpoint import Endpoint  # noqa: E402
from support.sidecar import Sidecar  # noqa: E402
from support.waiting import wait_until  # noqa: E402


class Manager:
    """Receives the notifications; an abstract address has no file."""

    def __init__(self, address):
        self.address = address
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + address[1:] if address.startswith("@") else address)
        if not address.startswith("@"):
            os.chmod(address, 0o666)
        self.socket.setblocking(False)
        self.heard = []

    def listen(self):
        while True:
            try:
                self.heard.append(self.socket.recv(4096).decode().split("\n"))
            except BlockingIOError:
                return self.heard

    def await_line(self, line):
        wait_until(lambda: any(line in message for message in self.listen()), f"{line} of {self.heard}")


@pytest.fixture(params=["file", "abstract"])
def manager(request):
    with tempfile.TemporaryDirectory(prefix="lgnotify-") as folder:
        os.chmod(folder, 0o755)
        made = Manager(f"{folder}/notify" if request.param == "file" else f"@{folder}")
        yield made
        made.socket.close()


def sidecar_under(manager, monkeypatch, **variables):
    monkeypatch.setenv("NOTIFY_SOCKET", manager.address)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return Sidecar(Endpoint("127.0.0.1", 9), await_ready=False)


def test_says_ready_once_clients_can_connect_and_stopping_before_it_ends(manager, monkeypatch):
    with sidecar_under(manager, monkeypatch) as sidecar:
        manager.await_line("READY=1")
        socket.create_connection(("127.0.0.1", sidecar.listen_port)).close()
        assert ["READY=1", "STATUS=serving, gate.mode enforce"] in manager.heard
        assert sidecar.stop() == 0
        manager.await_line("STOPPING=1")
        patience = [line for message in manager.heard for line in message if line.startswith("EXTEND_")]
        assert patience == ["EXTEND_TIMEOUT_USEC=17000000"], "drain.timeout and what may come after it"
        assert not any("WATCHDOG=1" in message for message in manager.heard)


def test_feeds_the_watchdog_again_and_again_when_there_is_one(manager, monkeypatch):
    with sidecar_under(manager, monkeypatch, WATCHDOG_USEC="200000"):
        wait_until(
            lambda: sum("WATCHDOG=1" in message for message in manager.listen()) >= 3, "three meals of the watchdog"
        )


def test_does_not_feed_a_watchdog_of_another_process(manager, monkeypatch):
    with sidecar_under(manager, monkeypatch, WATCHDOG_USEC="1000", WATCHDOG_PID="1") as sidecar:
        manager.await_line("READY=1")
        assert sidecar.stop() == 0
        manager.await_line("STOPPING=1")
        assert not any("WATCHDOG=1" in message for message in manager.heard)


def test_says_nothing_when_a_port_cannot_be_opened(manager, monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setenv("NOTIFY_SOCKET", manager.address)
        changes = {"listen": [{"address": f"127.0.0.1:{taken.getsockname()[1]}"}]}
        with pytest.raises(RuntimeError, match=re.compile("ended with 1")):
            with Sidecar(Endpoint("127.0.0.1", 9), changes, await_ready=False):
                pass
        assert manager.listen() == []
