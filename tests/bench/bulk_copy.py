"""COPY of wide rows through each program, out of the server and into it, in bytes per second."""

import os
import re

from lineup import DIRECT, HAPROXY, LEDGERGATE, PGBOUNCER, TITLES
from processes import BenchmarkError, run_checked
from report import Table
from rounds import median, paired_ratio
from server import client_environment

NAMES = (DIRECT, HAPROXY, PGBOUNCER, LEDGERGATE)
ROW_BYTES = 1920  # small enough for the server to store it in place and uncompressed


def measure(lineup, plan, progress, server):
    """{direction: {leg: [(bytes per second, processor milliseconds per 100 MB, or None without a proxy)]}}"""
    progress.section("bulk COPY")
    path = os.path.join(lineup.workspace, "bulk.copy")
    _prepare(server, plan, path)
    legs = lineup.legs(NAMES)
    results = {}
    for direction in ("out", "in"):
        samples = results[direction] = {leg.name: [] for leg in legs}
        for number in range(1 + plan.bulk_rounds):
            for leg in legs:
                progress.step(f"COPY {direction}: round {number}, {leg.title}")
                sample = _copy(server, leg, direction, path)
                if number > 0:  # the first one warms up
                    samples[leg.name].append(sample)
        progress.line(f"COPY {direction}: " + "; ".join(
            f"{TITLES[name]} {_megabytes_per_second(samples[name]):.0f} MB/s" for name in samples))
    return results


def _prepare(server, plan, path):
    server.sql("create unlogged table bulk_out (id int, payload text)")
    server.sql("create unlogged table bulk_in (like bulk_out)")
    server.sql(f"insert into bulk_out select number, repeat(md5(number::text), {ROW_BYTES // 32}) "
               f"from generate_series(1, {plan.bulk_bytes // ROW_BYTES}) number")
    run_checked([server.program("psql"), "-qX", "-o", path, "-c", "copy bulk_out to stdout"],
                env=client_environment(server.endpoint))


def _copy(server, leg, direction, path):
    psql = [server.program("psql"), "-qX", "-v", "ON_ERROR_STOP=1"]
    environment = client_environment(leg.endpoint)
    server.sql("truncate bulk_in")
    cpu_before = leg.cpu_seconds()
    if direction == "out":
        psql += ["-o", "/dev/null", "-c", "\\timing on", "-c", "copy bulk_out to stdout"]
        text = run_checked(psql, env=environment)
    else:
        psql += ["-c", "\\timing on", "-c", "copy bulk_in from stdin"]
        with open(path, "rb") as file:
            text = run_checked(psql, stdin=file, env=environment)
    cpu = leg.cpu_seconds() - cpu_before
    found = re.search(r"Time: ([0-9.]+) ms", text)
    if found is None:
        raise BenchmarkError(f"psql did not print the time of its COPY:\n{text}")
    size = os.path.getsize(path)
    return 1000 * size / float(found.group(1)), 1000 * cpu * 1e8 / size if leg.process else None


def _megabytes_per_second(samples):
    return median(rate for rate, _ in samples) / 1e6


def ratio(samples, name, base):
    return paired_ratio(*([rate for rate, _ in samples[one]] for one in (name, base)))


def table(results, plan):
    made = Table("Bulk COPY", ["direction, way", "MB/s", "x direct", "x HAProxy", "cpu ms per 100 MB"],
                 [f"{plan.bulk_bytes / 1e6:.0f} MB in rows of {ROW_BYTES} bytes through psql; median of "
                  f"{plan.bulk_rounds} rounds, ratios within the same round."])
    for direction, samples in results.items():
        for name, rounds in samples.items():
            ratios = [f"{ratio(samples, name, base):.2f}" if base in samples else "-"
                      for base in (DIRECT, HAPROXY)]
            cpu = "-" if name == DIRECT else f"{median(value for _, value in rounds):.0f}"
            made.rows.append([f"{direction}, {TITLES[name]}", f"{_megabytes_per_second(rounds):.0f}",
                              *ratios, cpu])
    return made
