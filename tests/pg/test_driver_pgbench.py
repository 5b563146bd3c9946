"""pgbench, unmodified: all three protocols and pipelines, several clients at once."""

import pathlib
import re

import drivers
import pytest

SCRIPTS = pathlib.Path(__file__).resolve().parent / "pgbench"
CLIENTS, TRANSACTIONS = 4, 25
# What depends on the clock says nothing about equality.
TIMES = re.compile(
    r"^(latency|tps|initial connection time|average connection time|number of threads).*\n", re.M
)
BALANCES = "SELECT id, kudos FROM users ORDER BY id"


def pgbench(script, protocol, *extra):
    return [
        "pgbench",
        "-n",
        "-f",
        str(SCRIPTS / f"{script}.sql"),
        "-M",
        protocol,
        "-c",
        str(CLIENTS),
        "-j",
        "1",
        "-t",
        str(TRANSACTIONS),
        "--random-seed=20",
        *extra,
    ]


CASES = [
    (script, protocol)
    for protocol in ("simple", "extended", "prepared")
    for script in ("autocommit", "transaction", "pipeline", "pipelined_transaction")
    if not (protocol == "simple" and "pipeline" in script)
]


@pytest.mark.parametrize("script, protocol", CASES)
def test_pgbench_reports_and_leaves_the_same(cluster, oracle, direct, proxied, script, protocol):
    def client(endpoint):
        output = drivers.run(endpoint, pgbench(script, protocol))
        return TIMES.sub("", output), cluster.execute(BALANCES)

    output, _ = drivers.compare(cluster, oracle, direct, proxied, client, CLIENTS * TRANSACTIONS)
    assert f"transactions actually processed: {CLIENTS * TRANSACTIONS}/{CLIENTS * TRANSACTIONS}" in output
    assert oracle.unbalanced() == []


def test_pgbench_may_connect_anew_for_each_transaction(cluster, oracle, direct, proxied):
    def client(endpoint):
        return TIMES.sub("", drivers.run(endpoint, pgbench("transaction", "extended", "-C")))

    drivers.compare(cluster, oracle, direct, proxied, client, CLIENTS * TRANSACTIONS)


@pytest.mark.parametrize("protocol", ["simple", "extended", "prepared"])
def test_pgbench_that_touches_nothing_is_never_pinned(cluster, oracle, direct, proxied, sidecar, protocol):
    pins = sidecar.metric("ledgergate_pins_total")
    outputs = [
        TIMES.sub("", drivers.run(endpoint, pgbench("untouched", protocol))) for endpoint in (direct, proxied)
    ]
    assert outputs[0] == outputs[1]
    assert oracle.touches() == []
    assert sidecar.metric("ledgergate_pins_total") == pins


def test_pgbench_initialises_and_runs_its_own_tables(cluster, proxied):
    """COPY and plain DDL in one go (and in one transaction), then the built-in transaction."""
    drivers.run(proxied, ["pgbench", "-i", "-I", "dtgvp", "-s", "1", "-q"])
    output = drivers.run(proxied, ["pgbench", "-c", "4", "-t", "10", "-M", "prepared"])
    assert "transactions actually processed: 40/40" in output
    assert cluster.execute("SELECT count(*) FROM pgbench_accounts") == [(100000,)]
    sums = "SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(delta) FROM pgbench_history)"
    assert cluster.execute(sums) == [(True,)]
    cluster.execute("DROP TABLE pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers")
