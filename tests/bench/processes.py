"""Starts, watches and stops the programs of the benchmark, and reads what they cost."""

import ctypes
import os
import signal
import subprocess
import time

from support.processes import account, end, spawn

START_DEADLINE_SECONDS = 30

_libc = ctypes.CDLL(None, use_errno=True)


class BenchmarkError(Exception):
    """The benchmark cannot go on; the text says why and is all that the user needs to see."""


class Process:
    """One running program with its log file.

    It has a session of its own, so that Ctrl-C reaches the benchmark alone, which then stops everything in
    order.
    """

    def __init__(self, name, command, workspace, user=None):
        self.name = name
        self.log_path = os.path.join(workspace, name + ".log")
        with open(self.log_path, "wb") as log:
            self._child = spawn(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=workspace,
                                start_new_session=True, **(account(user) if user else {}))
        self.pid = self._child.pid

    def check_alive(self):
        status = self._child.poll()
        if status is not None:
            raise BenchmarkError(f"{self.name} ended with status {status}{self._log_tail()}")

    def wait_until(self, ready, what):
        """Waits for `ready()` to be true while the process lives."""
        deadline = time.monotonic() + START_DEADLINE_SECONDS
        while not ready():
            self.check_alive()
            if time.monotonic() > deadline:
                raise BenchmarkError(
                    f"{self.name}: waited {START_DEADLINE_SECONDS} s in vain for {what}{self._log_tail()}")
            time.sleep(0.02)

    def wait_for_port(self, endpoint):
        def accepts():
            try:
                endpoint.socket(timeout=1).close()
            except OSError:
                return False
            return True
        self.wait_until(accepts, "its port to accept connections")

    def cpu_seconds(self):
        """User and system time of all threads, ended ones included, in nanosecond resolution.

        It is the same account that /proc/PID/stat shows as utime + stime, without its rounding to 10 ms.
        """
        self.check_alive()
        clock = ctypes.c_int()
        if _libc.clock_getcpuclockid(self.pid, ctypes.byref(clock)) != 0:
            raise BenchmarkError(f"{self.name}: its processor time cannot be read")
        return time.clock_gettime(clock.value)

    def resident_kib(self):
        with open(f"/proc/{self.pid}/status") as status:
            for line in status:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1])
        raise BenchmarkError(f"{self.name}: its resident memory cannot be read")

    def thread_ids(self):
        return [int(name) for name in os.listdir(f"/proc/{self.pid}/task")]

    def stop(self):
        end(self._child, signal.SIGTERM, deadline=10)

    def _log_tail(self):
        with open(self.log_path, "r", errors="replace") as log:
            return "; the end of its log:\n" + "".join(log.readlines()[-15:])


def run_checked(command, stdin=subprocess.DEVNULL, **options):
    """Runs a command to its end and returns its standard output; its failure ends the benchmark."""
    done = subprocess.run(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", **options)
    if done.returncode != 0:
        words = (done.stderr or done.stdout).strip()[-2000:]
        raise BenchmarkError(f"{' '.join(map(str, command))}\nended with status {done.returncode}:\n{words}")
    return done.stdout
