"""ledgergate as an operator starts it: exit codes, what is printed where, no port that opens on a mistake."""

import pathlib
import re
import signal
import socket
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS)]

from support.endpoint import Endpoint  # noqa: E402
from support.processes import end, free_port, spawn  # noqa: E402
from support.sidecar import Sidecar, binary  # noqa: E402

EXIT_START, EXIT_USAGE, EXIT_CONFIG = 1, 64, 78

BROKEN = """listen:
  - address: 127.0.0.1:{port}
upstream:
  host: 127.0.0.1
  prot: 5432
  connect_timeout: 5
control:
  dsn: "host=127.0.0.1 dbname=horde user=x password=geheim port=none"
gate:
  mode: enforced
  lock_key: 0x4B55444D
  tables:
    - {{ name: users, pin_on: read }}
control_row:
  table: kudos_ledger_control
  where: "id = 1"
modes: [shadow, ledger]
transitions:
  queue_budget: 5ms
  deadline: 20m
limits:
  max_clients: 0
admin:
  address: 127.0.0.1:{admin_port}
"""

# Line, key, and what of the allowed range must be said; in the order of the file.
MISTAKES = [
    (5, "upstream.prot", "host, port, "),
    (6, "upstream.connect_timeout", "duration from"),
    (8, "control.dsn", "port must be from 1 to 65535"),
    (10, "gate.mode", "enforce, observe, off"),
    (13, "gate.tables[0].pin_on", "any, lock, write"),
    (19, "transitions.queue_budget", "from 10ms to 1m"),
    (20, "transitions.deadline", "from 100ms to 10m"),
    (22, "limits.max_clients", "from 1 to"),
]


def run(*arguments):
    return subprocess.run(
        [str(binary()), *arguments], text=True, capture_output=True, timeout=60, stdin=subprocess.DEVNULL
    )


@pytest.fixture
def broken(tmp_path):
    path = tmp_path / "broken.yaml"
    ports = [free_port(), free_port()]
    path.write_text(BROKEN.format(port=ports[0], admin_port=ports[1]))
    return path, ports


@pytest.mark.parametrize("check", [False, True], ids=["to run", "to check"])
def test_every_mistake_of_a_configuration_is_shown_with_its_place_and_range(broken, check):
    path, ports = broken
    result = run("--config", str(path), *(["--check-config"] if check else []))
    assert result.returncode == EXIT_CONFIG
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == len(MISTAKES), result.stderr
    for line, (number, key, allowed) in zip(lines, MISTAKES):
        assert re.match(rf"{re.escape(str(path))}:{number}:\d+: {re.escape(key)}: ", line), line
        assert allowed in line
    assert "geheim" not in result.stderr
    for port in ports:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), 5)


def test_a_broken_configuration_opens_no_port_even_for_a_moment(broken):
    """The ports are taken by the test: a process that tried to listen would complain of that as well."""
    path, ports = broken
    with socket.create_server(("127.0.0.1", ports[0])), socket.create_server(("127.0.0.1", ports[1])):
        result = run("--config", str(path))
    assert result.returncode == EXIT_CONFIG
    assert "in use" not in result.stderr


@pytest.mark.parametrize(
    "content, said",
    [
        (None, "cannot be read"),
        ("", "listen"),
        ("listen: [", "broken.yaml:1:"),
        ("\t\n", "broken.yaml:1:"),
        ("- a\n- b\n", "broken.yaml:1:"),
        ("listen: &a [*a]\n", "broken.yaml:1:"),
        ("x" * (2 << 20), "broken.yaml"),
    ],
    ids=["no file", "empty", "cut off", "tab", "a list", "an endless alias", "too large"],
)
def test_what_is_no_configuration_ends_with_the_reason(tmp_path, content, said):
    path = tmp_path / "broken.yaml"
    if content is not None:
        path.write_text(content)
    result = run("--config", str(path))
    assert result.returncode == EXIT_CONFIG, result.stderr[-500:]
    assert result.stdout == ""
    assert said in result.stderr and str(path) in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [[], ["--check-config"], ["--config"], ["--bogus"], ["file.yaml"], ["--config", "a", "b"]],
    ids=" ".join,
)
def test_a_wrong_command_line_ends_with_64_and_the_usage(arguments):
    result = run(*arguments)
    assert result.returncode == EXIT_USAGE
    assert result.stdout == ""
    assert result.stderr.startswith("ledgergate: ")
    assert "--config FILE" in result.stderr


def test_the_version_is_one_line():
    result = run("--version")
    assert (result.returncode, result.stderr) == (0, "")
    assert re.fullmatch(r"ledgergate \d+\.\d+\.\d+ \(commit ([0-9a-f]{12}(-dirty)?|unknown)\)\n", result.stdout)


def test_help_names_every_option():
    result = run("--help")
    assert (result.returncode, result.stderr) == (0, "")
    for option in ("--config", "--check-config", "--version", "--help"):
        assert option in result.stdout


def test_a_check_prints_what_is_in_force_and_its_output_can_be_checked_again(tmp_path):
    path = tmp_path / "good.yaml"
    path.write_text(
        BROKEN.format(port=free_port(), admin_port=free_port())
        .replace("  prot: 5432\n  connect_timeout: 5\n", "  port: 15432\n")
        .replace("port=none", "port=15432")
        .replace("enforced", "enforce")
        .replace("read }", "lock }")
        .replace("5ms", "50ms")
        .replace("20m", "1m")
        .replace("max_clients: 0", "max_clients: 10")
    )
    first = run("--config", str(path), "--check-config")
    assert (first.returncode, first.stderr) == (0, "")
    assert "  port: 15432\n" in first.stdout
    assert "connect_timeout: 5s  # default\n" in first.stdout
    assert "geheim" not in first.stdout
    path.write_text(first.stdout)
    again = run("--config", str(path), "--check-config")
    assert (again.returncode, again.stderr) == (0, "")
    values = [re.sub(r"  # default$", "", line) for line in first.stdout.splitlines()]
    assert [re.sub(r"  # default$", "", line) for line in again.stdout.splitlines()] == values


def test_a_port_that_is_taken_ends_the_start_and_names_both_ports():
    """Every error of the start is shown, and what was opened already is closed again."""
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        taken = [one.getsockname()[1], other.getsockname()[1]]
        free = free_port()
        listen = [{"address": f"127.0.0.1:{port}"} for port in (free, taken[0])]
        changes = {"listen": listen, "admin": {"address": f"127.0.0.1:{taken[1]}"}}
        with pytest.raises(RuntimeError) as caught:
            Sidecar(Endpoint("127.0.0.1", free_port()), changes, await_ready=False).__enter__()
    said = str(caught.value)
    assert f"ended with {EXIT_START}:" in said
    for port in taken:
        assert str(port) in said
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", free), 5)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_sidecar_without_clients_ends_at_once_with_0(how):
    with Sidecar(Endpoint("127.0.0.1", free_port()), await_ready=False) as sidecar:
        assert sidecar.stop(how) == 0


def test_output_that_nobody_reads_does_not_hurt(tmp_path):
    """--check-config into a closed pipe: an exit, not a hang or a crash."""
    path = tmp_path / "missing.yaml"
    process = spawn([str(binary()), "--config", str(path)], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    process.stderr.close()
    process.wait(30)
    assert end(process) in (EXIT_CONFIG, -signal.SIGPIPE)
