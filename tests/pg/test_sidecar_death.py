"""kill -9 of the sidecar and stop of the server in every state of a transition: the mode is the old or the new one,
writers are free again, and the next transition works."""

import contextlib
import json
import signal

import pytest
from support.gate import gate_locks, shared_gate
from support.sidecar import APPLIER_KEY, Sidecar
from support.waiting import wait_until
from support.wire import WireClient, kinds

WRITE = "SET lock_timeout = '20s'; INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1)"


@contextlib.contextmanager
def held_applier(cluster):
    connection = cluster.superuser()
    try:
        connection.cursor().execute(f"SELECT pg_advisory_lock({APPLIER_KEY})")
        yield
    finally:
        connection.close()


@contextlib.contextmanager
def hanging_commit(cluster):
    """Every commit that asks for a synchronous standby hangs, once the gate is held."""
    cluster.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    cluster.execute("SELECT pg_reload_conf()")
    try:
        yield
    finally:
        cluster.execute("ALTER SYSTEM RESET synchronous_standby_names")
        cluster.execute("SELECT pg_reload_conf()")


def exclusive(cluster):
    return [row for row in gate_locks(cluster) if row[1] == "ExclusiveLock"]


def expect_recovery(cluster, sidecar, server):
    """Writers are free, and the next transition, to the other mode, works."""
    wait_until(lambda: not exclusive(cluster), "the gate to be left")
    with WireClient(server) as writer:
        assert "E" not in kinds(writer.simple(WRITE))
    wait_until(lambda: sidecar.get("/v1/status")[1]["control"]["connected"], "the control connections")
    before = cluster.execute("SELECT mode FROM kudos_ledger_control")[0][0]
    target = "shadow" if before == "ledger" else "ledger"

    def flipped():
        # The slot of the session that died is free once the server has noticed its death.
        status, answer = sidecar.request("POST", "/v1/transitions", {"to": target})
        return answer if status == 202 else None

    assert sidecar.await_transition(wait_until(flipped, "a transition to be accepted")["id"])["state"] == "committed"


def mode(cluster):
    return cluster.execute("SELECT mode FROM kudos_ledger_control")[0][0]


def started(sidecar, state, **fields):
    wait_until(lambda: sidecar.get("/v1/status")[1]["control"]["connected"], "the control connections")
    status, answer = sidecar.request("POST", "/v1/transitions", {"to": "ledger", **fields})
    assert status == 202, (status, answer)
    wait_until(lambda: sidecar.get(f"/v1/transitions/{answer['id']}")[1]["state"] == state, f"the state {state}")
    return answer["id"]


def killed(sidecar):
    assert sidecar.stop(signal.SIGKILL) == -signal.SIGKILL


def test_while_it_waits_for_the_applier(cluster, direct):
    with Sidecar(cluster.endpoint()) as sidecar:
        with held_applier(cluster):
            started(sidecar, "waiting_applier")
            killed(sidecar)
        assert mode(cluster) == "shadow"
        sidecar.start()
        expect_recovery(cluster, sidecar, direct)


def test_while_it_queues_the_writers_behind_it_go_on(cluster, direct):
    with Sidecar(cluster.endpoint()) as sidecar:
        with shared_gate(cluster):
            started(sidecar, "queued", queue_budget="60s", deadline="2m")
            wait_until(lambda: exclusive(cluster), "it to queue")
            killed(sidecar)
            wait_until(lambda: not exclusive(cluster), "the queue to be left")
            with WireClient(direct) as writer:
                assert "E" not in kinds(writer.simple(WRITE))
        assert mode(cluster) == "shadow"
        sidecar.start()
        expect_recovery(cluster, sidecar, direct)


@pytest.mark.parametrize(
    "point",
    [
        {"guards": {"ledger": ["select pg_sleep(30) is not null"]}},
        {"steps": {"ledger": ["update users set kudos = 99", "select pg_sleep(30)"]}},
    ],
    ids=["in_a_guard", "in_a_step"],
)
def test_while_it_holds_the_gate_nothing_is_left_of_it(cluster, direct, point):
    with Sidecar(cluster.endpoint(), {"transitions": {**point, "hold_budget": "60s", "deadline": "2m"}}) as sidecar:
        started(sidecar, "holding")
        killed(sidecar)
        wait_until(lambda: not exclusive(cluster), "the gate to be left")
        assert mode(cluster) == "shadow"
        assert cluster.execute("SELECT max(kudos) FROM users")[0][0] == 0
        sidecar.configuration["transitions"].update({"guards": {}, "steps": {}})
        rewritten(sidecar)
        sidecar.start()
        expect_recovery(cluster, sidecar, direct)


def rewritten(sidecar):
    sidecar.configuration_file.write_text(json.dumps(sidecar.configuration))


def test_during_the_commit_the_new_mode_is_in_force_and_known(cluster, direct):
    steps = {"steps": {"ledger": ["select pg_sleep(0.5)"]}}
    with Sidecar(cluster.endpoint(), {"transitions": steps}) as sidecar:
        identity = started(sidecar, "holding")
        with hanging_commit(cluster):
            hangs = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%COMMIT'"
            wait_until(lambda: cluster.execute(hangs), "the commit to hang")
            wait_until(
                lambda: "synchronous standby" in sidecar.get(f"/v1/transitions/{identity}")[1]["message"],
                "the hanging commit to be shown",
            )
            assert sidecar.get(f"/v1/transitions/{identity}")[1]["state"] == "holding", "never failed"
            killed(sidecar)
        wait_until(lambda: not exclusive(cluster), "the commit to end")
        assert mode(cluster) == "ledger", "it was durable on this server"
        sidecar.start()
        expect_recovery(cluster, sidecar, direct)


@pytest.mark.parametrize("how", ["fast", "immediate"])
def test_a_stop_of_the_server_aborts_what_holds_the_gate(cluster, direct, how):
    steps = {"steps": {"ledger": ["select pg_sleep(30)"]}, "hold_budget": "60s", "deadline": "2m"}
    with Sidecar(cluster.endpoint(), {"transitions": steps}) as sidecar:
        identity = started(sidecar, "holding")
        cluster.stop({"fast": signal.SIGINT, "immediate": signal.SIGQUIT}[how])
        done = sidecar.await_transition(identity)
        assert done["state"] == "aborted" and done["changed"] is False
        cluster.start()
        assert mode(cluster) == "shadow"
        sidecar.stop()
        sidecar.configuration["transitions"]["steps"] = {}
        rewritten(sidecar)
        sidecar.start()
        expect_recovery(cluster, sidecar, direct)
