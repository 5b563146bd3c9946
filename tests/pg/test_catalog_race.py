"""The answer to DDL comes when every worker of the sidecar knows the new way: whoever uses it then is pinned."""

import threading

import psycopg2
import pytest

from support.sidecar import Sidecar

ROUNDS = 40
TOUCHERS = 8  # the sidecar has two workers and deals clients out evenly: both have some

WAYS = {
    "a view": ("CREATE VIEW made.way{n} AS SELECT * FROM kudos_ledger", "SELECT count(*) FROM made.way{n}"),
    "a function": (
        "CREATE FUNCTION made.way{n}() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM kudos_ledger'",
        "SELECT made.way{n}()",
    ),
}


@pytest.fixture(scope="module")
def gated(cluster):
    settings = {"limits": {"threads": 2}, "gate": {"functions": [], "catalog": {"refresh": "1h"}}}
    with Sidecar(cluster.endpoint(), settings) as started:
        yield started


def connect(sidecar):
    connection = psycopg2.connect(sidecar.endpoint().dsn())
    connection.autocommit = True
    return connection


class Toucher(threading.Thread):
    """Runs each statement that it is given as soon as it is given."""

    def __init__(self, sidecar, barrier):
        super().__init__()
        self.connection = connect(sidecar)
        self.cursor = self.connection.cursor()
        self.cursor.execute("SELECT 1")
        self.barrier = barrier
        self.statement = None
        self.failure = None

    def run(self):
        try:
            while True:
                self.barrier.wait()
                if self.statement is None:
                    break
                self.cursor.execute(self.statement)
                self.barrier.wait()
        except Exception as failure:
            self.failure = failure
            self.barrier.abort()
        finally:
            self.connection.close()


@pytest.mark.parametrize("definition, touch", WAYS.values(), ids=WAYS.keys())
def test_what_was_just_defined_is_pinned_on_every_worker(cluster, gated, oracle, definition, touch):
    cluster.execute("DROP SCHEMA IF EXISTS made CASCADE; CREATE SCHEMA made AUTHORIZATION app")
    barrier = threading.Barrier(TOUCHERS + 1, timeout=60)
    definer = connect(gated)
    touchers = [Toucher(gated, barrier) for _ in range(TOUCHERS)]
    for each in touchers:
        each.start()
    try:
        for n in range(ROUNDS):
            for each in touchers:
                each.statement = touch.format(n=n)
            definer.cursor().execute(definition.format(n=n))
            barrier.wait()
            barrier.wait()
        for each in touchers:
            each.statement = None
        barrier.wait()
    finally:
        barrier.abort() if any(each.failure for each in touchers) else None
        for each in touchers:
            each.join()
        definer.close()
        cluster.execute("DROP SCHEMA made CASCADE")
    assert not [each.failure for each in touchers if each.failure]
    oracle.assert_clean(at_least=ROUNDS * TOUCHERS)
