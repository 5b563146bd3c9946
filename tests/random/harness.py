"""A server, a sidecar and two equal databases for random sessions, and the two checks of a session.

`horde` is behind the sidecar and has the oracle; `horde_direct` is its copy, spoken to directly.
"""

import contextlib
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "random")]

import psycopg2  # noqa: E402

from oracle.oracle import Oracle  # noqa: E402
from player import Player  # noqa: E402
from support.pg_cluster import Cluster  # noqa: E402
from support.sidecar import APPLIER_KEY, GATE_KEY, Sidecar  # noqa: E402
from support.waiting import wait_until  # noqa: E402

DIRECT = "horde_direct"
# What leads to the ledger is for the catalog to find.
CONFIGURATION = {
    "log": {"level": "warn"},
    "gate": {"functions": [], "catalog": {"refresh": "10s"}},
    "transitions": {"queue_budget": "500ms", "deadline": "10s"},
}
LOCKS = f"""SELECT mode, virtualtransaction FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
             AND objid::bigint IN ({GATE_KEY}, {APPLIER_KEY}) AND pid = %s ORDER BY mode"""


SESSIONS = "FROM pg_stat_activity WHERE usename IN ('app', 'loader') AND datname = 'horde'"


class Watch:
    """A superuser's connection that stays, in the shape of the cluster that the oracle asks."""

    def __init__(self, cluster, dbname="horde"):
        self.log_file = cluster.log_file
        self.connection = cluster.superuser(dbname)
        self.cursor = self.connection.cursor()

    def execute(self, sql, parameters=None):
        self.cursor.execute(sql, parameters)
        return self.cursor.fetchall() if self.cursor.description else []

    def close(self):
        self.connection.close()


class Harness(contextlib.ExitStack):
    def __init__(self, settings=None):
        super().__init__()
        self.settings = settings or {}

    def __enter__(self):
        super().__enter__()
        try:
            self._start()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def _start(self):
        self.cluster = self.enter_context(Cluster(self.settings))
        prepare(self.cluster)
        self.sidecar = self.enter_context(Sidecar(self.cluster.endpoint(), CONFIGURATION))
        self._connect()
        self.direct = self.cluster.endpoint(unix=True, dbname=DIRECT)
        self.operator = self.cluster.endpoint(unix=True)
        self.proxied = self.sidecar.endpoint()
        rows = self.watch.execute("SELECT proname, oid::int FROM pg_proc WHERE proname = ANY (%s)", (CALLED,))
        self.functions = dict(rows)
        self.applied = 0

    @contextlib.contextmanager
    def other_sidecar(self, command):
        """Plays through a sidecar of another program for a while."""
        product = self.sidecar, self.proxied
        with Sidecar(self.cluster.endpoint(), CONFIGURATION, command=command) as self.sidecar:
            self.proxied = self.sidecar.endpoint()
            try:
                yield
            finally:
                self.sidecar, self.proxied = product

    def _connect(self):
        self.watch = self.enter_context(contextlib.closing(Watch(self.cluster)))
        self.watch_direct = self.enter_context(contextlib.closing(Watch(self.cluster, DIRECT)))
        self.oracle = Oracle(self.watch)

    def recover(self):
        """After a crash of the server: it starts again by itself."""

        def is_back():
            with contextlib.suppress(psycopg2.DatabaseError):
                self._connect()
                return True

        wait_until(is_back, "the server to recover from its crash")
        wait_until(lambda: self.sidecar.get("/readyz")[0] == 200, "the sidecar to be ready again")

    def reset(self):
        for watch in (self.watch, self.watch_direct):
            self.end_prepared(watch)
            watch.execute("CALL reset_random()")
        self.applied += 1
        if self.applied % 100 == 0:
            self.watch.execute("VACUUM")
            self.watch_direct.execute("VACUUM")

    def end_leftovers(self):
        """Behind a session that was given up in its middle: its backend must be gone before the next one."""
        self.watch.execute(f"SELECT pg_terminate_backend(pid) {SESSIONS}")
        wait_until(lambda: not self.watch.execute(f"SELECT pid {SESSIONS}"), "the session's backend to end")

    @staticmethod
    def prepared(watch):
        return watch.execute("SELECT gid FROM pg_prepared_xacts WHERE database = current_database()")

    @classmethod
    def end_prepared(cls, watch):
        for (gid,) in cls.prepared(watch):
            watch.execute(f"ROLLBACK PREPARED '{gid}'")

    def locks_of(self, pid):
        """The modes in which backend `pid` holds gate or applier key, and its transaction when it holds one."""
        rows = self.watch.execute(LOCKS, (pid,))
        return [mode for mode, _ in rows], rows[0][1] if rows else None

    def player(self, endpoint, session, **options):
        return Player(endpoint, session, self.functions, **options)


CALLED = ["int4abs", "post_by_mode", "post_credit", "announce"]


def prepare(cluster):
    cluster.execute("CREATE DATABASE horde", "postgres")
    for file in ("support/horde.sql", "oracle/oracle.sql", "random/schema.sql"):
        cluster.execute((TESTS / file).read_text())
    cluster.execute("CALL reset_horde(); CALL reset_random()")
    cluster.execute(f"CREATE DATABASE {DIRECT} TEMPLATE horde", "postgres")
    for database in ("horde", DIRECT):
        cluster.execute(f"ALTER DATABASE {database} SET lock_timeout = '2s'", "postgres")
    # What the oracle's triggers say there is nobody's business.
    cluster.execute(f"ALTER DATABASE {DIRECT} SET log_min_messages = 'fatal'", "postgres")
