"""Two operators at once, on two sidecars of one database: exactly one change each time, and nobody is told the wrong
thing."""

import concurrent.futures

import pytest
from support.gate import shared_gate
from support.sidecar import Sidecar
from support.waiting import wait_until


@pytest.fixture(scope="module")
def sidecars(cluster):
    with Sidecar(cluster.endpoint()) as first, Sidecar(cluster.endpoint()) as second:
        for each in (first, second):
            wait_until(lambda: each.get("/v1/status")[1]["control"]["connected"], "the control connections")
        yield first, second


def ask(sidecar, body):
    """The first answer and, when a transition was started, how it ended."""
    status, answer = sidecar.request("POST", "/v1/transitions", body)
    return (status, sidecar.await_transition(answer["id"])) if status == 202 else (status, answer)


def at_once(*calls):
    with concurrent.futures.ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(ask, *call) for call in calls]]


def changes(cluster):
    """How often the control row was changed in this test."""
    return cluster.execute("SELECT count(*) FROM mode_changes")[0][0]


def mode(cluster):
    return cluster.execute("SELECT mode FROM kudos_ledger_control")[0][0]


@pytest.fixture(autouse=True)
def counted_changes(cluster, fresh_horde):
    cluster.execute("CREATE TABLE mode_changes (mode text)")
    cluster.execute("CREATE FUNCTION count_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS"
                    " $$ BEGIN INSERT INTO mode_changes VALUES (NEW.mode); RETURN NEW; END $$")
    cluster.execute("CREATE TRIGGER count_change AFTER UPDATE ON kudos_ledger_control"
                    " FOR EACH ROW EXECUTE FUNCTION count_change()")
    yield
    cluster.execute("DROP TRIGGER count_change ON kudos_ledger_control")
    cluster.execute("DROP FUNCTION count_change()")
    cluster.execute("DROP TABLE mode_changes")


def outcomes(answers):
    return sorted(
        (status, answer.get("state") if status < 300 else answer["error"]["code"], answer.get("changed"))
        for status, answer in answers
    )


def is_loser(outcome):
    """What the one who did not make the change may be told: it is so already, or the other one is at it."""
    return outcome[:2] in [(200, "committed"), (409, "transition_running"), (202, "committed")] and not outcome[2]


@pytest.mark.parametrize("round_number", range(5))
def test_the_same_target_is_reached_once(cluster, sidecars, round_number):
    answers = outcomes(at_once(*[(sidecar, {"to": "ledger"}) for sidecar in sidecars]))
    assert (202, "committed", True) in answers, (round_number, answers)
    answers.remove((202, "committed", True))
    assert is_loser(answers[0]), answers
    assert (mode(cluster), changes(cluster)) == ("ledger", 1)


@pytest.mark.parametrize("round_number", range(5))
def test_a_double_click_changes_once(cluster, sidecars, round_number):
    answers = outcomes(at_once(*[(sidecars[0], {"to": "ledger"})] * 4))
    assert answers.count((202, "committed", True)) == 1, (round_number, answers)
    answers.remove((202, "committed", True))
    assert all(map(is_loser, answers)), answers
    assert changes(cluster) == 1


@pytest.mark.parametrize("round_number", range(5))
def test_opposite_targets_from_the_same_start_lead_to_the_one_that_is_a_change(cluster, sidecars, round_number):
    answers = at_once((sidecars[0], {"to": "ledger", "from": "shadow"}), (sidecars[1], {"to": "shadow"}))
    to_ledger, to_shadow = outcomes(answers[:1])[0], outcomes(answers[1:])[0]
    assert to_ledger[:2] in [(202, "committed"), (409, "transition_running")], (round_number, answers)
    assert to_shadow[:2] in [(200, "committed"), (202, "committed"), (409, "transition_running")], answers
    made = [name for name, outcome in (("ledger", to_ledger), ("shadow", to_shadow)) if outcome[2]]
    assert changes(cluster) == len(made)
    assert mode(cluster) == ("shadow" if "shadow" in made or not made else "ledger")


@pytest.mark.parametrize("round_number", range(5))
def test_of_two_with_the_same_version_one_is_refused(cluster, sidecars, round_number):
    version = wait_until(lambda: row_version(cluster, sidecars), "both to see the same version")
    answers = at_once(*[(sidecar, {"to": "ledger", "expect_version": version}) for sidecar in sidecars])
    kept = [answer for _, answer in answers if answer.get("changed")]
    assert len(kept) == 1, (round_number, answers)
    stale = {"to": "shadow", "expect_version": version}
    for sidecar in sidecars:
        status, answer = sidecar.request("POST", "/v1/transitions", stale)
        assert (status, answer["error"]["code"]) == (412, "precondition_failed")
    assert changes(cluster) == 1


def row_version(cluster, sidecars):
    version = cluster.execute("SELECT xmin::text FROM kudos_ledger_control")[0][0]
    seen = {sidecar.get("/v1/status")[1]["ledger"]["version"] for sidecar in sidecars}
    return version if seen == {version} else None


def test_the_second_one_is_told_the_id_of_the_first(cluster, sidecars):
    with shared_gate(cluster):
        _, first = sidecars[0].request("POST", "/v1/transitions", {"to": "ledger"})
        wait_until(
            lambda: sidecars[0].get(f"/v1/transitions/{first['id']}")[1]["state"] == "queued", "it to queue"
        )
        for sidecar in sidecars:
            status, answer = sidecar.request("POST", "/v1/transitions", {"to": "ledger"})
            assert (status, answer["error"]["id"]) == (409, first["id"])
            plan = sidecar.request("POST", "/v1/transitions", {"to": "ledger", "dry_run": True})[1]["plan"]
            assert next(check for check in plan["checks"] if check["name"] == "slot")["verdict"] == "bad"
    assert sidecars[0].await_transition(first["id"])["state"] == "committed"
