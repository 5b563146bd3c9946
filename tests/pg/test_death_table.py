"""Death at every state of a transition. After each the mode is the old or the new one, the record says which, writers
are free again within a second, and the next transition works. The table is printed at the end."""

import contextlib
import os
import signal
import subprocess
import time

import psycopg2
import pytest
from support.cutting_relay import CuttingRelay
from support.gate import shared_gate
from support.gatectl import command
from support.sidecar import APPLIER_KEY, GATE_KEY, Sidecar
from support.waiting import wait_until

STATES = ["waiting_applier", "queued", "holding, before the change", "holding, after the change", "during COMMIT"]
DEATHS = ["kill -9 of the sidecar", "kill -9 of gatectl", "end of the control session", "kill -9 of its backend",
          "stop of PostgreSQL", "cut of the network"]
PROMISE = 1.0

# Where a transition stops, when it is told to: in the guard, or behind the change of the control row.
PAUSES = """
CREATE TABLE IF NOT EXISTS pauses (point text, seconds float8);
CREATE OR REPLACE FUNCTION pause_at(wanted text) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM pg_sleep(seconds) FROM pauses WHERE point = wanted;
    RETURN true;
END $$;
CREATE OR REPLACE FUNCTION pause_behind_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM pause_at('holding, after the change');
    RETURN NULL;
END $$;
DROP TRIGGER IF EXISTS pause_behind_change ON kudos_ledger_control;
CREATE TRIGGER pause_behind_change AFTER UPDATE ON kudos_ledger_control EXECUTE FUNCTION pause_behind_change();
"""
TRANSITIONS = {
    "guards": {"ledger": ["select pause_at('holding, before the change')"]},
    "steps": {"ledger": ["select pause_at('during COMMIT')"]},
    "queue_budget": "60s", "applier_timeout": "60s", "hold_budget": "60s", "deadline": "2m",
}


@pytest.fixture(scope="module")
def table(request):
    rows = []
    yield rows
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print(f"\n\n{'death':28}{'in the state':28}{'mode after':12}{'record says':24}writers free after")
        for row in rows:
            print("{:28}{:28}{:12}{:24}{:.0f} ms".format(*row))


@contextlib.contextmanager
def obstacle(cluster, state):
    """Keeps a transition in `state` while the block runs, or until the server dies."""
    with contextlib.ExitStack() as stack:
        if state == "queued":
            stack.enter_context(shared_gate(cluster))
        elif state == "waiting_applier":
            holder = cluster.superuser()
            stack.callback(holder.close)
            holder.cursor().execute(f"SELECT pg_advisory_lock({APPLIER_KEY})")
        else:
            seconds = 0.7 if state == "during COMMIT" else 30
            cluster.execute("INSERT INTO pauses VALUES (%s, %s)", parameters=(state, seconds))
        yield


def ask_for_standby(cluster, name):
    def asked():
        with contextlib.suppress(psycopg2.OperationalError):
            cluster.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{name}'")
            cluster.execute("SELECT pg_reload_conf()")
            return True

    wait_until(asked, "a server that recovers to take a setting")


CONTROL = """SELECT pid, coalesce(wait_event, '') FROM pg_stat_activity
              WHERE application_name LIKE 'ledgergate/%' AND xact_start < clock_timestamp() - interval '50 ms'
              ORDER BY xact_start LIMIT 1"""


def await_state(cluster, sidecar, state):
    """Until the transition is there; returns its id and the pid of its session."""
    name = "holding" if state not in ("waiting_applier", "queued") else state
    running = wait_until(
        lambda: (found := sidecar.get("/v1/status")[1]["transition"]) and found["state"] == name and found, f"{state}"
    )
    event = {"waiting_applier": "advisory", "queued": "advisory", "during COMMIT": "SyncRep"}.get(state, "PgSleep")
    if state == "during COMMIT":
        ask_for_standby(cluster, "nobody")
    found = wait_until(
        lambda: [row for row in cluster.execute(CONTROL) if row[1] == event], f"{state} on the server"
    )
    return running["id"], found[0][0]


def is_lost(connection):
    try:
        connection.cursor().execute("SELECT 1")
    except psycopg2.Error:
        return True
    return False


def accepts(cluster):
    try:
        cluster.superuser().close()
    except psycopg2.OperationalError:
        return False
    return True


