"""Starting and ending child processes so that none outlives the test run, however that run ends."""

import ctypes
import os
import pwd
import signal
import socket
import subprocess

PR_SET_PDEATHSIG = 1


def account(name):
    """The subprocess options that run a child as `name` when we are root, and as ourselves otherwise."""
    if os.getuid() != 0:
        return {}
    entry = pwd.getpwnam(name)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def spawn(command, death_signal=signal.SIGKILL, **options):
    """Starts `command`; the kernel sends it `death_signal` when this process goes away first."""
    libc = ctypes.CDLL(None)

    def die_with_parent():
        libc.prctl(PR_SET_PDEATHSIG, death_signal)

    return subprocess.Popen(command, preexec_fn=die_with_parent, **options)


def end(process, first_signal=signal.SIGTERM, deadline=30.0):
    """Ends a child that we started, politely first, by force after the deadline. Returns its exit code."""
    if process.poll() is None:
        process.send_signal(first_signal)
        try:
            process.wait(deadline)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    return process.returncode


_handed_out = set()


def free_port():
    """A TCP port on loopback that nobody listens on right now, and not one that this process was given before."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if port not in _handed_out:
            _handed_out.add(port)
            return port
