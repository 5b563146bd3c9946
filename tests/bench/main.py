"""The benchmark from its options to its tables. Started by `run`, which has installed what it needs."""

import contextlib
import dataclasses
import json
import os
import shutil
import signal
import sys
import tempfile

import aims
import bulk_copy
import ledgergate
import machine
import memory
import pin_cost
import plan as planning
import system_calls
import throughput
from lineup import Lineup
from pgbench import Pgbench
from processes import BenchmarkError
from report import Progress
from server import Server


def run(plan, progress):
    """Measures what the plan asks for. Returns the facts about the machine, the results and the tables."""
    binary = ledgergate.find_or_build_binary() if plan.needs_ledgergate else None
    with contextlib.ExitStack() as cleanup:
        workspace = tempfile.mkdtemp(prefix="ledgergate-bench-", dir="/tmp")
        os.chmod(workspace, 0o755)  # PgBouncer works in it as postgres
        cleanup.callback(shutil.rmtree, workspace, ignore_errors=True)
        progress.line("starting a throw-away PostgreSQL and filling it")
        server = cleanup.enter_context(Server())
        progress.line("starting " + ", ".join(plan.names))
        lineup = Lineup(plan.names, workspace, server.endpoint, binary, cleanup)
        facts = machine.describe(server, binary, plan.names)
        results, tables = _measure(plan, progress, server, lineup, cleanup)
        return facts, results, tables


def _measure(plan, progress, server, lineup, cleanup):
    pgbench = Pgbench(server)
    results = {}
    tables = []
    if "throughput" in plan.sections:
        results["throughput"] = throughput.measure(lineup, pgbench, plan, progress)
        tables += throughput.tables(results["throughput"], plan)
    if "syscalls" in plan.sections:
        results["syscalls"] = system_calls.measure(lineup, pgbench, plan, progress)
        tables.append(system_calls.table(results["syscalls"]))
    if "pins" in plan.sections:
        results["pins"], round_trip = pin_cost.measure(lineup, pgbench, plan, progress, server, cleanup)
        tables += pin_cost.tables(results["pins"], round_trip, plan)
    if "copy" in plan.sections:
        results["copy"] = bulk_copy.measure(lineup, plan, progress, server)
        tables.append(bulk_copy.table(results["copy"], plan))
    if "memory" in plan.sections:
        results["memory"] = memory.measure(lineup, plan, progress)
        tables.append(memory.table(results["memory"]))
    if plan.needs_ledgergate:
        tables.append(aims.table(results))
    return results, tables


def _plain(value):
    """Results as JSON holds them: dataclasses become objects, keys that are no strings become their text."""
    if dataclasses.is_dataclass(value):
        return _plain(dataclasses.asdict(value))
    if isinstance(value, dict):
        return {_key(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _key(key):
    if isinstance(key, throughput.Cell):
        return key.title
    return ", ".join(str(part) for part in key) if isinstance(key, tuple) else key


def _show(facts, tables, is_markdown):
    separator = "; " if is_markdown else "\n"
    print(separator.join(f"{name}: {value}" for name, value in facts.items()) + "\n")
    print("\n".join(table.markdown() if is_markdown else table.text() for table in tables))


def _end_on_signal(number, _frame):
    raise SystemExit(128 + number)


def main(arguments):
    plan, options = planning.parse(arguments)
    signal.signal(signal.SIGTERM, _end_on_signal)
    signal.signal(signal.SIGHUP, _end_on_signal)
    try:
        facts, results, tables = run(plan, Progress())
    except (BenchmarkError, RuntimeError) as error:
        print(f"tests/bench/run: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ntests/bench/run: interrupted; everything that it started is stopped", file=sys.stderr)
        return 130
    _show(facts, tables, options.markdown)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"facts": facts, "plan": _plain(plan), "results": _plain(results),
                       "tables": _plain(tables)}, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
