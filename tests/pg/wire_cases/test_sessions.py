"""Wire cases that need more than one conversation: random transactions, own refusals, dumps, notices,
listeners."""

import random
import re
import select
import subprocess

import psycopg2
import pytest
from rows import COUNT, INSERT, LEDGER
from ways import CHANGES

from support import wire
from support.sidecar import Sidecar

SEED = 20_261_201
STEPS = [
    "BEGIN",
    "START TRANSACTION",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT a",
    "SAVEPOINT b",
    "RELEASE a",
    "RELEASE b",
    "ROLLBACK TO a",
    "ROLLBACK TO b",
    "COMMIT AND CHAIN",
    "ROLLBACK AND CHAIN",
    "SELECT 1 / 0",
    "",
    INSERT,
    LEDGER,
    COUNT,
    "SELECT 1; SAVEPOINT a",
    "COMMIT; BEGIN",
    f"BEGIN; {INSERT}",
    f"ROLLBACK; {INSERT}",
    "ABORT; BEGIN; SAVEPOINT b",
]


@pytest.mark.parametrize("extended", [False, True], ids=["simple", "extended"])
def test_every_state_letter_is_the_servers(cluster, oracle, direct, through, way, extended):
    chance = random.Random(SEED)
    print("seed", SEED)
    texts = [text for text in (chance.choice(STEPS) for _ in range(600)) if not extended or ";" not in text]

    def letters(endpoint):
        with wire.WireClient(endpoint) as client:
            answers = [client.ask(wire.extended(text) if extended else wire.query(text)) for text in texts]
            return [(text, [m.raw for m in answer]) for text, answer in zip(texts, answers)]

    expected = letters(direct)
    cluster.execute("CALL reset_horde()")
    oracle.mark()
    assert letters(through) == expected
    if way == "gated":
        assert oracle.violations() == []


def test_what_reads_and_writes_nothing_is_never_pinned(sidecar, through):
    pins = sidecar.metric("ledgergate_pins_total")
    with wire.WireClient(through) as client:
        for text in (
            "BEGIN",
            "SET LOCAL work_mem = '1MB'",
            "SHOW work_mem",
            "SAVEPOINT a",
            "RELEASE a",
            "COMMIT",
            "START TRANSACTION READ ONLY",
            "SHOW transaction_isolation",
            "ROLLBACK",
            "SET application_name = 'x'",
            "RESET ALL",
            "LISTEN a",
            "UNLISTEN *",
            "VACUUM kudos_ledger",
            "ANALYZE kudos_ledger",
            "DISCARD ALL",
        ):
            assert not [m for m in client.simple(text) if m.kind == "E"]
    assert sidecar.metric("ledgergate_pins_total") == pins


REFUSED = "UPDATE kudos_ledger_control SET mode = 'ledger' WHERE id = 1"


@pytest.fixture(scope="module")
def denying(cluster):
    with Sidecar(cluster.endpoint(), {"gate": {"in_band_transitions": "deny"}}) as started:
        yield started.endpoint()


def test_an_own_refusal_stands_in_its_place_among_the_servers_replies(denying):
    with wire.WireClient(denying) as client:
        client.ask(wire.parse("SELECT 1", "s"), wire.sync())
        messages = client.ask(
            wire.close_statement("s"), wire.sync(), wire.extended(REFUSED), wire.extended("SELECT 2"), count=3
        )
        assert wire.kinds(messages) == ["3", "Z:I", "1", "E", "Z:I", "1", "2", "T", "D", "C", "Z:I"]
        assert wire.error_of(messages)["C"] == "42501"


@pytest.mark.parametrize(
    "sent",
    [
        [
            wire.parse(REFUSED),
            wire.describe_statement(),
            wire.bind(),
            wire.execute(),
            wire.parse("SELECT 1"),
            wire.bind(),
            wire.execute(),
        ],
        [
            wire.parse("SELECT 1"),
            wire.bind(),
            wire.execute(),
            wire.parse(REFUSED),
            wire.bind(),
            wire.execute(),
            wire.execute(),
        ],
    ],
)
def test_an_own_refusal_is_one_error_and_the_batch_is_dropped_up_to_its_sync(cluster, denying, sent):
    with wire.WireClient(denying) as client:
        messages = client.ask(*sent, wire.sync(), wire.sync(), wire.query("SELECT 3"), count=3)
        assert wire.kinds(messages).count("E") == 1 and wire.error_of(messages)["C"] == "42501"
        assert wire.kinds(messages)[-6:] == ["Z:I", "Z:I", "T", "D", "C", "Z:I"]
    assert cluster.execute("SELECT mode FROM kudos_ledger_control") == [("shadow",)]


