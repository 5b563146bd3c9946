"""deploy/quickstart from the outside: what it says, how it ends, and that nothing is left behind."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import subprocess
import tempfile

import pytest

from support.sidecar import ROOT, binary
from support.waiting import wait_until

QUICKSTART = ROOT / "deploy/quickstart"
SHORT = ["--no-install", "--seconds", "1", "--timeout", "2"]
PATIENCE = 180.0  # seconds until a short run must have ended
STAGE = re.compile(r"^  (direct|sidecar): (legacy|gatectl) to (ledger|shadow) +([\d,]+) +(\d+) +(\w+) ", re.M)
CHECK = re.compile(r"^  .* (\S+) +(\S+)  (ok|WRONG)$", re.M)
KEPT = re.compile(r"^  (/\S+)/stop$", re.M)


@pytest.fixture(autouse=True)
def fresh_horde():
    """Takes the place of the fixture that needs a cluster: the quickstart starts its own."""


@contextlib.contextmanager
def temporary_folder():
    """The TMPDIR of a run, which the server's account can enter. It must be empty in the end."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="lgqs-", dir="/tmp"))
    path.chmod(0o755)
    try:
        yield path
    finally:
        end_processes_of(path)
        shutil.rmtree(path)


@pytest.fixture
def folder():
    with temporary_folder() as path:
        yield path


@pytest.fixture(scope="module")
def finished():
    """A short run that went to its end: (exit code, output, its TMPDIR)."""
    with temporary_folder() as path:
        yield (*run(path), path)


def start(folder, *options, programs=None):
    environment = {**os.environ, "TMPDIR": str(folder)}
    environment["LEDGERGATE_BIN_DIR"] = str(programs or binary().parent)
    return subprocess.Popen([QUICKSTART, *SHORT, *options], env=environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def run(folder, *options, programs=None):
    """Returns (exit code, output)."""
    process = start(folder, *options, programs=programs)
    try:
        output, _ = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    return process.returncode, output


def processes_of(folder):
    """Whoever was started by a run with this TMPDIR: by environment, command line or working directory."""
    found = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
            place = os.readlink(entry / "cwd").encode()
        except OSError:
            continue
        if int(entry.name) != os.getpid() and str(folder).encode() in words + place:
            found[int(entry.name)] = words
    return found


def end_processes_of(folder):
    for pid in processes_of(folder):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    wait_until(lambda: not processes_of(folder), "the processes of the run to be gone")


def assert_nothing_left(folder):
    assert processes_of(folder) == {}
    assert list(folder.iterdir()) == []


def stages(output):
    return [(*row[:3], int(row[3].replace(",", "")), int(row[4]), row[5]) for row in STAGE.findall(output)]


def programs_with_gate_off(folder):
    """The same programs, but the sidecar relays without pinning anything."""
    programs = folder / "programs"
    programs.mkdir()
    (programs / "gatectl").symlink_to(binary().parent / "gatectl")
    wrapper = programs / "ledgergate"
    wrapper.write_text(f"""#!/bin/sh
sed -i 's/^  mode: enforce$/  mode: off/' "$2"
exec {binary()} "$@"
""")
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    return programs


def test_starves_without_the_gate_and_is_admitted_with_it(finished):
    code, output, _ = finished
    assert code == 0, output
    found = stages(output)
    assert [(path, way, mode, result) for path, way, mode, _, _, result in found] == [
        ("direct", "legacy", "ledger", "starved"),
        ("sidecar", "legacy", "ledger", "admitted"),
        ("sidecar", "legacy", "shadow", "admitted"),
        ("sidecar", "gatectl", "ledger", "admitted"),
        ("sidecar", "gatectl", "shadow", "admitted")], output
    assert all(transactions > 0 and errors == 0 for _, _, _, transactions, errors, _ in found), output


def test_finds_every_posting_in_a_balance_exactly_once(finished):
    _, output, _ = finished
    checks = CHECK.findall(output)
    assert len(checks) == 7 and all(found == expected for expected, found, _ in checks), output


def test_shows_progress_in_a_pipe_while_the_transition_starves(finished):
    _, output, _ = finished
    progress = r"^ +[\d.]+ s  [\d,]+ tx .*waiting [\d.]+ s, overtaken by [\d,]+ pins$"
    assert re.search(progress, output, re.M), output
    assert "\x1b" not in output and "\r" not in output


def test_leaves_nothing_behind(finished):
    _, _, folder = finished
    assert_nothing_left(folder)


def test_fails_when_the_sidecar_does_not_pin(folder):
    programs = programs_with_gate_off(folder)
    code, output = run(folder, programs=programs)
    assert code == 1, output
    results = [(*row[:3], row[5]) for row in stages(output)]
    assert ("sidecar", "legacy", "ledger", "starved") in results, output
    shutil.rmtree(programs)
    assert_nothing_left(folder)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_cleans_up_when_it_is_interrupted_under_load(folder, number):
    process = start(folder)
    try:
        seen = []
        for line in process.stdout:
            seen.append(line)
            if "overtaken by" in line:
                process.send_signal(number)
                break
        rest, _ = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 130, "".join(seen) + rest
    assert "interrupted" in rest
    assert_nothing_left(folder)


def test_keeps_server_and_sidecar_until_its_stop_command(folder):
    code, output = run(folder, "--keep")
    assert code == 0, output
    kept = pathlib.Path(KEPT.search(output).group(1))

    def call(name, *arguments):
        return subprocess.run([kept / name, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=PATIENCE, check=False)

    asked = call("psql", "-Atc", "SELECT mode FROM kudos_ledger_control")
    assert (asked.returncode, asked.stdout) == (0, "shadow\n"), asked
    assert call("gatectl", "status").returncode == 0
    flipped = call("gatectl", "flip", "ledger", "--yes")
    assert flipped.returncode == 0, flipped
    loaded = call("load", "1")
    assert loaded.returncode == 0 and " 0 errors" in loaded.stdout, loaded
    asked = call("psql-direct", "-Atc", "SELECT mode FROM kudos_ledger_control")
    assert (asked.returncode, asked.stdout) == (0, "ledger\n"), asked
    stopped = call("stop")
    assert stopped.returncode == 0, stopped
    wait_until(lambda: not processes_of(folder), "the server and the sidecar to be gone")
    assert_nothing_left(folder)


def test_names_the_port_that_is_taken_and_its_option(folder):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, output = run(folder, "--admin-port", str(port))
    assert code == 2, output
    assert str(port) in output and "--admin-port" in output
    assert_nothing_left(folder)
