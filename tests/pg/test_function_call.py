"""FunctionCall sent by the client itself, and the large object interface that is made of it."""

import psycopg2
import pytest

from support import wire
from support.gate import gate_locks

LO_CREAT, LO_UNLINK, INT4_PLUS = 957, 964, 177
XACT_LOCK_SHARED = 3090


def both(direct, proxied, *steps):
    """The answers to each step, direct and through the sidecar; a step is bytes in one write."""
    answers = []
    for endpoint in (direct, proxied):
        with wire.WireClient(endpoint) as client:
            seen = []
            for data, count in steps:
                seen += client.ask(data, count=count)
            answers.append(seen)
    assert answers[0] == answers[1]
    return answers[1]


SUM = wire.function_call(INT4_PLUS, [wire.int4(40), wire.int4(2)])


def test_built_in_functions_answer_the_same(direct, proxied):
    messages = both(direct, proxied, (SUM, 1), (wire.query("BEGIN"), 1), (SUM, 1), (wire.query("COMMIT"), 1))
    assert [m.body for m in messages if m.kind == "V"] == [wire.int4(4) + wire.int4(42)] * 2


def test_errors_answer_the_same(direct, proxied):
    messages = both(
        direct,
        proxied,
        (wire.function_call(154, [wire.int4(1), wire.int4(0)]), 1),
        (wire.function_call(4_000_000_000, []), 1),
        (wire.function_call(INT4_PLUS, [wire.int4(1)]), 1),
        (wire.query("BEGIN"), 1),
        (wire.function_call(154, [wire.int4(1), wire.int4(0)]), 1),
        (SUM, 1),
        (wire.query("ROLLBACK"), 1),
        (SUM, 1),
    )
    assert wire.kinds(messages).count("E") == 5


def test_calls_may_be_pipelined_with_touches(direct, proxied, oracle):
    touch = wire.query("SELECT count(*) FROM kudos_ledger")
    messages = both(
        direct, proxied, (SUM + touch + SUM + wire.extended("SELECT user_id FROM kudos_ledger") + SUM, 5)
    )
    assert wire.kinds(messages).count("V") == 3
    oracle.assert_violations()


def test_a_call_in_a_batch_commits_the_implicit_transaction(direct, proxied, cluster, oracle):
    """F17: what was pinned before it has to be pinned again behind it."""
    insert = (
        wire.parse("INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1)") + wire.bind() + wire.execute()
    )
    batch = insert + SUM + insert + wire.sync()
    with wire.WireClient(direct) as client:
        expected = client.ask(batch, count=2)
    oracle.mark()
    with wire.WireClient(proxied) as client:
        assert client.ask(batch, count=2) == expected
    oracle.assert_clean(at_least=4)


def test_a_function_of_the_users_own_is_pinned(direct, proxied, cluster, oracle):
    oid = cluster.execute("SELECT 'post_credit'::regproc::oid")[0][0]
    call = wire.function_call(int(oid), [b"3", b"2.5"], argument_formats=[0], result_format=0)
    with wire.WireClient(direct) as client:
        expected = client.ask(call)
    cluster.execute("CALL reset_horde()")
    oracle.mark()
    with wire.WireClient(proxied) as client:
        assert client.ask(call) == expected
        assert wire.kinds(expected) == ["V", "Z:I"]
        client.simple("BEGIN")
        client.ask(call)
        client.simple("COMMIT")
        assert gate_locks(cluster, client.pid) == []
    oracle.assert_clean(at_least=4)


def test_the_gates_own_function_is_the_clients_to_call(proxied, cluster):
    lock = wire.function_call(XACT_LOCK_SHARED, [wire.int8(0x4B55444D)])
    with wire.WireClient(proxied) as client:
        client.simple("BEGIN")
        assert wire.kinds(client.ask(lock)) == ["V", "Z:T"]
        assert gate_locks(cluster, client.pid) == [(client.pid, "ShareLock", True)]
        client.simple("SELECT count(*) FROM kudos_ledger")
        client.simple("COMMIT")
        assert gate_locks(cluster, client.pid) == []


@pytest.mark.parametrize("touches", [False, True])
def test_large_objects(proxied, oracle, touches):
    connection = psycopg2.connect(proxied.dsn())
    if touches:
        connection.cursor().execute("INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1)")
    large = connection.lobject(0, "wb")
    large.write(b"data " * 10_000)
    oid = large.oid
    large.close()
    connection.commit()
    assert connection.lobject(oid, "rb").read() == b"data " * 10_000
    connection.lobject(oid, "n").unlink()
    connection.commit()
    connection.close()
    assert oracle.violations() == []
