"""A new configuration on a running sidecar: what counts at once, what is refused, and that nobody notices."""

import json
import signal
import threading

import pytest
from support.gate import gate_locks, shared_gate
from support.gatectl import DONE, REFUSED, gatectl
from support.sidecar import Sidecar
from support.waiting import wait_until
from support.wire import WireClient, kinds


@pytest.fixture
def own(cluster):
    """A sidecar of the test's own, whose file it may change."""
    with Sidecar(cluster.endpoint()) as started:
        yield started


def write(sidecar, text=None):
    sidecar.configuration_file.write_text(text or json.dumps(sidecar.configuration))


def reload(sidecar):
    return sidecar.request("POST", "/v1/reload", {})


def changed(sidecar):
    write(sidecar)
    status, answer = reload(sidecar)
    assert status == 202, (status, answer)
    return answer["changed"]


def touches(sidecar, sql):
    return sidecar.request("POST", "/v1/explain", {"sql": sql})[1]["statements"][0]["verdict"] == "touch"


def test_a_table_that_is_gated_from_now_on_is_pinned_in_sessions_that_run(cluster, own):
    cluster.execute("CREATE TABLE IF NOT EXISTS late_table (id int)")
    cluster.execute("GRANT ALL ON late_table TO app")
    cluster.execute("CREATE OR REPLACE VIEW late_view AS SELECT * FROM late_table")
    cluster.execute("GRANT ALL ON late_view TO app")
    with WireClient(own.endpoint()) as client:
        client.simple("PREPARE p AS SELECT * FROM late_table")
        client.simple("BEGIN; SELECT * FROM late_table")
        assert not gate_locks(cluster, client.pid)
        client.simple("COMMIT")
        own.configuration["gate"]["tables"].append({"name": "late_table"})
        assert changed(own) == ["gate.tables"]
        for text in ("SELECT * FROM late_table", "EXECUTE p", "SELECT * FROM late_view"):
            client.simple("BEGIN")
            assert "E" not in kinds(client.simple(text))
            assert gate_locks(cluster, client.pid), f"not pinned: {text}"
            client.simple("COMMIT")


def test_a_way_to_a_new_table_is_pinned_before_the_catalogs_were_read_for_it(cluster, own):
    """Closed: until the ways to the new names are known, everything that could be one is taken for one."""
    cluster.execute("CREATE TABLE IF NOT EXISTS late_table (id int)")
    cluster.execute("CREATE OR REPLACE VIEW late_view AS SELECT * FROM late_table")
    wait_until(lambda: not touches(own, "SELECT * FROM late_view"), "the catalogs to be read")
    own.configuration["gate"]["tables"].append({"name": "late_table"})
    changed(own)
    assert touches(own, "SELECT * FROM late_view")
    wait_until(lambda: not touches(own, "SELECT * FROM some_other_table"), "the catalogs to be read again")
    assert touches(own, "SELECT * FROM late_view")


def test_a_table_that_is_gated_no_more_is_left_alone(cluster, own):
    cluster.execute("CREATE TABLE IF NOT EXISTS late_table (id int)")
    own.configuration["gate"]["tables"].append({"name": "late_table"})
    changed(own)
    wait_until(lambda: not touches(own, "SELECT * FROM some_other_table"), "the catalogs to be read")
    assert touches(own, "SELECT * FROM late_table")
    own.configuration["gate"]["tables"].pop()
    changed(own)
    wait_until(lambda: not touches(own, "SELECT * FROM late_table"), "the catalogs to be read again")


def test_an_error_in_the_new_file_is_shown_whole_and_changes_nothing(own):
    own.configuration["limits"]["max_clients"] = 7
    own.configuration["modes"] = ["shadow"]
    own.configuration["log"]["level"] = "loud"
    own.configuration["nonsense"] = 1
    write(own)
    status, answer = reload(own)
    assert (status, answer["error"]["code"]) == (422, "invalid_configuration")
    problems = "\n".join(answer["error"]["problems"])
    for key in ("modes", "log.level", "nonsense"):
        assert f"{own.configuration_file.name}:" in problems and key in problems
    assert own.get("/v1/status")[1]["clients"]["limit"] == 1000
    code, _, said = gatectl(own, "reload")
    assert code == REFUSED and "nonsense" in said and "log.level" in said


@pytest.mark.parametrize("text", ["", "{", "\x00", "listen: &a [*a]"])
def test_a_file_that_is_no_configuration_changes_nothing(own, text):
    write(own, text or " ")
    assert reload(own)[0] == 422
    assert own.flip("ledger")["state"] == "committed"


