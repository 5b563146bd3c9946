"""The scenarios: each loads one sidecar, checks that everything was served, and returns what it measured.

A scenario fails by AssertionError. `Scale` says how much of everything; the small one is for every day.
"""

import concurrent.futures
import contextlib
import dataclasses
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time

import clients
from clients import READY
from support import wire
from support.gate import gate_locks
from support.horde import prepare
from support.pg_cluster import Cluster
from support.processes import end, spawn
from support.sidecar import Sidecar
from support.stub_server import reset
from support.waiting import wait_until

LEDGER = "SELECT user_id FROM kudos_ledger WHERE event_id = 1"
INSERT = "INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1)"
SERVER = {"max_connections": "1300", "shared_buffers": "256MB"}


@dataclasses.dataclass(frozen=True)
class Scale:
    idle_sessions: int
    busy_sessions: int
    busy_seconds: int
    connections_per_second: int
    churn_seconds: int
    lost_transactions: int
    statements: int
    cancels: int
    small_sessions: int
    streamed_gigabytes: float
    kills: int


FULL = Scale(10_000, 1_000, 60, 100, 600, 10_000, 500_000, 2_000, 1_000, 4, 100)
SMALL = Scale(1_000, 100, 3, 100, 5, 500, 20_000, 200, 100, 0.25, 2)
# Descriptors of the sidecar that are not for these sessions.
OTHER_DESCRIPTORS = 200
# What a process may grow by though it keeps nothing: buffers of its allocator, log and metrics.
ALLOWANCE_KIB = 4096


