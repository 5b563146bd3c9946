"""The throw-away PostgreSQL that everything of one run is measured against, filled with pgbench's tables."""

from processes import run_checked
from support.pg_cluster import Cluster

USER = "bench"
DATABASE = "bench"
SCALE = 10
ACCOUNTS = 100000 * SCALE

# No flushing and no background work: the server is to add as little noise as it can to the comparison of
# what stands in front of it. Connections suffice for the idle sessions of the table of memory.
SETTINGS = {
    "max_connections": "300",
    "max_prepared_transactions": "0",
    "shared_buffers": "'1GB'",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "'4GB'",
    "checkpoint_timeout": "'1h'",
    "track_commit_timestamp": "off",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
}

CONTROL_ROW = """
create table kudos_ledger (event_id bigint primary key, amount numeric(20,2) not null);
create table kudos_ledger_control (id smallint primary key, mode varchar(16) not null, changed_at timestamp);
insert into kudos_ledger_control values (1, 'shadow', now());
"""


class Server:
    """Use it as a context manager."""

    def __init__(self):
        self._cluster = Cluster(SETTINGS)

    def __enter__(self):
        self._cluster.__enter__()
        try:
            self._fill()
        except BaseException:
            self._cluster.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self._cluster.__exit__()

    @property
    def endpoint(self):
        return self._cluster.endpoint(USER, DATABASE)

    @property
    def pid(self):
        return self._cluster.process.pid

    @property
    def version(self):
        return self.sql("show server_version").split()[0]

    def program(self, name):
        return str(self._cluster.binaries / name)

    def sql(self, text):
        """Runs it as the user of the benchmark; returns what psql prints."""
        command = [self.program("psql"), "-qAtX", "-v", "ON_ERROR_STOP=1", "-c", text]
        return run_checked(command, env=client_environment(self.endpoint)).strip()

    def _fill(self):
        self._cluster.execute(f"create role {USER} login", dbname="postgres")
        self._cluster.execute(f"create database {DATABASE} owner {USER}", dbname="postgres")
        self.sql(CONTROL_ROW)
        run_checked([self.program("pgbench"), "--initialize", "--quiet", "--init-steps=dtGvp",
                     f"--scale={SCALE}", "--unlogged-tables"], env=client_environment(self.endpoint))
        self.sql("select sum(abalance) from pgbench_accounts")  # everything is in memory from here on


def client_environment(endpoint):
    """What a libpq program needs to get through to the database, and nothing of ours beside it."""
    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "PGSSLMODE": "disable", "PGGSSENCMODE": "disable",
            **endpoint.environment()}
