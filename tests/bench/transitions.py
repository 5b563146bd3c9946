"""What a transition costs the writers, beside a plain exclusive lock and beside row locks: with a straggler, and with
ever more writers that never leave a gap. Prints the figures and draws them with gnuplot."""

import argparse
import contextlib
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import types

import machine
import psycopg2
from support.pg_cluster import Cluster, create_login_roles
from support.sidecar import Sidecar, binary
from transition_writers import PLAIN_CHANGE, ROW_CHANGE, ROW_PIN, Writers, change_by, change_by_sidecar, straggler

TESTS = pathlib.Path(__file__).resolve().parents[1]
PLOTS = pathlib.Path(__file__).resolve().parent / "plots"
BUDGETS_MS = (100, 200, 500)
COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
STRAGGLER_SECONDS = 3.0
STRAGGLER_WRITERS = 16
LEAD_SECONDS = 1.0
PAUSE = 0.05
PATIENCE = 10.0
HOLD = 0.02
CHANGES = 5


def prepare(cluster):
    cluster.execute("CREATE DATABASE horde", "postgres")
    cluster.execute((TESTS / "support/horde.sql").read_text())
    cluster.execute("CALL reset_horde()")
    create_login_roles(cluster)


def with_straggler(writers_at, pin, change):
    """(waits of the other writers as (seconds since the change was asked for, seconds), what the change says)"""
    with Writers(writers_at, STRAGGLER_WRITERS, pin, pause=PAUSE) as writers:
        writers.stop.wait(LEAD_SECONDS)
        with straggler(writers_at, STRAGGLER_SECONDS, pin):
            asked = time.monotonic()
            result = change()
        writers.stop.wait(LEAD_SECONDS)
    return [(at - asked, wait) for at, wait in writers.since(asked - LEAD_SECONDS)], result


def measure_straggler(cluster, sidecar):
    found = {}
    proxied, direct = sidecar.endpoint(), cluster.endpoint()
    taken = {}
    found["row locks"], taken["row locks"] = with_straggler(
        direct, ROW_PIN, lambda: change_by(cluster, ROW_CHANGE, PATIENCE))
    found["a plain exclusive lock"], taken["a plain exclusive lock"] = with_straggler(
        proxied, None, lambda: change_by(cluster, PLAIN_CHANGE, PATIENCE))
    for budget in BUDGETS_MS:
        fields = {"queue_budget": f"{budget}ms"}
        waits, (_, done) = with_straggler(
            proxied, None, lambda: change_by_sidecar(cluster, sidecar, **fields))  # noqa: B023
        found[f"ledgergate, queue_budget {budget} ms"] = waits
        longest = max(wait for _, wait in waits) * 1000
        allowed = budget + done["timings"]["hold"] + 50
        print(f"queue_budget {budget} ms: {done['state']} after {done['timings']['total']} ms in "
              f"{len(done['attempts'])} attempts; longest wait of another writer {longest:.0f} ms, "
              f"allowed {allowed:.0f} ms: {'kept' if longest <= allowed else 'NOT KEPT'}", flush=True)
    for name, seconds in taken.items():
        longest = max(wait for _, wait in found[name]) * 1000
        change = f"changed after {seconds * 1000:.0f} ms" if seconds else f"given up after {PATIENCE:.0f} s"
        print(f"{name}: {change}; longest wait of another writer {longest:.0f} ms", flush=True)
    return found


