"""What the project aims at beside what was measured. It only informs: nothing passes or fails by a timing."""

import bulk_copy
import pin_cost
import system_calls
import throughput
from lineup import HAPROXY, LEDGERGATE, PGBOUNCER, TITLES
from report import Table


def table(results):
    made = Table("Aims", ["aim", "measured", "reached"], [
        "For information. On a shared machine the ratios of throughput are noisy; processor time and system",
        "calls are steadier."])
    for section, rows in (("syscalls", _system_calls), ("throughput", _throughput), ("pins", _pins),
                          ("copy", _copy), ("memory", _memory)):
        for aim, shown, is_reached in rows(results[section]) if section in results else ():
            made.rows.append([aim, shown, "yes" if is_reached else "no"])
    return made


def _system_calls(results):
    if LEDGERGATE in results:
        calls = system_calls.without_waits(results[LEDGERGATE])
        waits = results[LEDGERGATE]["kinds"]["wait"]
        # Connecting is in the figure too, so it is rounded before it is compared.
        yield ("system calls per untouched transaction: 4, plus at most one wait",
               f"{calls:.2f} + {waits:.2f}", round(calls, 1) <= 4 and round(waits, 1) <= 1)


def _throughput(results):
    for cell, samples in results.items():
        if LEDGERGATE in samples and PGBOUNCER in samples:
            own, other = (throughput.cpu_microseconds(samples, name) for name in (LEDGERGATE, PGBOUNCER))
            yield (f"{cell.title}: processor time not above PgBouncer's", f"{own:.1f} us, {other:.1f} us",
                   own <= other)
        ratios = {name: throughput.ratio_to_direct(samples, name) for name in (HAPROXY, PGBOUNCER, LEDGERGATE)
                  if name in samples}
        own = ratios.pop(LEDGERGATE, None)
        if own is not None and ratios:
            best = max(ratios, key=ratios.get)
            yield (f"{cell.title}: throughput not below the best peer's",
                   f"{own:.2f}, {ratios[best]:.2f} ({TITLES[best]})", own >= ratios[best])


def _pins(results):
    for distance in results:
        percent = pin_cost.pin_percent(results, distance)
        if percent is not None:
            yield (f"a pinned transaction within 3 % of an unpinned one, {distance}",
                   f"{percent:+.1f} % in the median", percent <= 3)


def _copy(results):
    for direction, samples in results.items():
        if LEDGERGATE in samples and HAPROXY in samples:
            ratio = bulk_copy.ratio(samples, LEDGERGATE, HAPROXY)
            yield f"COPY {direction} within 5 % of HAProxy's bytes per second", f"{ratio:.2f}", ratio >= 0.95


def _memory(results):
    if LEDGERGATE in results:
        kib = results[LEDGERGATE].kib_per_session
        yield "8 KiB of memory per idle session", f"{kib:.1f} KiB", kib <= 8