def test_notices_during_log_in_and_behind_it_arrive_in_order(direct, through):
    def notices(endpoint):
        with wire.WireClient(endpoint, options="-c client_min_messages=debug5") as client:
            announced = client.simple(
                "SELECT announce('word ' || event_id) FROM kudos_ledger WHERE event_id < 4"
            )
            return [m.fields()["M"] for m in client.startup_messages + announced if m.kind == "N"]

    def stable(messages):
        """Without what a pin makes the server say about its own work, and without numbers of processes."""
        return [
            re.sub(r"\d{3,}", "#", words)
            for words in messages
            if words.startswith(("announced", "postgres child"))
        ]

    seen = notices(through)
    assert stable(seen) == stable(notices(direct))
    assert stable(seen)[-3:] == ["announced: word 1", "announced: word 2", "announced: word 3"]
    assert any("CommitTransaction" in words for words in seen), "those of log-in"


def test_log_ins_one_after_another_under_load_are_answered_by_the_server(through):
    done = subprocess.run(
        ["pgbench", "-n", "-C", "-c", "20", "-j", "2", "-t", "20", "-f", "-", through.dsn()],
        input="SELECT count(*) FROM kudos_ledger;\n",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "number of transactions actually processed: 400/400" in done.stdout


def psql(endpoint, *arguments, stdin=None):
    done = subprocess.run(
        ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", *arguments, endpoint.dsn()],
        input=stdin,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_a_dump_goes_out_and_comes_back_in(cluster, through):
    """Data with backslashes, tabs and lines that look like the end of COPY."""
    cluster.execute(
        r"INSERT INTO kudos_ledger (user_id, amount, note) SELECT 1, 1, x FROM unnest(ARRAY["
        r"E'\\.', E'\n\\.\n', E'tab\t', E'back\\slash', '', NULL]) x"
    )
    rows = "SELECT md5(string_agg(k::text, '|' ORDER BY event_id)) FROM kudos_ledger k"
    before = cluster.execute(rows)
    owner = through.replace(user="postgres")
    dump = subprocess.run(
        ["pg_dump", "--data-only", "-t", "kudos_ledger", owner.dsn()],
        text=True,
        check=True,
        stdout=subprocess.PIPE,
    ).stdout
    psql(owner, "-c", "TRUNCATE kudos_ledger")
    psql(owner, stdin=dump)
    assert cluster.execute(rows) == before


def test_notifications_arrive_idle_in_a_transaction_and_right_behind_an_answer(cluster, through):
    listener = psycopg2.connect(through.dsn())
    listener.autocommit = True
    cursor = listener.cursor()
    cursor.execute("LISTEN news")
    for number in range(3):
        cluster.execute(f"NOTIFY news, '{number}'")
        while not listener.notifies:
            assert select.select([listener], [], [], 20)[0], "no notification"
            listener.poll()
        assert [n.payload for n in listener.notifies] == [str(number)]
        listener.notifies.clear()
        cursor.execute(COUNT)
    cursor.execute("BEGIN")
    cursor.execute(COUNT)
    cluster.execute("NOTIFY news, 'held back until the end'")
    cursor.execute("COMMIT")
    listener.poll()
    while not listener.notifies:
        assert select.select([listener], [], [], 20)[0], "no notification"
        listener.poll()
    assert listener.notifies[0].payload == "held back until the end"
    listener.close()


def test_a_client_that_never_reads_is_seen_in_the_sessions(cluster, way):
    """Its statement, its transaction and its age are there to be acted upon."""
    with Sidecar(cluster.endpoint(), CHANGES[way]) as sidecar, wire.WireClient(sidecar.endpoint()) as stuck:
        stuck.simple("BEGIN")
        stuck.send(wire.query("SELECT repeat('x', 8000) FROM kudos_ledger, generate_series(1, 3000)"))
        status, answer = sidecar.get("/v1/sessions")
        assert status == 200
        (session,) = [each for each in answer["sessions"] if each["user"] == "app"]
        assert session["state"] == ("relayed" if way == "relaying" else "active"), session
        assert session["backend_pid"] == stuck.pid