def test_a_change_that_needs_a_restart_is_refused_with_all_the_rest(own):
    own.configuration["gate"]["lock_key"] = 77
    own.configuration["limits"]["threads"] = 1
    own.configuration["limits"]["max_clients"] = 7
    write(own)
    status, answer = reload(own)
    assert (status, answer["error"]["code"]) == (409, "needs_restart")
    assert [each.split(":")[0] for each in answer["error"]["problems"]] == ["gate.lock_key", "limits.threads"]
    assert own.get("/v1/status")[1]["clients"]["limit"] == 1000


def test_limits_log_drain_and_modes_count_at_once(own):
    own.configuration["limits"]["max_clients"] = 1
    own.configuration["log"]["format"] = "json"
    own.configuration["modes"] = ["shadow", "ledger", "frozen"]
    assert set(changed(own)) == {"limits.max_clients", "log.format", "modes"}
    assert own.get("/v1/status")[1]["clients"]["limit"] == 1
    assert "frozen" in own.get("/v1/config")[1]["config"]
    with WireClient(own.endpoint()):
        with pytest.raises(Exception, match="53300|too many"):
            WireClient(own.endpoint()).__enter__()
    assert json.loads(own.log().splitlines()[-1])
    dry = {"to": "frozen", "dry_run": True}
    assert own.request("POST", "/v1/transitions", dry)[0] == 200


def test_steps_are_those_of_the_file_that_was_reloaded_last(cluster, own):
    own.configuration["transitions"]["steps"] = {"ledger": ["update users set kudos = 4711"]}
    changed(own)
    assert own.flip("ledger")["state"] == "committed"
    assert cluster.execute("SELECT min(kudos) FROM users") == [(4711,)]


def test_a_transition_that_waits_goes_on_by_what_it_began_with(cluster, own):
    with shared_gate(cluster) as holder:
        status, answer = own.request("POST", "/v1/transitions", {"to": "ledger", "queue_budget": "30s"})
        assert status == 202
        wait_until(lambda: own.get(f"/v1/transitions/{answer['id']}")[1]["state"] == "queued", "it to queue")
        own.configuration["transitions"].update({"guards": {"ledger": ["select false"]}, "steps": {}})
        changed(own)
        holder.close()
    assert own.await_transition(answer["id"])["state"] == "committed"
    assert own.flip("shadow")["state"] == "committed"
    assert own.flip("ledger")["reason"] == "guard"


def test_sighup_reloads_and_says_what_it_found(own):
    own.configuration["drain"]["timeout"] = "3s"
    write(own)
    own.process.send_signal(signal.SIGHUP)
    wait_until(lambda: "reloaded: changed drain.timeout" in own.log(), "the reload to be logged")
    write(own, "listen: 7")
    own.process.send_signal(signal.SIGHUP)
    wait_until(lambda: "not reloaded: everything stays as it was" in own.log(), "the refusal to be logged")
    assert own.process.poll() is None
    write(own)
    code, said, _ = gatectl(own, "reload")
    assert code == DONE and "nothing is different" in said


def test_reload_needs_the_token(own):
    assert own.request("POST", "/v1/reload", {}, token=None)[0] == 403
    assert own.request("GET", "/v1/reload")[0] == 405


def test_reloads_under_load_lose_nothing_and_leave_no_touch_without_a_pin(cluster, own, oracle):
    """Clients write through it without an end while its gated tables, its limits and its strictness on another table
    change to and fro: no error, no lost answer, and every touch of what was gated throughout is pinned."""
    stop = threading.Event()
    failures, written = [], []
    before = cluster.execute("SELECT count(*) FROM kudos_ledger")[0][0]

    def write_on(user):
        with WireClient(own.endpoint()) as client:
            while not stop.is_set():
                answer = kinds(client.simple(f"INSERT INTO kudos_ledger (user_id, amount) VALUES ({user}, 1)"))
                answer += kinds(client.simple(f"BEGIN; SELECT kudos FROM users WHERE id = {user}"))
                answer += kinds(client.simple(f"UPDATE users SET kudos = kudos + 1 WHERE id = {user}; COMMIT"))
                if "E" in answer:
                    failures.append(answer)
                    return
                written.append(user)

    threads = [threading.Thread(target=write_on, args=(user,)) for user in (1, 2, 3, 4)]
    for thread in threads:
        thread.start()
    try:
        kept = own.configuration["gate"]["tables"]
        for turn in range(12):
            own.configuration["gate"]["tables"] = kept + [{"name": "late_table"}] if turn % 2 else kept
            own.configuration["limits"]["max_clients"] = 900 + turn
            own.configuration["gate"]["in_band_transitions"] = "deny" if turn % 3 else "exclusive"
            assert "limits.max_clients" in changed(own)
            reached = len(written)
            wait_until(lambda: failures or len(written) > reached + 4, "the writers to go on")  # noqa: B023
            own.flip("ledger" if turn % 2 == 0 else "shadow")
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
    assert not failures
    assert cluster.execute("SELECT count(*) FROM kudos_ledger") == [(before + len(written),)]
    oracle.assert_clean()
