"""The second table: what a pin costs through the sidecar, and what it costs a client that pins itself.

The sidecar sits beside its application, so the network is between sidecar and server; on the direct way it is
between client and server. Everything runs on one processor.
"""

import dataclasses

import network
from ledgergate import check_pins
from lineup import DIRECT, LEDGERGATE, PINNING, Leg
from pgbench import Load, write_script
from processors import on_one_processor
from report import Table
from rounds import median, paired_difference, paired_ratio
from support.sidecar import GATE_KEY

TOUCH = "SELECT abalance FROM pgbench_accounts WHERE aid = :aid"
OWN_PIN = f"SELECT pg_advisory_xact_lock_shared({GATE_KEY})"

SELF_PINNED = "self-pinned"
CALIBRATING_TRANSACTIONS = 50

NEAR = "no network between"
FAR = "over a network"


@dataclasses.dataclass(frozen=True)
class Shape:
    title: str
    protocol: str
    is_transaction: bool

    def statements(self, variant):
        """Whoever pins itself needs a transaction around it, for the pin to last until the touch."""
        if variant == SELF_PINNED:
            return ["BEGIN", OWN_PIN, TOUCH, "COMMIT"]
        return ["BEGIN", TOUCH, "COMMIT"] if self.is_transaction else [TOUCH]


SHAPES = (
    Shape("autocommit, simple", "simple", False),
    Shape("autocommit, extended", "extended", False),
    Shape("transaction, simple", "simple", True),
    Shape("transaction, extended", "extended", True),
)


def measure(lineup, pgbench, plan, progress, server, cleanup):
    """({distance: {(shape, clients): {variant: latencies in us}}}, the round trip of the network)"""
    with on_one_processor([server.pid]):
        wire, far_server, round_trip = network.start(
            lineup.workspace, server.endpoint, plan.delay_microseconds, cleanup)
    progress.section(f"what a pin costs (the network adds {round_trip:.0f} us to a round trip)")
    near = {leg.name: leg for leg in lineup.legs((DIRECT, LEDGERGATE, PINNING))}
    far = {name: Leg(DIRECT, far_server) if name == DIRECT else lineup.start_copy(name, "far", far_server)
           for name in near}
    proxies = [leg.process.pid for leg in (*near.values(), *far.values()) if leg.process]
    with on_one_processor([server.pid, wire.pid, *proxies]):
        # Several clients at once would keep the one processor busy and hide the waiting for the network.
        results = {NEAR: _measure(NEAR, near, plan.pin_clients, lineup.workspace, pgbench, plan, progress),
                   FAR: _measure(FAR, far, (1,), lineup.workspace, pgbench, plan, progress)}
    return results, round_trip


def _measure(distance, legs, client_counts, workspace, pgbench, plan, progress):
    variants = {DIRECT: legs[DIRECT], SELF_PINNED: legs[DIRECT], **legs}
    results = {}
    for shape in SHAPES:
        scripts = {variant: write_script(workspace, f"touch-{variant}", shape.statements(variant))
                   for variant in variants}
        for clients in client_counts:
            progress.step(f"{distance}: {shape.title}, clients {clients}")
            loads = {variant: Load(scripts[variant], shape.protocol, clients) for variant in variants}
            latencies = results[shape.title, clients] = _in_turn(pgbench, variants, loads, plan)
            progress.line(f"{distance}: {shape.title}, clients {clients}: " + "; ".join(
                f"{variant} {median(values):.1f} us" for variant, values in latencies.items()))
    return results


def _in_turn(pgbench, variants, loads, plan):
    """Short rounds, since the four variants of a round can only be compared when they are close in time.

    A trial says how many transactions fill a round; it also warms up.
    """
    sized = {}
    for variant, load in loads.items():
        trial = dataclasses.replace(load, transactions_per_client=CALIBRATING_TRANSACTIONS)
        latency = _run(pgbench, variant, variants[variant], trial)
        count = max(CALIBRATING_TRANSACTIONS, round(1e6 * plan.pin_seconds / latency))
        sized[variant] = dataclasses.replace(load, transactions_per_client=count)
    latencies = {variant: [] for variant in variants}
    for _ in range(plan.pin_rounds):
        for variant, leg in variants.items():
            latencies[variant].append(_run(pgbench, variant, leg, sized[variant]))
    return latencies


def _run(pgbench, variant, leg, load):
    before = leg.sidecar.pins() if leg.sidecar else 0
    outcome = pgbench.run(load, leg.endpoint)
    if leg.sidecar:
        check_pins(variant == PINNING, leg.sidecar.pins() - before, outcome.transactions, leg.title)
    return outcome.latency_microseconds


def tables(results, round_trip, plan):
    notes = {NEAR: "Nothing but the loopback interface between client, sidecar and server.",
             FAR: f"A network adds {round_trip:.0f} us to each round trip to the server, from the sidecar or "
                  "(direct) from the client."}
    return [_table(distance, rows, notes[distance], plan) for distance, rows in results.items()]


def _table(distance, rows, note, plan):
    made = Table(f"What a pin costs, {distance}",
                 ["shape, clients", "direct", "pinning itself", "its own pin costs", "sidecar",
                  "sidecar, pinning", "its pin costs"],
                 ["Microseconds per transaction as the client sees it, everything on one processor; median "
                  f"of {plan.pin_rounds} rounds of {plan.pin_seconds} s.", note])
    for (title, clients), latencies in rows.items():
        made.rows.append([f"{title}, {clients}", *_pair(latencies, DIRECT, SELF_PINNED),
                          *_pair(latencies, LEDGERGATE, PINNING)])
    return made


def _pair(latencies, base, pinned):
    both = (base, pinned)
    shown = [f"{median(latencies[variant]):.1f}" if variant in latencies else "-" for variant in both]
    if base not in latencies or pinned not in latencies:
        return [*shown, "-"]
    difference = paired_difference(latencies[pinned], latencies[base])
    percent = 100 * (paired_ratio(latencies[pinned], latencies[base]) - 1)
    return [*shown, f"{difference:+.1f} ({percent:+.1f} %)"]


def pin_percent(results, distance):
    """What the sidecar's pin costs: the median over shapes and numbers of clients; None if not run."""
    costs = [100 * (paired_ratio(latencies[PINNING], latencies[LEDGERGATE]) - 1)
             for latencies in results[distance].values() if PINNING in latencies and LEDGERGATE in latencies]
    return median(costs) if costs else None
