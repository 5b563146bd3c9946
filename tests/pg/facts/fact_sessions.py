"""What the fact tests share: lock messages, sessions over a raw socket, a look at the locks they hold."""

from support import wire
from support.waiting import wait_until

GATE = 0x4B55444D
APPLIER = 0x4B55444F

LOCK, LOCK_SHARED = 2880, 2881
UNLOCK_SHARED = 2885
XACT_LOCK, XACT_LOCK_SHARED = 3089, 3090

PIN_NAME = "_pin"
PIN_SQL = f"SELECT pg_catalog.pg_advisory_xact_lock_shared({GATE}::pg_catalog.int8)"
HOLD_SQL = f"SELECT pg_catalog.pg_advisory_lock_shared({GATE}::pg_catalog.int8)"


def facts_schema():
    """`control` is the control row, `led` the ledger; `two_transactions` commits and notes what is held."""
    return """
        DROP SCHEMA public CASCADE;
        CREATE SCHEMA public;
        CREATE TABLE control (id int PRIMARY KEY, mode text NOT NULL);
        INSERT INTO control VALUES (1, 'old');
        CREATE TABLE led (a int);
        CREATE TABLE accounts (id int PRIMARY KEY, kudos int NOT NULL);
        INSERT INTO accounts VALUES (1, 0), (2, 0);
        CREATE TABLE parents (id int PRIMARY KEY);
        CREATE TABLE children (parent int REFERENCES parents DEFERRABLE INITIALLY DEFERRED);
        CREATE TABLE seen (transaction_number int, pinned boolean);
        CREATE PROCEDURE note(transaction_number int) LANGUAGE sql AS $$
            INSERT INTO seen SELECT transaction_number, EXISTS (
                SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = pg_backend_pid()) $$;
        CREATE PROCEDURE two_transactions() LANGUAGE plpgsql AS $$
            BEGIN CALL note(1); COMMIT; CALL note(2); END $$;
        CREATE FUNCTION loud(a int) RETURNS int LANGUAGE plpgsql AS $$
            BEGIN RAISE NOTICE 'loud %', a; RETURN a; END $$;
    """


def call(oid, key=GATE):
    """FunctionCall of a lock function with one int8."""
    return wire.function_call(oid, [wire.int8(key)])


def run(sql, name="", portal=""):
    """Parse, Bind, Execute."""
    return wire.parse(sql, name) + wire.bind(portal, name) + wire.execute(portal)


def pin_in_batch(sql=PIN_SQL):
    """The pin as it travels inside a batch: under names of its own, whatever an earlier error left behind."""
    return (wire.close_statement(PIN_NAME) + run(sql, PIN_NAME, PIN_NAME)
            + wire.close_portal(PIN_NAME) + wire.close_statement(PIN_NAME))


PIN_REPLIES = ["3", "1", "2", "D", "C", "3", "3"]


class Session(wire.WireClient):
    def do(self, *texts):
        """Simple queries that must succeed."""
        for sql in texts:
            answer = self.simple(sql)
            assert "E" not in wire.kinds(answer), f"{sql}: {answer}"

    def value(self, sql):
        rows = self.rows(sql)
        assert len(rows) == 1 and len(rows[0]) == 1, f"{sql}: {rows}"
        return rows[0][0]

    def kinds(self, *parts, count=1):
        """Sends in one write; the types of the replies up to the `count`-th ReadyForQuery."""
        return wire.kinds(self.ask(*parts, count=count))

    def sqlstate(self, *parts, count=1):
        return wire.error_of(self.ask(*parts, count=count))["C"]


LOCKS = """SELECT mode, granted FROM pg_locks WHERE locktype = 'advisory' AND pid {pid}
              AND (classid::bigint << 32) | objid::bigint = {key}
              AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            ORDER BY mode"""


def locks(witness, session, key=GATE):
    """[(mode, granted)] of a session on a key; session None: of prepared transactions, which have no pid."""
    pid = f"= {session.pid}" if session else "IS NULL"
    return [(mode, granted == "t") for mode, granted in witness.rows(LOCKS.format(pid=pid, key=key))]


SHARED, EXCLUSIVE = [("ShareLock", True)], [("ExclusiveLock", True)]


def waits(witness, session):
    return witness.value(f"SELECT count(*) FROM pg_locks WHERE pid = {session.pid} AND NOT granted") == "1"


def await_waiting(witness, session):
    wait_until(lambda: waits(witness, session), f"backend {session.pid} to wait for a lock")


def tags(messages):
    """The tags of the CommandComplete messages."""
    return [m.body[:-1].decode() for m in messages if m.kind == "C"]


def values(messages):
    """The first column of every DataRow."""
    return [wire.data_row(m)[0] for m in messages if m.kind == "D"]
