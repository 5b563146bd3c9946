"""Runs pgbench against one endpoint and reads what it says."""

import dataclasses
import os
import re

from processes import BenchmarkError, run_checked
from server import ACCOUNTS, client_environment

BUILT_IN = {"select": "select-only", "tpcb": "tpcb-like"}

# Every run draws the same sequence of account numbers.
RANDOM_SEED = "20240229"


@dataclasses.dataclass(frozen=True)
class Load:
    """What pgbench is to do: a built-in workload by name, or a script by path; so long, or so often."""

    workload: str
    protocol: str
    clients: int
    seconds: int = 0
    transactions_per_client: int = 0   # instead of `seconds`, where whole seconds are too coarse


@dataclasses.dataclass(frozen=True)
class Outcome:
    transactions: int
    per_second: float             # without the time for connecting
    latency_microseconds: float   # mean of one transaction as its client sees it


class Pgbench:
    def __init__(self, server):
        self._program = server.program("pgbench")

    def run(self, load, endpoint):
        command = [self._program, "--no-vacuum", "--protocol", load.protocol, "--client", str(load.clients),
                   "--jobs", "1", "--random-seed", RANDOM_SEED]
        if load.transactions_per_client:
            command += ["--transactions", str(load.transactions_per_client)]
        else:
            command += ["--time", str(load.seconds)]
        if load.workload in BUILT_IN:
            command += ["--builtin", BUILT_IN[load.workload]]
        else:
            command += ["--file", load.workload, "--define", f"accounts={ACCOUNTS}"]
        text = run_checked(command, env=client_environment(endpoint))
        failed = _number(text, r"number of failed transactions: (\d+)")
        if failed != 0:
            raise BenchmarkError(f"pgbench had {failed:.0f} failed transactions:\n{text}")
        per_second = _number(text, r"tps = ([0-9.]+) \(without initial connection time\)")
        # A client sends its next transaction at once, so this is the mean latency; pgbench prints it too, but
        # rounded to a microsecond.
        return Outcome(transactions=int(_number(text, r"number of transactions actually processed: (\d+)")),
                       per_second=per_second, latency_microseconds=1e6 * load.clients / per_second)


def write_script(workspace, name, statements):
    """A pgbench script of these statements, in which `:aid` is a random account. Returns its path."""
    path = os.path.join(workspace, name + ".sql")
    with open(path, "w") as script:
        script.write("\\set aid random(1, :accounts)\n")
        script.writelines(statement + ";\n" for statement in statements)
    return path


def _number(text, pattern):
    found = re.search(pattern, text)
    if found is None:
        raise BenchmarkError(f"pgbench did not print {pattern!r}:\n{text}")
    return float(found.group(1))
