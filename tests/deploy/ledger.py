"""A horde's ledger on a throw-away server as deploy/sql leaves it, and what its writers and operators do with
it."""

import dataclasses
import decimal
import subprocess
import uuid

import horde
import psycopg2
import psycopg2.extras
from support.gatectl import gatectl
from support.pg_cluster import SUPERUSER
from support.sidecar import ROOT
from support.waiting import wait_until

DEPLOY = ROOT / "deploy"
DATABASE, OWNER, APPLICATION, CONTROL = "horde", "horde_owner", "horde_app", "gate_operator"

# What the sidecar of tests/support has to be told about this ledger.
CONFIGURATION = {
    "gate": {
        "functions": [],
        "tables": [
            *[
                {"name": name}
                for name in (
                    "kudos_ledger",
                    "kudos_stat_events",
                    "kudos_reservations",
                    "kudos_balance_snapshots",
                )
            ],
            *[
                {"name": name, "pin_on": "lock"}
                for name in ("users", "user_stats", "kudos_ledger_applier_state")
            ],
        ],
    },
    "transitions": {
        "guards": {"ledger": [], "shadow": ["SELECT count(*) < 100000 FROM kudos_ledger WHERE NOT applied"]},
        "steps": {"shadow": [(DEPLOY / "quickstart.d/final_fold.sql").read_text()]},
        "evict_idle_after": "1s",
    },
}


def create(cluster):
    """The database, in which PUBLIC may nothing, and its tables. No role has a privilege yet but the owner."""
    cluster.execute(f"CREATE ROLE {OWNER} LOGIN", "postgres")
    cluster.execute(f"CREATE DATABASE {DATABASE} OWNER {OWNER}", "postgres")
    cluster.execute(f"REVOKE ALL ON DATABASE {DATABASE} FROM PUBLIC; REVOKE ALL ON SCHEMA public FROM PUBLIC")
    cluster.execute(f"GRANT ALL ON SCHEMA public TO {OWNER}")
    schema = (DEPLOY / "quickstart.d/schema.sql").read_text().replace(":users", "20")
    cluster.execute(f"SET ROLE {OWNER}; {schema}")


def run_script(cluster, file, *variables, role=SUPERUSER):
    """psql as an operator calls it; returns what it printed."""
    options = [word for pair in variables for word in ("-v", pair)]
    done = subprocess.run(
        [
            cluster.binaries / "psql",
            "--no-psqlrc",
            "-d",
            cluster.endpoint(role, DATABASE, unix=True).dsn(),
            *options,
            "-f",
            file,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{file} failed:\n{done.stdout}{done.stderr}"
    return done.stdout


def grant_roles(cluster):
    run_script(cluster, DEPLOY / "sql/control-role.sql", "evict=on")
    run_script(cluster, DEPLOY / "sql/app-role.sql", f"app_role={APPLICATION}")
    run_script(cluster, DEPLOY / "quickstart.d/operator.sql")


def install(cluster, sidecar, guards="refuse"):
    dsn = cluster.endpoint(SUPERUSER, DATABASE, unix=True).dsn()
    code, _, errors = gatectl(sidecar, "install", "--dsn", dsn, "--guards", guards, "--yes")
    assert code == 0, errors


@dataclasses.dataclass
class Job:
    payer: int = 1
    payee: int = 2
    amount: decimal.Decimal = decimal.Decimal(3)
    escrow: bool = False
    event: str = dataclasses.field(default_factory=lambda: str(uuid.uuid4()))


class Writer:
    """The client that the texts of quickstart.d/horde.py are for."""

    def __init__(self, endpoint):
        self.connection = psycopg2.connect(endpoint.replace(user=APPLICATION).dsn(application_name="writer"))
        self.cursor = self.connection.cursor()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def run(self, text, values=None):
        self.cursor.execute(text, values)

    def rows(self, text, values=None):
        self.run(text, values)
        return self.cursor.fetchall()

    def row(self, text, values=None):
        return self.rows(text, values)[0]

    def think(self):
        """A writer of the demonstration works here; this one has nothing to do."""


def write_and_fold(endpoint):
    """What a horde does all day: settlements, transfers, a cycle of the projector, a report at REPEATABLE READ."""
    with Writer(endpoint) as writer:
        horde.settle(writer, Job())
        writer.connection.commit()
        horde.transfer(writer, Job())
        writer.connection.commit()
        assert horde.project(writer) in (True, False)
        writer.connection.commit()
        writer.connection.set_session(isolation_level="REPEATABLE READ")
        assert writer.row("SELECT sum(amount) FROM kudos_ledger")[0] == 0
        writer.connection.commit()


def flip(sidecar, mode):
    # The one before says `committed` a moment before the next may begin.
    wait_until(lambda: sidecar.get("/v1/status")[1]["transition"] is None, "the last transition to be over")
    done = sidecar.flip(mode, deadline=30, reason="a test")
    assert done["state"] == "committed", f"to {mode}: {done}"
    return done


def await_recorded(sidecar):
    """The audit table has the last transition, with what is known of it only after its commit."""

    def recorded():
        newest = sidecar.get("/v1/transitions")[1]["transitions"][0]
        return newest["recorded"]

    wait_until(recorded, "the transition to be in the audit table", deadline=5)
