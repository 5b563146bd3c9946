"""Writers credit their users while the mode flips: every posting is in its balance exactly once, and no
client sees an error. What a credit does depends on the mode it has read; one that goes by a mode which is no
longer in force is lost, or counted twice."""

import threading

import psycopg2
import pytest

from support.waiting import wait_until

WRITERS = 6
FLIPS = ["ledger", "shadow", "ledger", "shadow"]


class Writer(threading.Thread):
    """Credits its own user for as long as it is asked to, the way the application does it."""

    def __init__(self, endpoint, user_id, isolation):
        super().__init__()
        self.endpoint = endpoint
        self.user_id = user_id
        self.isolation = isolation
        self.stopping = threading.Event()
        self.credits = 0
        self.modes = set()
        self.failure = None

    def run(self):
        try:
            connection = psycopg2.connect(self.endpoint.dsn())
            connection.set_session(isolation_level=self.isolation)
            while not self.stopping.is_set():
                self.credit(connection)
            connection.close()
        except Exception as error:
            self.failure = error

    def credit(self, connection):
        with connection.cursor() as cursor:
            cursor.execute("SELECT payload FROM jobs WHERE id = %s", (self.user_id,))
            cursor.execute("SELECT mode FROM kudos_ledger_control WHERE id = 1")
            mode = cursor.fetchone()[0]
            inline = mode == "shadow"
            cursor.execute(
                "INSERT INTO kudos_ledger (user_id, amount, applied) VALUES (%s, 1, %s)",
                (self.user_id, inline),
            )
            if inline:
                cursor.execute("UPDATE users SET kudos = kudos + 1 WHERE id = %s", (self.user_id,))
        connection.commit()
        self.credits += 1
        self.modes.add(mode)


@pytest.fixture
def writers(proxied):
    started = [Writer(proxied, number + 1, "READ COMMITTED") for number in range(WRITERS)]
    for writer in started:
        writer.start()
    yield started
    stop(started)


def stop(writers):
    for writer in writers:
        writer.stopping.set()
    for writer in writers:
        writer.join(60)


def await_credits(writers, count):
    goals = [writer.credits + count for writer in writers]
    wait_until(
        lambda: any(writer.failure for writer in writers)
        or all(writer.credits >= goal for writer, goal in zip(writers, goals)),
        "the writers to go on",
    )


def balances(cluster):
    rows = cluster.execute("SELECT kudos FROM users WHERE id <= %s ORDER BY id", parameters=(WRITERS,))
    return [int(kudos) for (kudos,) in rows]


def test_no_credit_is_lost_and_none_is_counted_twice(sidecar, cluster, oracle, writers):
    await_credits(writers, 5)
    for mode in FLIPS:
        answer = sidecar.flip(mode)
        assert answer["state"] == "committed", answer
        assert cluster.execute("SELECT mode FROM kudos_ledger_control") == [(mode,)]
        await_credits(writers, 10)
    stop(writers)
    assert [writer.failure for writer in writers] == [None] * WRITERS
    # The last flip was to shadow, whose step folds what is left; since then everything was written inline.
    assert cluster.execute("SELECT count(*) FROM kudos_ledger WHERE NOT applied") == [(0,)]
    assert balances(cluster) == [writer.credits for writer in writers]
    assert oracle.unbalanced() == []
    assert set().union(*(writer.modes for writer in writers)) == {"shadow", "ledger"}
    oracle.assert_clean(at_least=WRITERS * 100)


def test_without_the_sidecar_credits_go_by_a_mode_that_is_not_in_force(direct, cluster, oracle):
    """The control, in two steps that always interleave: the mode changes between look and write."""
    connection = psycopg2.connect(direct.dsn())
    cursor = connection.cursor()
    cursor.execute("SELECT mode FROM kudos_ledger_control WHERE id = 1")
    assert cursor.fetchone() == ("shadow",)
    cluster.execute(
        "UPDATE kudos_ledger_control SET mode = 'ledger'; UPDATE kudos_ledger_control SET mode = 'shadow';"
        "SELECT fold_postings(); UPDATE kudos_ledger_control SET mode = 'ledger'"
    )
    cursor.execute("INSERT INTO kudos_ledger (user_id, amount, applied) VALUES (1, 1, true)")
    connection.commit()
    connection.close()
    oracle.assert_violations("not pinned")
    assert [row[0] for row in oracle.unbalanced()] == [1]
