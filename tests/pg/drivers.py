"""Runs real clients, each as a program of its own, and compares what they print direct and by the sidecar."""

import collections
import difflib
import os
import pathlib
import pprint
import subprocess

CLIENTS = pathlib.Path(__file__).resolve().parent / "clients"
SCENARIO = CLIENTS / "scenario.txt"
PYTHON = "/usr/bin/python3"
JDBC_CLASSES = "/usr/share/java/postgresql.jar"

# Each must have happened: a client that stops early or swallows errors would compare equal to itself.
SQLSTATES = ["23503", "23514", "22012", "42703", "42601", "25P02", "23505"]


def command(client, *arguments):
    """The command line of one of our small client programs."""
    programs = {
        "node": ["node", str(CLIENTS / "node/client.mjs")],
        "jdbc": [
            "java",
            "-Xshare:auto",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            JDBC_CLASSES,
            str(CLIENTS / "java/JdbcClient.java"),
        ],
        "pqxx": [os.environ.get("LEDGERGATE_PQXX_CLIENT", "")],
    }
    start = programs.get(client) or [PYTHON, "-B", str(CLIENTS / f"python/client_{client}.py")]
    return [*start, *arguments]


def run(endpoint, program, stdin=None, environment=None, expect_code=0):
    """Runs a client against `endpoint` and returns what it printed, both streams together."""
    result = subprocess.run(
        program,
        input=stdin,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
        env={
            **os.environ,
            "LC_ALL": "C.UTF-8",
            "PGAPPNAME": "",
            **endpoint.environment(),
            **(environment or {}),
        },
    )
    assert result.returncode == expect_code, f"{program} ended with {result.returncode}:\n{result.stdout}"
    return result.stdout


def compare(cluster, oracle, direct, proxied, client, at_least=10):
    """`client(endpoint)` returns what a client saw. Direct is the control: there the oracle must object."""
    cluster.execute("CALL reset_horde()")
    oracle.mark()
    expected = client(direct)
    oracle.assert_violations("not pinned")
    touches = kinds_and_statements(oracle)

    cluster.execute("CALL reset_horde()")
    oracle.mark()
    got = client(proxied)
    assert got == expected, difference(expected, got)
    oracle.assert_clean(at_least)
    # As many touches as direct: nothing ran twice, and nothing was left out.
    seen = kinds_and_statements(oracle)
    assert seen == touches, f"direct only: {touches - seen}\nthrough the sidecar only: {seen - touches}"
    return got


def kinds_and_statements(oracle):
    """What was touched by which statement. In a trigger that is deferred to the commit current_query() is the
    text that commits: nothing, where a Sync does."""
    return collections.Counter(
        (r.kind, r.object, None if r.kind == "commit" else r.statement) for r in oracle.touches()
    )


def difference(expected, got):
    """What the failed comparison says: the lines that only one side has, with their surroundings."""
    sides = [side if isinstance(side, str) else pprint.pformat(side) for side in (expected, got)]
    lines = difflib.unified_diff(
        *(side.splitlines() for side in sides), "direct", "through the sidecar", lineterm="", n=2
    )
    return "\n".join(list(lines)[:200])


def compare_scenario(cluster, oracle, direct, proxied, client, *arguments, never=()):
    """The common scenario through one client program, which is told the scenario's path and `arguments`.
    `never` names the errors that this client keeps to itself."""
    program = command(client, str(SCENARIO), *arguments)
    output = compare(cluster, oracle, direct, proxied, lambda endpoint: run(endpoint, program), at_least=50)
    missing = [state for state in SQLSTATES if state not in output and state not in never]
    assert not missing, f"the client never reported {missing}:\n{output}"
    return output
