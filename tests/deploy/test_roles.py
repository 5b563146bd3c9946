"""deploy/sql: with the scripts' privileges everything works, and without any single one of them something fails."""

import contextlib

import horde
import psycopg2
import pytest
from ledger import (
    APPLICATION,
    CONFIGURATION,
    CONTROL,
    DATABASE,
    DEPLOY,
    OWNER,
    Job,
    Writer,
    create,
    flip,
    grant_roles,
    install,
    run_script,
    write_and_fold,
)
from privileges import privileges_of
from support.pg_cluster import Cluster
from support.sidecar import GATE_KEY, Sidecar
from support.waiting import DeadlineExceeded, wait_until


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as started:
        create(started)
        grant_roles(started)
        with sidecar_of(started) as sidecar:
            install(started, sidecar)
        yield started


def sidecar_of(cluster, await_ready=True):
    return Sidecar(cluster.endpoint(APPLICATION, DATABASE), CONFIGURATION, await_ready=await_ready)


@contextlib.contextmanager
def without(cluster, privilege):
    cluster.execute(privilege.revoke())
    try:
        yield
    finally:
        cluster.execute(privilege.grant())


def plan_is_good(sidecar):
    status, plan = sidecar.request("POST", "/v1/transitions", {"to": "ledger", "dry_run": True})
    assert status == 200, plan
    doubts = [
        check for check in plan["plan"]["checks"] if check["verdict"] != "good" and check["name"] != "bypass"
    ]
    assert not doubts, doubts


def holders_have_names(cluster, sidecar):
    with Writer(cluster.endpoint(APPLICATION, DATABASE)) as writer:
        writer.row(f"SELECT pg_advisory_xact_lock_shared({GATE_KEY})")

        def named():
            _, pins = sidecar.get("/v1/pins")
            return any(holder["application"] == "writer" for holder in pins["holders"])

        wait_until(named, "the holder's name", deadline=4)


def idle_holder_is_ended(cluster, sidecar, mode):
    """A pinned session that idles is in the way of the transition, which ends it."""
    with Writer(cluster.endpoint(APPLICATION, DATABASE)) as writer:
        writer.row(f"SELECT pg_advisory_xact_lock_shared({GATE_KEY})")
        status, started = sidecar.request(
            "POST", "/v1/transitions", {"to": mode, "queue_budget": "100ms", "deadline": "4s"}
        )
        assert status == 202, started
        done = sidecar.await_transition(started["id"])
        assert done["state"] == "committed", done


def work_of_control(cluster):
    """Everything that the control role is for; fails in one way or another when a privilege is missing."""
    cluster.execute("UPDATE kudos_ledger_control SET mode = 'shadow'")
    with sidecar_of(cluster, await_ready=False) as sidecar:
        wait_until(
            lambda: sidecar.get("/v1/status")[1]["control"]["connected"], "the control connection", deadline=4
        )
        plan_is_good(sidecar)
        holders_have_names(cluster, sidecar)
        to_ledger = flip(sidecar, "ledger")
        with Writer(sidecar.endpoint(APPLICATION, DATABASE)) as writer:
            horde.settle(writer, Job())
            writer.connection.commit()
        flip(sidecar, "shadow")
        assert cluster.execute("SELECT count(*) FROM kudos_ledger WHERE NOT applied") == [(0,)]
        entry = cluster.execute(
            f"SELECT hold_us, total_us, max_writer_wait_us FROM ledgergate.transitions WHERE id = '{to_ledger['id']}'"
        )
        assert entry and None not in entry[0], f"the audit table has {entry} of the first transition"
    with sidecar_of(cluster) as sidecar:
        history = sidecar.get("/v1/transitions")[1]["transitions"]
        assert to_ledger["id"] in [each["id"] for each in history], "a new sidecar does not know the history"
        idle_holder_is_ended(cluster, sidecar, "ledger")


def work_of_application(cluster):
    cluster.execute("UPDATE kudos_ledger_control SET mode = 'ledger'")
    with sidecar_of(cluster) as sidecar:
        write_and_fold(sidecar.endpoint(APPLICATION, DATABASE))
        cluster.execute("UPDATE kudos_ledger_control SET mode = 'shadow'")
        write_and_fold(sidecar.endpoint(APPLICATION, DATABASE))


# What a missing privilege looks like: an assertion of this file, or the server's own refusal.
FAILURES = (AssertionError, DeadlineExceeded, psycopg2.Error)


def is_needed(cluster, privilege, work):
    with without(cluster, privilege):
        try:
            work(cluster)
        except FAILURES:
            return True
    return False


@pytest.mark.parametrize("role, work", [(CONTROL, work_of_control), (APPLICATION, work_of_application)])
def test_everything_works_with_the_privileges_of_the_scripts_and_none_is_too_many(cluster, role, work):
    granted = privileges_of(cluster, role)
    assert granted, f"{role} has no privileges at all"
    work(cluster)
    needless = [each.what for each in granted if not is_needed(cluster, each, work)]
    assert needless == []
    assert privileges_of(cluster, role) == granted
    work(cluster)


def test_the_application_cannot_change_the_mode_unless_it_is_allowed_to(cluster):
    with sidecar_of(cluster) as sidecar, Writer(sidecar.endpoint(APPLICATION, DATABASE)) as writer:
        with pytest.raises(psycopg2.errors.InsufficientPrivilege):
            horde.change_mode(writer, "ledger" if horde.pin(writer) == "shadow" else "shadow")
        writer.connection.rollback()
        try:
            run_script(cluster, DEPLOY / "sql/app-role.sql", f"app_role={APPLICATION}", "flips=on")
            horde.change_mode(writer, "ledger")
            writer.connection.commit()
        finally:
            cluster.execute(f"REVOKE UPDATE (mode) ON kudos_ledger_control FROM {APPLICATION}")


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM kudos_ledger",
        "UPDATE kudos_ledger SET amount = 0",
        "UPDATE kudos_ledger_control SET id = 1",
        "TRUNCATE kudos_ledger",
        "CREATE TABLE public.mine (n int)",
    ],
)
def test_neither_role_can_rewrite_history_or_make_tables(cluster, statement):
    for role in (APPLICATION, CONTROL):
        connection = psycopg2.connect(cluster.endpoint(role, DATABASE).dsn())
        try:
            with pytest.raises(psycopg2.errors.InsufficientPrivilege):
                connection.cursor().execute(statement)
        finally:
            connection.close()


def test_the_scripts_may_be_repeated_and_the_tables_owner_may_run_the_second(cluster):
    before = [privileges_of(cluster, role) for role in (CONTROL, APPLICATION)]
    grant_roles(cluster)
    # The role exists by now, so that its owner needs no right to create one.
    run_script(cluster, DEPLOY / "sql/app-role.sql", f"app_role={APPLICATION}", role=OWNER)
    assert [privileges_of(cluster, role) for role in (CONTROL, APPLICATION)] == before


def test_a_privilege_too_many_would_be_found(cluster):
    cluster.execute(f"GRANT SELECT ON kudos_stat_events TO {CONTROL}")
    try:
        extra = [each for each in privileges_of(cluster, CONTROL) if "kudos_stat_events" in each.what]
        assert [is_needed(cluster, each, work_of_control) for each in extra] == [False]
    finally:
        cluster.execute(f"REVOKE SELECT ON kudos_stat_events FROM {CONTROL}")
