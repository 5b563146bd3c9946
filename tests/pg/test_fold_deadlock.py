"""Writers that lock the fold's rows before they are pinned, against the operators' advice: each deadlock takes the
transition's attempt and never a writer, and the transition gets through in the end."""

import random
import threading

import psycopg2
from support.sidecar import Sidecar
from support.waiting import wait_until

WRITERS = 3
SEED = 20261201


class Writers:
    """Each transaction locks a row that the fold writes, and only then touches the ledger."""

    def __init__(self, endpoint):
        self.endpoint = endpoint
        self.stop = threading.Event()
        self.failures = []
        self.transactions = 0

    def __enter__(self):
        self.threads = [threading.Thread(target=self._run, args=(number,)) for number in range(WRITERS)]
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join(60)

    def _run(self, number):
        order = random.Random(SEED + number)
        connection = psycopg2.connect(self.endpoint.dsn())
        cursor = connection.cursor()
        try:
            while not self.stop.is_set():
                user = order.randint(1, 10)
                cursor.execute("SELECT kudos FROM users WHERE id = %s FOR UPDATE", (user,))
                # Long enough for a transition to queue between the lock and the pin.
                cursor.execute("SELECT pg_sleep(%s)", (order.random() * 0.02,))
                cursor.execute("INSERT INTO kudos_ledger (user_id, amount) VALUES (%s, 1)", (user,))
                connection.commit()
                self.transactions += 1
                # Without any gap between the locked rows nothing could ever get through: the lock order is theirs.
                self.stop.wait(order.random() * 0.1)
        except psycopg2.Error as error:
            self.failures.append((error.pgcode, str(error)))
        finally:
            connection.close()


def test_a_deadlock_with_the_fold_takes_the_transition_and_never_a_writer(cluster):
    fold = ["update users set kudos = kudos"]
    changes = {
        "gate": {"tables": [{"name": "kudos_ledger"}], "functions": [], "catalog": {"closure": False}},
        "transitions": {"guards": {}, "steps": {"ledger": fold, "shadow": fold}, "deadline": "2m"},
    }
    print(f"seed {SEED}")
    met = 0
    with Sidecar(cluster.endpoint(), changes) as sidecar, Writers(sidecar.endpoint()) as writers:
        for target in ["ledger", "shadow"] * 4:
            reached = writers.transactions
            wait_until(lambda: writers.failures or writers.transactions > reached + 20, "the writers")  # noqa: B023
            done = sidecar.flip(target, deadline=150)
            assert done["state"] == "committed", done
            met += sum(each["outcome"] == "deadlock" for each in done["attempts"])
        assert not writers.failures
    print(f"{met} attempts ended in a deadlock, {writers.transactions} transactions of writers")
    assert met > 0, "no circle was closed: this run has shown nothing"
