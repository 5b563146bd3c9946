"""System calls per transaction, counted by strace in runs of their own: tracing slows everything down."""

import os
import signal
import subprocess
import time

from lineup import CORE, EXTRAS, TITLES
from pgbench import Load
from processes import BenchmarkError
from report import Table

PROTOCOL = "prepared"
CLIENTS = 8
ATTACH_DEADLINE_SECONDS = 20

KINDS = {
    "receive": {"recvfrom", "recvmsg", "recvmmsg", "read", "readv"},
    "send": {"sendto", "sendmsg", "sendmmsg", "write", "writev"},
    "wait": {"epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select", "pselect6",
             "io_uring_enter"},
}


def measure(lineup, pgbench, plan, progress):
    """{leg: calls per transaction by kind}, and how many of the receiving ones found nothing to receive."""
    progress.section(f"system calls ({PROTOCOL}, {CLIENTS} clients, under strace)")
    results = {}
    for leg in lineup.legs(CORE + EXTRAS):
        if leg.process is not None:
            progress.step(leg.title)
            calls, transactions = _trace(leg, pgbench, plan.traced_transactions, lineup.workspace)
            results[leg.name] = _per_transaction(calls, transactions)
            kinds = results[leg.name]["kinds"].items()
            progress.line(f"{leg.title}: " + ", ".join(f"{kind} {count:.2f}" for kind, count in kinds))
    return results


def _trace(leg, pgbench, count, workspace):
    output = os.path.join(workspace, leg.name + ".strace")
    # Only while there are clients: what an idle proxy does on its timers is no part of a transaction.
    tracer = subprocess.Popen(["strace", "-c", "-f", "-o", output, "-p", str(leg.process.pid)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              start_new_session=True)
    try:
        _wait_until_attached(leg, tracer)
        # A number and not a time, so that the calls for connecting stay a small part however slow it gets.
        load = Load("select", PROTOCOL, CLIENTS, transactions_per_client=count)
        outcome = pgbench.run(load, leg.endpoint)
    finally:
        if tracer.poll() is None:
            tracer.send_signal(signal.SIGINT)
        tracer.communicate()
    leg.process.check_alive()
    with open(output) as summary:
        return _parse(summary.read()), outcome.transactions


def _wait_until_attached(leg, tracer):
    deadline = time.monotonic() + ATTACH_DEADLINE_SECONDS
    while not all(_is_traced(leg.process.pid, thread) for thread in leg.process.thread_ids()):
        leg.process.check_alive()
        if tracer.poll() is not None:
            words = tracer.stderr.read().decode(errors="replace").strip()
            raise BenchmarkError(f"strace cannot attach to {leg.title}: {words}")
        if time.monotonic() > deadline:
            raise BenchmarkError(f"strace did not attach to {leg.title} in {ATTACH_DEADLINE_SECONDS} s")
        time.sleep(0.02)


def _is_traced(pid, thread):
    with open(f"/proc/{pid}/task/{thread}/status") as status:
        return any(line.startswith("TracerPid:") and int(line.split()[1]) != 0 for line in status)


def _parse(summary):
    """{system call: (calls, errors)} out of the table of strace -c, whose column of errors may be empty."""
    calls = {}
    for line in summary.splitlines():
        fields = line.split()
        if len(fields) >= 5 and fields[0][0].isdigit() and fields[-1] != "total":
            calls[fields[-1]] = (int(fields[3]), int(fields[4]) if len(fields) == 6 else 0)
    return calls


def _per_transaction(calls, transactions):
    def per_transaction(names, column):
        return sum(calls[name][column] for name in names if name in calls) / transactions
    kinds = {kind: per_transaction(names, 0) for kind, names in KINDS.items()}
    kinds["other"] = per_transaction(calls.keys() - set().union(*KINDS.values()), 0)
    return {"kinds": kinds, "failed_receive": per_transaction(KINDS["receive"], 1),
            "transactions": transactions,
            "calls": {name: count for name, (count, _) in sorted(calls.items())}}


def without_waits(result):
    return sum(count for kind, count in result["kinds"].items() if kind != "wait")


def table(results):
    made = Table("System calls per transaction",
                 ["proxy", "receive", "in vain", "send", "wait", "other", "all but waits"],
                 [f"{PROTOCOL}, {CLIENTS} clients; strace -c over all threads, connecting included.",
                  "`in vain`: those of `receive` that found nothing."])
    for name, result in results.items():
        kinds = result["kinds"]
        figures = (kinds["receive"], result["failed_receive"], kinds["send"], kinds["wait"], kinds["other"],
                   without_waits(result))
        made.rows.append([TITLES[name], *(f"{figure:.2f}" for figure in figures)])
    return made