def measure_rate(cluster, sidecar):
    """{way: [(writers, fastest, median, slowest in ms)]}; a change that gave up counts as long as it was waited for."""
    found = {"ledgergate": [], "row locks": []}
    for count in COUNTS:
        for way in found:
            ours = way == "ledgergate"
            times = []
            endpoint = sidecar.endpoint() if ours else cluster.endpoint()
            with Writers(endpoint, count, None if ours else ROW_PIN, HOLD):
                for _ in range(CHANGES if ours else 2):
                    if ours:
                        seconds, _ = change_by_sidecar(cluster, sidecar)
                    else:
                        seconds = change_by(cluster, ROW_CHANGE, PATIENCE)
                    times.append((seconds if seconds is not None else PATIENCE) * 1000)
            times.sort()
            found[way].append((count, times[0], times[len(times) // 2], times[-1]))
            gave_up = " (gave up)" if times[-1] >= PATIENCE * 1000 else ""
            print(f"{count:4} writers, {way}: {times[0]:.0f} to {times[-1]:.0f} ms{gave_up}", flush=True)
    return found


def one_insert(cursor, connection):
    """Seconds of one pinned INSERT, which is rolled back."""
    began = time.monotonic()
    cursor.execute("INSERT INTO kudos_ledger (entry_type, user_id, amount) VALUES ('award', 1, 1)")
    took = time.monotonic() - began
    connection.rollback()
    return took


def measure_guards(cluster, sidecar, rounds=6, transactions=300):
    """The median time of a pinned INSERT without guard triggers and with each kind, in turns."""
    times = {"none": [], "refuse": [], "pin": []}
    for _ in range(rounds):
        for kind, kept in times.items():
            cluster.execute(sidecar.get("/v1/uninstall")[1]["sql"])
            cluster.execute(sidecar.get(f"/v1/install/{kind}")[1]["sql"])
            with contextlib.closing(psycopg2.connect(sidecar.endpoint().dsn())) as connection:
                cursor = connection.cursor()
                kept += [one_insert(cursor, connection) for _ in range(transactions)][20:]
    cluster.execute(sidecar.get("/v1/uninstall")[1]["sql"])
    for kind, kept in times.items():
        print(f"guard triggers, {kind}: {1e6 * statistics.median(kept):.0f} us for a pinned INSERT", flush=True)


def draw(name, script, tables):
    with tempfile.TemporaryDirectory() as folder:
        for number, rows in enumerate(tables):
            lines = [" ".join(f"{value:.4f}" for value in row) for row in rows]
            (pathlib.Path(folder) / f"t{number}").write_text("\n".join(lines) + "\n")
        head = "set terminal svg size 900,560 font 'sans,13' noenhanced background '#ffffff'\n"
        head += f"set output '{PLOTS / name}.svg'\n"
        subprocess.run(["gnuplot"], input=head + script, text=True, check=True, cwd=folder)


def draw_straggler(found):
    shown = {"row locks": "#b45a00", "a plain exclusive lock": "#8a2be2", "ledgergate, queue_budget 200 ms": "#1f5fa8"}
    # One wait in each 20 ms is enough for the eye, the longest.
    tables = []
    for name in shown:
        longest = {}
        for at, wait in found[name]:
            longest[round(at * 50)] = max(longest.get(round(at * 50), 0.0), wait)
        tables.append([(at / 50, wait * 1000) for at, wait in sorted(longest.items())])
    script = (
        "set multiplot layout 3,1 title '16 writers, a straggler of 3 s, a change of the mode asked for at 0 s'\n"
        "set logscale y\nset yrange [0.5:10000]\nset ytics (1,10,100,1000)\n"
        "set xrange [-1:4.5]\nset grid\nunset key\n"
        "set ylabel 'wait, ms'\n"
    )
    for number, (name, colour) in enumerate(shown.items()):
        axis = "set xlabel 'seconds'\n" if number == 2 else ""
        script += f"{axis}set title '{name}'\nplot 't{number}' with impulses lw 2 lc rgb '{colour}'\n"
    draw("straggler", script, tables)


def draw_rate(found):
    script = (
        "set title 'Time of a change against writers that leave no gap (each holds its pin for 20 ms)'\n"
        "set xlabel 'writers'\nset ylabel 'time of a change, ms (median, fastest, slowest)'\nset logscale xy\n"
        f"set xrange [0.8:320]\nset yrange [1:{PATIENCE * 2000:.0f}]\nset grid\nset xtics (1,2,4,8,16,32,64,128,256)\n"
        "set key outside bottom center horizontal\n"
        "plot 't0' using 1:3:2:4 with yerrorbars pt 7 lc rgb '#1f5fa8' title 'ledgergate', "
        "'t0' using 1:3 with lines lc rgb '#1f5fa8' notitle, "
        "'t1' using 1:3:2:4 with yerrorbars pt 5 lc rgb '#b45a00' title 'row locks (given up after 10 s)', "
        "'t1' using 1:3 with lines lc rgb '#b45a00' notitle\n"
    )
    draw("arrival_rate", script, [found["ledgergate"], found["row locks"]])


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", choices=["straggler", "rate", "guards"], help="one of the three")
    only = options.parse_args().only
    with Cluster({"max_connections": "400"}) as cluster:
        prepare(cluster)
        version = cluster.execute("SHOW server_version")[0][0].split()[0]
        for fact, value in machine.describe(types.SimpleNamespace(version=version), binary(), ()).items():
            print(f"{fact}: {value}")
        changes = {"transitions": {"guards": None, "steps": None}, "log": {"level": "warn"}}
        with Sidecar(cluster.endpoint(), changes) as sidecar:
            if only in (None, "straggler"):
                draw_straggler(measure_straggler(cluster, sidecar))
            if only in (None, "rate"):
                draw_rate(measure_rate(cluster, sidecar))
            if only in (None, "guards"):
                measure_guards(cluster, sidecar)
    return 0


if __name__ == "__main__":
    sys.exit(main())
