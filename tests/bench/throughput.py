"""The first table: throughput as a ratio to the direct way, and the proxy's own cost of a transaction."""

import dataclasses

from ledgergate import check_pins
from lineup import CORE, DIRECT, EXTRAS, LEDGERGATE, PINNING, TITLES
from pgbench import Load
from report import Table
from rounds import median, paired_ratio


@dataclasses.dataclass(frozen=True)
class Cell:
    """One row of the table."""

    workload: str
    protocol: str
    clients: int

    @property
    def title(self):
        workload = "" if self.workload == "select" else self.workload + ", "
        return f"{workload}{self.protocol}, {self.clients} client{'s' if self.clients > 1 else ''}"

    @property
    def names(self):
        has_extras = self.protocol == "prepared" and self.workload == "select"
        return CORE + EXTRAS if has_extras else CORE


@dataclasses.dataclass(frozen=True)
class Sample:
    """One leg in one round. Without a proxy on the way the processor time is None."""

    transactions: int
    per_second: float
    cpu_microseconds: float | None


def measure(lineup, pgbench, plan, progress):
    """{cell: {leg: samples}}: cell after cell, in each round after round, in each leg after leg."""
    progress.section("throughput and processor time")
    for leg in lineup.legs(CORE + EXTRAS):
        progress.step(f"warming up {leg.title}")
        pgbench.run(Load("select", "prepared", 8, seconds=1), leg.endpoint)
    results = {}
    for cell in plan.cells:
        legs = lineup.legs(cell.names)
        results[cell] = {leg.name: [] for leg in legs}
        for number in range(1, plan.rounds + 1):
            for leg in legs:
                progress.step(f"{cell.title}: round {number}, {leg.title}")
                results[cell][leg.name].append(_sample(pgbench, leg, cell, plan.seconds))
        progress.line(f"{cell.title}: {_summary(results[cell])}")
    return results


def _sample(pgbench, leg, cell, seconds):
    pins_before = leg.sidecar.pins() if leg.sidecar else 0
    cpu_before = leg.cpu_seconds()
    outcome = pgbench.run(Load(cell.workload, cell.protocol, cell.clients, seconds), leg.endpoint)
    cpu = leg.cpu_seconds() - cpu_before
    if leg.sidecar:
        check_pins(leg.name == PINNING, leg.sidecar.pins() - pins_before, outcome.transactions, leg.title)
    return Sample(outcome.transactions, outcome.per_second,
                  1e6 * cpu / outcome.transactions if leg.process else None)


def _summary(samples):
    parts = []
    for name in samples:
        cpu = "" if name == DIRECT else f" {cpu_microseconds(samples, name):.1f} us"
        parts.append(f"{TITLES[name]} {per_second(samples, name):.0f}/s{cpu}")
    return "; ".join(parts)


def per_second(samples, name):
    return median(sample.per_second for sample in samples[name])


def cpu_microseconds(samples, name):
    return median(sample.cpu_microseconds for sample in samples[name])


def ratio_to_direct(samples, name):
    return paired_ratio(*([sample.per_second for sample in samples[one]] for one in (name, DIRECT)))


def tables(results, plan):
    """The core for every cell; the extras, where they were measured, in a table of their own."""
    core = Table("Throughput and processor time per transaction", ["workload", "direct, tx/s"], [
        f"Median of {plan.rounds} rounds of {plan.seconds} s. `x`: throughput as a ratio to the direct way in"
        " the same round.",
        "`us`: the proxy's own processor time per transaction, in microseconds."])
    _fill(core, results, CORE)
    extras = Table("The same beside a floor, and over a unix socket", ["workload", "direct, tx/s"], [
        "The floor relay is a bare epoll loop without framing.",
        "The unix socket is between client and sidecar."])
    measured = set(EXTRAS)
    _fill(extras, {cell: samples for cell, samples in results.items() if measured & samples.keys()},
          (LEDGERGATE, *EXTRAS))
    return [table for table in (core, extras) if table.rows]


def _fill(table, results, names):
    measured = [name for name in names
                if name != DIRECT and any(name in samples for samples in results.values())]
    for name in measured:
        table.headers += [f"{TITLES[name]}, x", "us"]
    for cell, samples in results.items():
        row = [cell.title, f"{per_second(samples, DIRECT):.0f}"]
        for name in measured:
            row += [f"{ratio_to_direct(samples, name):.2f}", f"{cpu_microseconds(samples, name):.1f}"]
        table.rows.append(row)
