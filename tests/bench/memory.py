"""Resident memory of a fresh process of each proxy, before and with many idle sessions."""

import dataclasses

from lineup import HAPROXY, LEDGERGATE, PGBOUNCER, TITLES
from report import Table
from support import wire

WARM_UP_SESSIONS = 4
FIRST_QUERY = "select abalance from pgbench_accounts where aid = 1"


@dataclasses.dataclass(frozen=True)
class Footprint:
    empty_kib: int
    loaded_kib: int
    sessions: int

    @property
    def kib_per_session(self):
        return (self.loaded_kib - self.empty_kib) / self.sessions


def measure(lineup, plan, progress):
    progress.section(f"memory of {plan.idle_sessions} idle sessions")
    results = {}
    for name in (HAPROXY, PGBOUNCER, LEDGERGATE):
        if name in lineup:
            progress.step(TITLES[name])
            results[name] = _measure_one(lineup.start_copy(name, "fresh"), plan.idle_sessions)
            progress.line(f"{TITLES[name]}: {results[name].kib_per_session:.1f} KiB per session")
    return results


def _measure_one(leg, sessions):
    """A few sessions come and go first: code and caches needed once are not to be charged to the many."""
    clients = []
    try:
        _open_and_use(leg.endpoint, WARM_UP_SESSIONS, clients)
        _close_all(clients)
        empty = leg.process.resident_kib()
        _open_and_use(leg.endpoint, sessions, clients)
        return Footprint(empty, leg.process.resident_kib(), sessions)
    finally:
        _close_all(clients)
        leg.process.stop()


def _open_and_use(endpoint, count, clients):
    for _ in range(count):
        clients.append(wire.WireClient(endpoint))
        clients[-1].rows(FIRST_QUERY)


def _close_all(clients):
    while clients:
        with clients.pop() as client:
            client.send(wire.terminate())


def table(results):
    made = Table("Memory of idle sessions",
                 ["proxy", "sessions", "empty, KiB", "with them, KiB", "KiB per session"],
                 ["Resident memory of a fresh process. Each session has run one query and then stays idle;",
                  "what the kernel holds for its sockets is not in it."])
    for name, footprint in results.items():
        made.rows.append([TITLES[name], footprint.sessions, footprint.empty_kib, footprint.loaded_kib,
                          f"{footprint.kib_per_session:.1f}"])
    return made
