"""The network of the benchmark: a relay of our own that makes every byte late, in both directions alike.

It needs no privilege over the kernel and no module of it, so it is the same on every machine.
"""

import time

import peers
from rounds import median
from support import wire

PROBES = 300


def start(workspace, server, round_trip_microseconds, cleanup):
    """Returns its process, the endpoint behind it, and the microseconds it really adds to a round trip.

    Passing through a relay takes time too. A first relay shows how much; the one that stays waits that much
    less.
    """
    base = _round_trip_microseconds(server)
    half = round_trip_microseconds // 2
    process, endpoint = peers.start_delay_relay("network-probe", workspace, server, half)
    try:
        excess = _round_trip_microseconds(endpoint) - base - 2 * half
    finally:
        process.stop()
    one_way = max(0, round(half - excess / 2))
    process, endpoint = peers.start_delay_relay("network", workspace, server, one_way)
    cleanup.callback(process.stop)
    return process, endpoint, _round_trip_microseconds(endpoint) - base


def _round_trip_microseconds(endpoint):
    """The median time of an empty query on one connection."""
    times = []
    with wire.WireClient(endpoint) as client:
        for _ in range(PROBES):
            begin = time.perf_counter()
            client.simple("")
            times.append(time.perf_counter() - begin)
        client.send(wire.terminate())
    return 1e6 * median(times)
