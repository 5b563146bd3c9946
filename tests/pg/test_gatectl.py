"""The real gatectl, a real sidecar, a real server: what an operator does and is told."""

import json
import signal
import subprocess

import pytest
from support.gate import shared_gate
from support.gatectl import ABORTED, DONE, REFUSED, UNKNOWN, command, gatectl
from support.processes import end, spawn
from support.sidecar import GATE_KEY, Sidecar
from support.waiting import wait_until
from support.wire import WireClient, error_of, kinds


def mode(cluster):
    return cluster.execute("SELECT mode FROM kudos_ledger_control")[0][0]


@pytest.fixture
def owner(cluster):
    """The DSN of a role that may install, and a database without an installation afterwards."""
    yield cluster.endpoint(user="postgres").dsn()
    cluster.execute("DROP SCHEMA IF EXISTS ledgergate CASCADE")


def install(sidecar, owner, *arguments):
    wait_until(lambda: sidecar.get("/v1/status")[1]["control"]["connected"], "the control connections")
    code, out, err = gatectl(sidecar, "install", "--dsn", owner, "--yes", *arguments)
    assert code == DONE, (out, err)


def test_plan_flip_and_history(cluster, sidecar):
    code, out, _ = gatectl(sidecar, "plan", "ledger")
    assert code == DONE and "shadow -> ledger" in out and "nothing would refuse it" in out
    assert mode(cluster) == "shadow"
    code, out, _ = gatectl(sidecar, "flip", "ledger", "--yes", "--reason", "week 49")
    assert code == DONE and "the mode is ledger" in out
    assert mode(cluster) == "ledger"
    code, out, _ = gatectl(sidecar, "history")
    assert code == DONE and "week 49" in out and "committed" in out
    code, out, _ = gatectl(sidecar, "flip", "ledger", "--yes")
    assert code == DONE and "already" in out


def test_a_stale_plan_is_refused_and_nothing_is_touched(cluster, sidecar):
    version = json.loads(gatectl(sidecar, "-o", "json", "status")[1])["ledger"]["version"]
    assert gatectl(sidecar, "flip", "ledger", "--yes")[0] == DONE
    assert gatectl(sidecar, "flip", "shadow", "--yes")[0] == DONE
    code, _, err = gatectl(sidecar, "flip", "ledger", "--expect-version", version, "--yes")
    assert code == REFUSED and "version" in err and "decide again" in err
    assert mode(cluster) == "shadow"


def test_a_rehearsal_is_done_and_changes_nothing(cluster, sidecar):
    code, out, _ = gatectl(sidecar, "flip", "ledger", "--rehearse", "--yes")
    assert code == DONE and "the mode is still shadow" in out
    assert mode(cluster) == "shadow"


def test_cancel_ends_the_wait_and_the_watching_gatectl_says_so(cluster, sidecar):
    with shared_gate(cluster):
        watching = spawn(command(sidecar, "flip", "ledger", "--yes"), stdout=subprocess.PIPE, text=True)
        running = wait_until(lambda: sidecar.get("/v1/status")[1]["transition"], "the transition to run")
        code, out, _ = gatectl(sidecar, "cancel", running["id"])
        assert code == DONE and "being cancelled" in out
        out, _ = watching.communicate(timeout=30)
    assert watching.returncode == ABORTED and "reason: cancelled" in out
    code, _, err = gatectl(sidecar, "cancel", running["id"])
    assert code == REFUSED and "gatectl history" in err
    assert mode(cluster) == "shadow"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_gatectl_that_ends_leaves_the_transition_running(cluster, sidecar, how):
    with shared_gate(cluster):
        watching = spawn(command(sidecar, "flip", "ledger", "--yes"), stdout=subprocess.PIPE, text=True)
        line = watching.stdout.readline()
        assert "waiting" in line or "planned" in line or "queued" in line
        code = end(watching, how)
        assert code == (UNKNOWN if how == signal.SIGINT else -signal.SIGKILL)
        running = sidecar.get("/v1/status")[1]["transition"]
        assert running["state"] in ("waiting_applier", "waiting_quiet", "queued")
    assert sidecar.await_transition(running["id"])["state"] == "committed"
    assert mode(cluster) == "ledger"


def test_sessions_show_the_clients(sidecar, proxied):
    with WireClient(proxied) as client:
        client.simple("BEGIN")
        code, out, _ = gatectl(sidecar, "sessions")
    assert code == DONE and str(client.pid) in out and "in transaction" in out


def test_drain_ends_the_clients(cluster):
    with Sidecar(cluster.endpoint()) as drained:
        with WireClient(drained.endpoint()) as client:
            assert gatectl(drained, "drain")[0] == DONE
            assert error_of(client.read_to_end())["C"] == "57P01"


