"""Processes that the demonstration starts: they end with it, unless they are to be kept."""

import ctypes
import os
import pwd
import signal
import socket
import subprocess

PR_SET_PDEATHSIG = 1
SERVER_ACCOUNT = "postgres"  # PostgreSQL refuses to run as root


class Problem(Exception):
    """Something that the user can put right; shown without a traceback."""


def server_account():
    """The options that make a child run as the server's account; none when we are not root."""
    if os.getuid() != 0:
        return {}
    try:
        entry = pwd.getpwnam(SERVER_ACCOUNT)
    except KeyError:
        raise Problem(f"there is no account '{SERVER_ACCOUNT}': deploy/install-packages quickstart") from None
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def start(command, log_file, folder, keep, death_signal=signal.SIGKILL, **options):
    """Starts a daemon in a session of its own, so that Ctrl-C does not reach it before we end it in order.

    Unless it is to be kept, the kernel sends it `death_signal` should we be killed before we can.
    """
    libc = ctypes.CDLL(None)

    def die_with_parent():
        if not keep:
            libc.prctl(PR_SET_PDEATHSIG, int(death_signal))

    with open(log_file, "ab") as log:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder,
                                start_new_session=True, preexec_fn=die_with_parent, **options)


def end(process, signals, patience):
    """Sends one signal after the other, each with some patience in between, until the process is gone."""
    for number in signals:
        if process.poll() is not None:
            return
        process.send_signal(number)
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            continue


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


def require_free(port, option):
    with socket.socket() as probe:
        # As a server would bind it: a port in TIME_WAIT is free, one that is listened on is not.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as failure:
            raise Problem(f"port {port} on 127.0.0.1 cannot be used ({failure.strerror}): choose another "
                          f"with {option}, or leave the option out for a free one") from None


def tail(log_file, lines=15):
    """The end of a log, indented, for the message that says what went wrong."""
    try:
        text = log_file.read_text(errors="replace").splitlines()[-lines:]
    except OSError:
        return "    (no log)"
    return "\n".join("    " + row for row in text) or "    (the log is empty)"
