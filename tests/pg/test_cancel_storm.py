"""Cancel requests at random moments: each costs at most one statement of the client's own, never a lock, and never hits
an injected statement unnoticed: what was answered as done is there, and nothing else is."""

import collections
import random
import re
import threading

import pytest

from support import wire
from support.gate import gate_locks
from support.waiting import wait_until
from test_cancel import send_cancel

SEED = 20_261_130
SESSIONS, MOST_SESSIONS = 40, 1000
TRANSACTIONS_OF_A_SESSION = 8
CANCELS, CUT_OFF = 400, 40  # at least so many are sent, and so many transactions hit
LONGEST_PAUSE = 0.005  # seconds between two cancels: most statements live


def insert(name):
    return f"INSERT INTO kudos_ledger (user_id, amount, note) VALUES (1, 1, '{name}')"


def batch(name):
    return lambda client: client.ask(wire.extended(insert(name)))


def copy_in(client):
    """A COPY, with its data sent only when the server asks for it."""
    client.send(wire.query("COPY kudos_ledger (user_id, amount, note) FROM STDIN"))
    answer = client.read_until("GZ")
    if answer[-1].kind == "Z":
        return answer
    return answer + client.ask(wire.copy_data(b"1\t1\tcopy\n") + wire.copy_done())


# Each transaction as the client sends it, step by step, and how many rows are there when all steps succeeded.
TRANSACTIONS = {
    "autocommit": ([insert("autocommit")], 1),
    "batch": ([batch("batch")], 1),
    "two in one text": ([f"{insert('two in one text')}; {insert('two in one text')}"], 2),
    "block": ([f"DO $$ BEGIN {insert('block')}; END $$"], 1),
    "transaction": (["BEGIN", insert("transaction"), "COMMIT"], 1),
    "batches": (["BEGIN", batch("batches"), batch("batches"), "COMMIT"], 2),
    "savepoint": (
        ["BEGIN", "SAVEPOINT a", insert("savepoint"), "ROLLBACK TO a", insert("savepoint"), "COMMIT"], 1),
    "snapshot": (["BEGIN ISOLATION LEVEL REPEATABLE READ", insert("snapshot"), "COMMIT"], 1),
    "copy": ([copy_in], 1),
}
# What a server may answer to one step, notices aside: its whole result, or as much of it as came before the cancel.
# A batch can be cancelled behind its CommandComplete; a simple query cannot, since that says that it is committed.
OF_ONE_STATEMENT = re.compile("CZ|EZ")
OF_TWO_STATEMENTS = re.compile("CCZ|C?EZ")
OF_A_BATCH = re.compile("12nCZ|(1(2(nC?)?)?)?EZ")
OF_A_COPY = re.compile("GCZ|G?EZ")


def answers_of(step):
    if isinstance(step, str):
        return OF_TWO_STATEMENTS if "; INSERT" in step else OF_ONE_STATEMENT
    return OF_A_COPY if step is copy_in else OF_A_BATCH


def take(client, step):
    """Whether a step succeeded, and the state behind it."""
    answer = client.simple(step) if isinstance(step, str) else step(client)
    kinds = "".join(m.kind for m in answer if m.kind != "N")
    assert answers_of(step).fullmatch(kinds), answer
    assert [m.fields()["C"] for m in answer if m.kind == "E"] in ([], ["57014"]), answer
    return "E" not in kinds, answer[-1].body


def run(client, steps):
    """Whether the whole transaction succeeded. A failed one is rolled back, however often that is cancelled too."""
    for step in steps:
        succeeded, state = take(client, step)
        if not succeeded:
            while state != b"I":
                _, state = take(client, "ROLLBACK")
            return False
    return True


class Storm(threading.Thread):
    """Cancels the session that is current, at random moments, until it is told to stop."""

    def __init__(self, endpoint, chance):
        super().__init__(daemon=True)
        self.endpoint, self.chance = endpoint, chance
        self.target = None
        self.sent = 0
        self.over = threading.Event()

    def run(self):
        while not self.over.wait(self.chance.uniform(0, LONGEST_PAUSE)):
            target = self.target
            if target is not None:
                send_cancel(self.endpoint, target.pid, target.secret)
                self.sent += 1


@pytest.fixture
def storm(proxied):
    started = Storm(proxied, random.Random(SEED + 1))
    started.start()
    yield started
    started.over.set()
    started.join(30)


def test_hundreds_of_cancels_leave_no_lock_and_no_lie(cluster, proxied, oracle, storm):
    print("seed", SEED)
    chance = random.Random(SEED)
    endpoint = proxied.replace(user="loader")
    rows, cut_off, sessions = collections.Counter(), 0, 0
    while sessions < SESSIONS or storm.sent < CANCELS or cut_off < CUT_OFF or len(rows) < len(TRANSACTIONS):
        assert sessions < MOST_SESSIONS, (storm.sent, cut_off, rows)
        sessions += 1
        with wire.WireClient(endpoint) as client:
            storm.target = client
            for _ in range(TRANSACTIONS_OF_A_SESSION):
                name = chance.choice(list(TRANSACTIONS))
                steps, count = TRANSACTIONS[name]
                if run(client, steps):
                    rows[name] += count
                else:
                    cut_off += 1
            # Told that it is idle, the client knows that it holds nothing, with cancels still coming in.
            assert gate_locks(cluster, client.pid) == []
            storm.target = None
    found = cluster.execute("SELECT note, count(*) FROM kudos_ledger WHERE note IS NOT NULL GROUP BY note")
    assert dict(found) == dict(rows)
    wait_until(lambda: gate_locks(cluster) == [], "the last locks to go")
    oracle.assert_clean()