def test_install_is_shown_before_it_is_run_and_may_be_repeated(cluster, sidecar, owner):
    code, script, _ = gatectl(sidecar, "install", "--print")
    assert code == DONE and "CREATE TABLE IF NOT EXISTS ledgergate.transitions" in script
    assert cluster.execute("SELECT to_regclass('ledgergate.transitions')") == [(None,)]
    code, _, err = gatectl(sidecar, "install", "--dsn", owner)
    assert code == REFUSED and "--yes" in err
    install(sidecar, owner)
    install(sidecar, owner)
    assert gatectl(sidecar, "uninstall", "--dsn", owner, "--yes")[0] == DONE
    assert cluster.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'ledgergate'") == []
    assert cluster.execute("SELECT 1 FROM pg_trigger WHERE tgname = 'ledgergate_guard'") == []


def test_every_change_is_recorded_and_history_survives_a_restart(cluster, owner):
    with Sidecar(cluster.endpoint()) as sidecar:
        install(sidecar, owner)
        first = sidecar.flip("ledger", reason="week 49", request_id="deploy-7")
        assert first["state"] == "committed" and first["recorded"]
        assert sidecar.flip("shadow", rehearse=True)["recorded"] is False
        rows = cluster.execute("SELECT id, from_mode, to_mode, reason, version_after, sidecar, database_user"
                               " FROM ledgergate.transitions")
        assert rows == [(first["id"], "shadow", "ledger", "week 49", first["version_after"],
                         sidecar.get("/v1/status")[1]["sidecars"][0]["name"], "gate_operator")]
        done = cluster.execute("SELECT hold_us, total_us FROM ledgergate.transitions")[0]
        assert done[0] > 0 and done[1] >= done[0]
        sidecar.stop(signal.SIGKILL)
        sidecar.start()
        entry = wait_until(lambda: sidecar.get("/v1/transitions")[1]["transitions"], "the history to be read")[0]
        assert (entry["id"], entry["state"], entry["request"]["reason"]) == (first["id"], "committed", "week 49")
        status, again = sidecar.request("POST", "/v1/transitions", {"to": "ledger", "request_id": "deploy-7"})
        assert (status, again["id"]) == (200, first["id"])


def test_the_other_sidecars_see_a_change_in_their_history(cluster, sidecar, owner):
    install(sidecar, owner)
    with Sidecar(cluster.endpoint()) as other:
        identity = sidecar.flip("ledger")["id"]
        wait_until(lambda: other.get(f"/v1/transitions/{identity}")[0] == 200, "the other one to know it")


def test_the_control_role_gets_no_more_than_it_uses(cluster, sidecar, owner):
    install(sidecar, owner)
    may = "SELECT has_table_privilege('gate_operator', 'ledgergate.transitions', %s)"
    assert cluster.execute(may, parameters=("INSERT",)) == [(True,)]
    for forbidden in ("DELETE", "TRUNCATE", "TRIGGER", "UPDATE"):
        assert cluster.execute(may, parameters=(forbidden,)) == [(False,)], forbidden
    assert cluster.execute("SELECT has_schema_privilege('gate_operator', 'ledgergate', 'CREATE')") == [(False,)]


def test_a_write_past_the_sidecar_is_refused_and_one_through_it_is_not(cluster, sidecar, proxied, direct, owner):
    install(sidecar, owner)
    insert = "INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1)"
    with WireClient(direct) as bypassing:
        refusal = error_of(bypassing.simple(insert))
        assert refusal["C"] == "LG001" and str(GATE_KEY) in refusal["H"]
        assert kinds(bypassing.simple("SELECT count(*) FROM kudos_ledger"))[-1] == "Z:I"
        pin = f"SELECT pg_advisory_xact_lock_shared({GATE_KEY}); "
        assert "E" not in kinds(bypassing.simple(pin + insert))
    with WireClient(proxied) as through:
        assert kinds(through.simple(insert)) == ["C", "Z:I"]
    done = sidecar.flip("ledger")
    assert done["state"] == "committed"
    assert sidecar.flip("shadow")["state"] == "committed", "the fold writes under the gate itself"


def test_a_guard_that_takes_the_pin_makes_a_bypassing_write_wait(cluster, sidecar, direct, owner):
    install(sidecar, owner, "--guards", "pin")
    with WireClient(direct) as bypassing:
        bypassing.simple("BEGIN")
        assert "E" not in kinds(bypassing.simple("INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1)"))
        held = cluster.execute(f"SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = {GATE_KEY}")
        assert (bypassing.pid,) in held
