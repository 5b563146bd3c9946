"""Two hosts on this machine: network namespaces of the test's own, joined by a cable that nothing else is on.

`near` is where the sidecar runs, `far` where its clients are. Both end with the processes that hold them.
"""

import concurrent.futures
import ctypes
import dataclasses
import os
import subprocess

from support.endpoint import Endpoint
from support.processes import end, spawn
from support.waiting import wait_until

CLONE_NEWNET = 0x40000000
# Addresses for documentation (RFC 5737): no real network has them.
NEAR_ADDRESS, FAR_ADDRESS = "192.0.2.1", "192.0.2.2"


class Hosts:
    def __enter__(self):
        self.processes = []
        self.near, self.far = self._namespace(), self._namespace()
        self._in(self.near, f"ip link add name cable type veth peer name cable netns {self.far}")
        for pid, address in ((self.near, NEAR_ADDRESS), (self.far, FAR_ADDRESS)):
            for command in (f"addr add {address}/24 dev cable", "link set cable up", "link set lo up"):
                self._in(pid, f"ip {command}")
        self.thread = concurrent.futures.ThreadPoolExecutor(1, initializer=self._move_thread)
        return self

    def __exit__(self, *_):
        self.thread.shutdown()
        for process in self.processes:
            end(process)

    def on_near(self, command):
        """The command line that runs `command` on the near host."""
        return ["nsenter", "--target", str(self.near), "--net", *command]

    def from_far(self, call, *arguments, **options):
        """Runs `call` in a thread that is on the far host: a socket stays where it was made."""
        return self.thread.submit(call, *arguments, **options).result()

    def _namespace(self):
        process = spawn(["unshare", "--net", "cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.processes.append(process)
        ours = os.readlink("/proc/self/ns/net")
        wait_until(lambda: os.readlink(f"/proc/{process.pid}/ns/net") != ours, "a network namespace")
        return process.pid

    def _in(self, pid, command):
        subprocess.run(["nsenter", "--target", str(pid), "--net", *command.split()], check=True)

    def _move_thread(self):
        libc = ctypes.CDLL(None, use_errno=True)
        namespace = os.open(f"/proc/{self.far}/ns/net", os.O_RDONLY)
        try:
            if libc.setns(namespace, CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
        finally:
            os.close(namespace)


@dataclasses.dataclass(frozen=True)
class FarEndpoint(Endpoint):
    """An endpoint whose clients sit on the far host."""

    hosts: Hosts = None

    def socket(self, timeout=30.0):
        return self.hosts.from_far(super().socket, timeout)