def die(how, cluster, sidecar, asking, pid, relay):
    if how == "kill -9 of the sidecar":
        assert sidecar.stop(signal.SIGKILL) == -signal.SIGKILL
    elif how == "kill -9 of gatectl":
        asking.kill()
    elif how == "end of the control session":
        cluster.execute(f"SELECT pg_terminate_backend({pid})")
    elif how == "kill -9 of its backend":
        # The server then ends every session and recovers: as with its stop, writers count from its return.
        with contextlib.closing(cluster.superuser()) as bystander:
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: is_lost(bystander), "the server to end every session")
        wait_until(lambda: accepts(cluster), "the server to be back")
    elif how == "stop of PostgreSQL":
        cluster.stop(signal.SIGQUIT)
        cluster.start()
    else:
        relay.cut()


def await_writers(cluster):
    """Until somebody gets a pin, on a connection of its own; a server that recovers is asked again."""

    def pinned():
        try:
            connection = psycopg2.connect(cluster.endpoint(user="postgres").dsn())
        except psycopg2.OperationalError:
            return False
        try:
            cursor = connection.cursor()
            cursor.execute("SET statement_timeout = '20s'")
            cursor.execute(f"SELECT pg_advisory_xact_lock_shared({GATE_KEY})")
            return True
        except psycopg2.OperationalError:
            return False
        finally:
            connection.close()

    wait_until(pinned, "a writer to get its pin", interval=0.002)


def record_says(sidecar, identity):
    """By the record of the sidecar; a new process knows only what the audit table says."""

    def known():
        status, listed = sidecar.get("/v1/transitions")
        assert status == 200
        mine = [each for each in listed["transitions"] if each["id"] == identity]
        return "nothing" if not mine else mine[0]["state"] if mine[0]["result"] else None

    said = wait_until(known, "the record to say how it ended")
    if said == "unknown":
        said = wait_until(lambda: (now := known()) not in (None, "unknown") and now, "what is unknown to be found out")
    return said


def mode(cluster):
    return cluster.execute("SELECT mode FROM kudos_ledger_control")[0][0]


def expect_next_works(sidecar, before):
    """To the other mode."""
    target = "shadow" if before == "ledger" else "ledger"

    def accepted():
        status, answer = sidecar.request("POST", "/v1/transitions", {"to": target})
        return answer["id"] if status == 202 else None

    assert sidecar.await_transition(wait_until(accepted, "a transition to be accepted"))["state"] == "committed"


@pytest.fixture
def installed(cluster):
    cluster.execute(PAUSES)
    cluster.execute("TRUNCATE pauses")
    yield
    ask_for_standby(cluster, "")
    cluster.execute("DROP TRIGGER pause_behind_change ON kudos_ledger_control")
    cluster.execute("DROP SCHEMA IF EXISTS ledgergate CASCADE")


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("death", DEATHS)
def test_after_a_death_writers_are_free_within_a_second_and_the_mode_is_known(cluster, table, installed, death, state):
    server = cluster.endpoint()
    with CuttingRelay(server.host, server.port) as relay:
        dsn = server.replace(user="gate_operator", port=relay.port).dsn()
        changes = {"control": {"dsn": dsn}, "transitions": TRANSITIONS, "gate": {"functions": []}}
        with Sidecar(server, changes) as sidecar:
            wait_until(lambda: sidecar.get("/v1/status")[1]["control"]["connected"], "the control connections")
            cluster.execute(sidecar.get("/v1/install/none")[1]["sql"])
            with obstacle(cluster, state):
                asking = subprocess.Popen(
                    command(sidecar, "flip", "ledger", "--yes"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
                identity, pid = await_state(cluster, sidecar, state)
                die(death, cluster, sidecar, asking, pid, relay)
                if death == "kill -9 of gatectl":
                    # Nothing has happened to the transition: it goes on, and writers are free when it has ended.
                    assert sidecar.get(f"/v1/transitions/{identity}")[1]["result"] is None
                    headers = {"Content-Type": "application/json"}
                    sidecar.request("DELETE", f"/v1/transitions/{identity}", headers=headers)
                    if "before" in state or "after" in state:
                        cluster.execute(f"SELECT pg_cancel_backend({pid})")
                if state == "during COMMIT":
                    # Until a standby has answered, a commit holds its locks, whoever has died.
                    ask_for_standby(cluster, "")
                began = time.monotonic()
                await_writers(cluster)
                free_after = time.monotonic() - began
            cluster.execute("TRUNCATE pauses")
            asking.kill()
            asking.wait()
            relay.mend()
            if death == "kill -9 of the sidecar":
                sidecar.start()
            said = record_says(sidecar, identity)
            now = mode(cluster)
            table.append((death, state, now, said, free_after * 1000))
            assert free_after < PROMISE
            assert (said == "committed") == (now == "ledger"), f"the mode is {now}, the record says {said}"
            # One that waits may begin again on a new connection, and then finds the way free.
            if state not in ("waiting_applier", "queued"):
                assert now == ("ledger" if state == "during COMMIT" else "shadow")
            expect_next_works(sidecar, now)
