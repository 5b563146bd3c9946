"""The programs under measurement, started once and kept running while they are measured in turn."""

import dataclasses

import ledgergate
import peers
from support.endpoint import Endpoint

DIRECT = "direct"
HAPROXY = "haproxy"
PGBOUNCER = "pgbouncer"
LEDGERGATE = "ledgergate"
PINNING = "pinning"
FLOOR = "floor"
UNIX = "unix"

TITLES = {
    DIRECT: "direct",
    HAPROXY: "HAProxy",
    PGBOUNCER: "PgBouncer",
    LEDGERGATE: "ledgergate",
    PINNING: "ledgergate, pinning",
    FLOOR: "floor relay",
    UNIX: "ledgergate, unix socket",
}

# What the first table compares, and what stands beside it where the protocol is `prepared`.
CORE = (DIRECT, HAPROXY, PGBOUNCER, LEDGERGATE, PINNING)
EXTRAS = (FLOOR, UNIX)

_PEERS = {HAPROXY: peers.start_haproxy, PGBOUNCER: peers.start_pgbouncer, FLOOR: peers.start_floor_relay}
_TABLES = {LEDGERGATE: ledgergate.UNTOUCHED_TABLE, PINNING: ledgergate.TOUCHED_TABLE}


@dataclasses.dataclass(frozen=True)
class Leg:
    """One way from a client to the server."""

    name: str
    endpoint: Endpoint
    process: object = None   # the proxy on the way; None on the direct one
    sidecar: object = None   # the Ledgergate of that process, if it is one

    @property
    def title(self):
        return TITLES[self.name]

    def cpu_seconds(self):
        return self.process.cpu_seconds() if self.process else 0.0


class Lineup:
    """Starts what the chosen names ask for. `cleanup` is an ExitStack that stops everything in the end."""

    def __init__(self, names, workspace, server, binary, cleanup):
        self.workspace = workspace
        self._server = server
        self._binary = binary
        self._cleanup = cleanup
        self._legs = {name: self._start(name) for name in (*CORE, FLOOR) if name in names}
        if UNIX in names:
            sidecar = self._legs[LEDGERGATE].sidecar
            self._legs[UNIX] = Leg(UNIX, sidecar.unix_endpoint, sidecar.process, sidecar)

    def __contains__(self, name):
        return name in self._legs

    def legs(self, names):
        """The legs of these names that take part in this run, in the order of the names."""
        return [self._legs[name] for name in names if name in self._legs]

    def start_copy(self, name, suffix, upstream=None):
        """One more proxy of that name. The caller may stop it; otherwise it is stopped in the end."""
        label = f"{name}-{suffix}"
        if name in _TABLES:
            sidecar = ledgergate.Ledgergate(label, self.workspace, self._binary, self._server,
                                            _TABLES[name], upstream)
            process, endpoint = sidecar.process, sidecar.endpoint
        else:
            sidecar = None
            process, endpoint = _PEERS[name](label, self.workspace, self._server)
        self._cleanup.callback(process.stop)
        return Leg(name, endpoint, process, sidecar)

    def _start(self, name):
        return Leg(name, self._server) if name == DIRECT else self.start_copy(name, "main")