@contextlib.contextmanager
def stub_server():
    process = spawn(
        [sys.executable, os.path.join(os.path.dirname(__file__), "stub.py")],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield int(process.stdout.readline())
    finally:
        end(process)


def quiet(**changes):
    """Many clients, and no log line for each."""
    return {"limits": {"max_clients": 20_000}, "log": {"level": "warn"}, **changes}


def idle_sessions(cluster, scale):
    """Sessions that log in, run one statement and then stay; fewer where two descriptors each are too many."""
    measured = {}
    allowed = (resource.getrlimit(resource.RLIMIT_NOFILE)[1] - OTHER_DESCRIPTORS) // 2
    count = min(scale.idle_sessions, allowed)
    with stub_server() as port:
        for mode in ("off", "enforce"):
            changes = quiet(upstream={"port": port}, gate={"mode": mode})
            with Sidecar(cluster.endpoint(), changes) as sidecar, clients.many(
                sidecar.endpoint(), 50
            ) as some:
                clients.ask_all(some, "SELECT 1")
                before = sidecar.resident_kib()
                began = time.monotonic()
                with clients.many(sidecar.endpoint(), count) as all_of_them:
                    seconds = time.monotonic() - began
                    clients.ask_all(all_of_them, "SELECT 1")
                    assert sidecar.metric("ledgergate_clients") == count + 50
                    loaded = sidecar.resident_kib()
                    clients.ask_all(all_of_them, "SELECT 1")
                wait_until(lambda: sidecar.metric("ledgergate_clients") == 50, "the sessions to end")
                name = "relaying" if mode == "off" else "gated"
                measured[f"{name}: KiB per session"] = round((loaded - before) / count, 2)
                measured[f"{name}: connected per second"] = round(count / seconds)
    return {"sessions": count, **measured}


def busy_sessions(cluster, scale):
    """pgbench with so many clients at once, each transaction touching; directly first, for comparison."""
    direct, _ = run_pgbench(cluster.endpoint(), scale)
    with Sidecar(cluster.endpoint(), quiet()) as sidecar:
        before = rows(cluster)
        processed, latency = run_pgbench(sidecar.endpoint(), scale)
        assert rows(cluster) - before == processed
        assert sidecar.metric("ledgergate_pins_total") >= processed
        wait_until(lambda: not gate_locks(cluster), "every pin to be given back")
        return {
            "sessions": scale.busy_sessions,
            "transactions directly": direct,
            "transactions through": processed,
            "latency ms": latency,
        }


def run_pgbench(endpoint, scale):
    """(transactions, their latency in ms)"""
    script = "BEGIN;\nINSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1);\nSELECT 1;\nCOMMIT;\n"
    size = ["-c", str(scale.busy_sessions), "-j", "2", "-T", str(scale.busy_seconds)]
    done = subprocess.run(
        ["pgbench", "-n", *size, "-f", "-", "-M", "extended", endpoint.dsn()],
        input=script,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    processed = re.search(r"number of transactions actually processed: (\d+)", done.stdout).group(1)
    return int(processed), float(re.search(r"latency average = ([0-9.]+)", done.stdout).group(1))


def rows(cluster):
    return cluster.execute("SELECT count(*) FROM kudos_ledger")[0][0]


def new_connections(cluster, scale):
    """So many log-ins a second, each with one touching statement, and flat memory from the tenth part on."""
    with Sidecar(cluster.endpoint(), quiet()) as sidecar:
        total = scale.connections_per_second * scale.churn_seconds
        began = time.monotonic()

        def connect(number):
            wait_for(began + number / scale.connections_per_second)
            at = time.monotonic()
            with wire.WireClient(sidecar.endpoint(), timeout=60) as client:
                assert client.rows(LEDGER) == [["1"]]
                client.send(wire.terminate())
            memory = sidecar.resident_kib() if number % max(total // 100, 1) == 0 else None
            return time.monotonic() - at, memory

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            done = list(pool.map(connect, range(total)))
        seconds = time.monotonic() - began
        memory = [kib for _, kib in done if kib is not None]
        settled = memory[len(memory) // 10]
        assert memory[-1] - settled < ALLOWANCE_KIB, memory
        return {
            "connections": total,
            "per second": round(total / seconds, 1),
            "longest ms": round(max(took for took, _ in done) * 1000),
            "KiB after a tenth": settled,
            "KiB at the end": memory[-1],
        }


def wait_for(moment):
    threading.Event().wait(max(moment - time.monotonic(), 0))


def lost_transactions(cluster, scale):
    """BEGIN, a ledger INSERT, RST, again and again: no lock stays, memory is flat."""
    with Sidecar(cluster.endpoint(), quiet()) as sidecar:
        before_rows = rows(cluster)
        settled = None
        for number in range(scale.lost_transactions):
            client = wire.WireClient(sidecar.endpoint())
            client.ask(wire.query("BEGIN"), wire.query(INSERT), count=2)
            reset(client.socket)
            if number == scale.lost_transactions // 10:
                settled = sidecar.resident_kib()
        wait_until(lambda: not gate_locks(cluster), "the locks to go")
        wait_until(lambda: sidecar.metric("ledgergate_clients") == 0, "the sessions to go")
        assert rows(cluster) == before_rows
        grown = sidecar.resident_kib() - settled
        assert grown < ALLOWANCE_KIB, grown
        return {"transactions": scale.lost_transactions, "grown KiB": grown}


def statements_of_one_session(cluster, scale):
    """Batches of a hundred statements, each batch with new names that are closed again."""
    with Sidecar(cluster.endpoint(), quiet()) as sidecar, wire.WireClient(
        sidecar.endpoint(), timeout=120
    ) as client:
        settled = None
        for number in range(scale.statements // 100):
            batch = [
                wire.parse(LEDGER if each % 10 == 0 else "SELECT 1", f"s{number}_{each}")
                + wire.bind("", f"s{number}_{each}")
                + wire.execute()
                + wire.close_statement(f"s{number}_{each}")
                for each in range(100)
            ]
            messages = client.ask(*batch, wire.sync())
            assert sum(m.kind == "C" for m in messages) == 100
            if number == scale.statements // 1000:
                settled = sidecar.resident_kib()
        grown = sidecar.resident_kib() - settled
        assert grown < ALLOWANCE_KIB, grown
        return {"statements": scale.statements, "grown KiB": grown}


def cancels_at_once(cluster, scale):
    """A storm of cancel requests, beside it a client that must not notice."""
    with Sidecar(cluster.endpoint(), quiet()) as sidecar:
        with wire.WireClient(sidecar.endpoint()) as victim, wire.WireClient(sidecar.endpoint()) as other:
            calm = latencies(other, 500)
            sockets = [sidecar.endpoint().socket(60) for _ in range(scale.cancels)]
            for each in sockets:
                each.sendall(wire.cancel_request(victim.pid, victim.secret))
            stormy = latencies(other, 500)
            for each in sockets:
                assert each.recv(10) == b""
                each.close()
            states = [m.kind for m in victim.simple("SELECT 1")]
            assert states[-1] == "Z"
        return {
            "cancels": scale.cancels,
            "p99 ms calm": percentile(calm, 99),
            "p99 ms in the storm": percentile(stormy, 99),
        }


def latencies(client, count):
    measured = []
    for _ in range(count):
        began = time.monotonic()
        assert client.rows("SELECT 1") == [["1"]]
        measured.append((time.monotonic() - began) * 1000)
    return measured


def percentile(values, wanted):
    ordered = sorted(values)
    return round(ordered[min(len(ordered) * wanted // 100, len(ordered) - 1)], 2)


def fairness(cluster, scale):
    """One session streams gigabytes while many ask small things: none of those is starved, and memory is
    flat."""
    rows_wanted = int(scale.streamed_gigabytes * (1 << 30) / 8192)
    with Sidecar(cluster.endpoint(), quiet(limits={"max_clients": 20_000, "threads": 1})) as sidecar:
        with clients.many(sidecar.endpoint(), scale.small_sessions) as small:
            clients.ask_all(small, "SELECT 1")
            alone = clients.rounds(small, "SELECT 1", 3)
            before = sidecar.resident_kib()
            streamed = []
            stream = threading.Thread(
                target=lambda: streamed.append(read_stream(sidecar.endpoint(), rows_wanted))
            )
            stream.start()
            beside = []
            while stream.is_alive():
                beside += clients.rounds(small, "SELECT 1", 1)
            stream.join()
            grown = sidecar.resident_kib() - before
            assert streamed[0] >= rows_wanted * 8000, streamed
            assert grown < ALLOWANCE_KIB, grown
            return {
                "small sessions": scale.small_sessions,
                "GB streamed": round(streamed[0] / 1e9, 2),
                "round alone ms": percentile(alone, 50),
                "round beside the stream ms": percentile(beside, 50),
                "longest round ms": percentile(beside, 100),
                "rounds": len(beside),
                "grown KiB": grown,
            }


def read_stream(endpoint, wanted):
    with wire.WireClient(endpoint, timeout=120) as client:
        client.send(
            wire.query(
                f"SELECT repeat('x', 8180) FROM kudos_ledger, generate_series(1, {wanted}) WHERE event_id = 1"
            )
        )
        total, tail = 0, b""
        while True:
            data = client.socket.recv(1 << 18)
            total += len(data)
            tail = (tail + data)[-6:]
            if tail == READY or not data:
                return total


def slow_peers(cluster, scale):
    """Clients that read nothing for long, and clients that write byte by byte: nothing piles up in the
    sidecar."""
    text = "SELECT repeat('x', 8180) FROM kudos_ledger, generate_series(1, 1000) WHERE event_id = 1"
    with Sidecar(cluster.endpoint(), quiet()) as sidecar:
        readers = [
            wire.WireClient(sidecar.endpoint(), timeout=120) for _ in range(min(scale.small_sessions, 200))
        ]
        before = sidecar.resident_kib()
        for each in readers:
            # No smaller than a loopback segment: below that the kernel waits for timers.
            each.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            each.send(wire.query(text))
        writers = [wire.WireClient(sidecar.endpoint(), timeout=120) for _ in range(20)]
        for byte in wire.query(INSERT):
            for each in writers:
                each.send(bytes([byte]))
        for each in writers:
            assert wire.kinds(each.read_until_ready()) == ["C", "Z:I"]
        stuck = sidecar.resident_kib() - before
        received = [0] * len(readers)
        unfinished = set(range(len(readers)))
        while unfinished:
            for index in list(unfinished):
                data = readers[index].socket.recv(1 << 18)
                received[index] += len(data)
                if data.endswith(READY):
                    unfinished.discard(index)
        assert min(received) == max(received) > 1000 * 8180
        for each in readers + writers:
            each.close()
        # One burst for each session that is stuck is what may be kept.
        assert stuck < len(readers) * 300 + ALLOWANCE_KIB, stuck
        return {
            "slow readers": len(readers),
            "MB each": round(received[0] / 1e6, 1),
            "kept KiB per reader": round(stuck / len(readers), 1),
        }


def killed_backends(_, scale):
    """kill -9 of the backend in the middle of a large result; the server starts anew each time."""
    killed, descriptors = 0, None
    with Cluster(SERVER) as own:
        prepare(own)
        with Sidecar(own.endpoint(), quiet()) as sidecar:
            while killed < scale.kills:
                client = wait_until(
                    lambda: log_in(sidecar.endpoint()), "the server to have recovered", deadline=120
                )
                # It may be one of those that the server's own restart ends instead of answering.
                with client, contextlib.suppress(ConnectionError, wire.ConnectionClosed):
                    client.send(
                        wire.query("SELECT repeat('x', 8000) FROM kudos_ledger, generate_series(1, 6500)")
                    )
                    if client.read().kind != "T":
                        continue
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(client.pid, signal.SIGKILL)
                        killed += 1
                    while client.socket.recv(1 << 20):
                        pass
                if descriptors is None:
                    wait_until(lambda: sidecar.metric("ledgergate_clients") == 0, "the session to end")
                    descriptors = sidecar.descriptor_count()
            wait_until(lambda: sidecar.descriptor_count() <= descriptors + 2, "the descriptors to be closed")
    return {"backends killed": killed}


def log_in(endpoint):
    try:
        return wire.WireClient(endpoint)
    except (wire.ConnectionClosed, OSError):
        return None


ALL = {
    "idle": idle_sessions,
    "busy": busy_sessions,
    "churn": new_connections,
    "lost": lost_transactions,
    "statements": statements_of_one_session,
    "cancels": cancels_at_once,
    "fairness": fairness,
    "slow": slow_peers,
    "kills": killed_backends,
}
