"""The operators' port of a real sidecar with a real server behind it."""

import http.client
import json

from support.gate import await_state, gate_locks, shared_gate
from support.sidecar import Sidecar
from support.waiting import wait_until
from support.wire import WireClient, kinds, query

JSON = {"Content-Type": "application/json"}


def cancel(sidecar, identity, **options):
    return sidecar.request("DELETE", f"/v1/transitions/{identity}", headers=JSON, **options)


def start(sidecar, mode, **fields):
    status, answer = sidecar.request("POST", "/v1/transitions", {"to": mode, **fields})
    assert status == 202, (status, answer)
    return answer["id"]


def await_queued(sidecar, identity):
    wait_until(
        lambda: sidecar.get(f"/v1/transitions/{identity}")[1]["state"] == "queued",
        f"transition {identity} to queue",
    )


def events(sidecar, identity):
    """The states of the event stream, one for each event, until it ends."""
    connection = http.client.HTTPConnection("127.0.0.1", sidecar.admin_port, timeout=60)
    try:
        connection.request("GET", f"/v1/transitions/{identity}", headers={"Accept": "text/event-stream"})
        response = connection.getresponse()
        assert response.getheader("Content-Type") == "text/event-stream"
        for line in response:
            if line.startswith(b"data: "):
                yield json.loads(line[6:])
    finally:
        connection.close()


def test_a_dry_run_shows_the_plan_and_touches_nothing(cluster, sidecar):
    with shared_gate(cluster):
        locks = gate_locks(cluster)
        status, plan = sidecar.request("POST", "/v1/transitions", {"to": "ledger", "dry_run": True})
        assert gate_locks(cluster) == locks
    assert status == 200
    assert (plan["state"], plan["id"], plan["from"], plan["to"]) == ("planned", None, "shadow", "ledger")
    checks = {check["name"]: check["verdict"] for check in plan["plan"]["checks"]}
    assert checks["mode"] == checks["slot"] == checks["standby"] == checks["server"] == "good"
    assert checks["bypass"] == "warning", "the holder is connected past the sidecar"
    assert plan["plan"]["possible"]
    assert plan["plan"]["oldest_pin"]["pid"] == plan["blockers"][0]["pid"]
    assert plan["plan"]["predicted_pause"]["at_most_ms"] == 12_000
    assert sidecar.get("/v1/status")[1]["ledger"]["mode"] == "shadow"


def test_a_dry_run_says_what_would_refuse_the_change(sidecar):
    body = {"to": "ledger", "from": "ledger", "expect_version": "1", "dry_run": True}
    plan = sidecar.request("POST", "/v1/transitions", body)[1]["plan"]
    bad = {check["name"] for check in plan["checks"] if check["verdict"] == "bad"}
    assert bad == {"from", "version"} and not plan["possible"]
    assert sidecar.request("POST", "/v1/transitions", {"to": "x", "dry_run": True})[0] == 400


def test_a_dry_run_needs_the_token_as_the_change_does(sidecar):
    status, _ = sidecar.request("POST", "/v1/transitions", {"to": "ledger", "dry_run": True}, token=None)
    assert status == 403


def test_a_rehearsal_changes_nothing_and_says_so(cluster, sidecar):
    done = sidecar.flip("ledger", rehearse=True)
    assert (done["state"], done["reason"], done["changed"]) == ("aborted", None, False)
    assert done["result"]["outcome"] == "rehearsed"
    assert done["result"]["mode"] == "shadow"
    assert cluster.execute("SELECT mode FROM kudos_ledger_control") == [("shadow",)]
    assert sidecar.metric("ledgergate_transitions_total", result="rehearsed") >= 1


def test_a_cancelled_transition_lets_the_writers_go_on(cluster, sidecar, proxied):
    with shared_gate(cluster):
        identity = start(sidecar, "ledger", queue_budget="60s")
        await_queued(sidecar, identity)
        with WireClient(proxied) as writer:
            writer.send(query("INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1)"))
            await_state(cluster, writer.pid, "wait_event = 'advisory'")
            assert cancel(sidecar, identity, token=None)[0] == 403
            assert cancel(sidecar, identity)[0] == 202
            assert kinds(writer.read_until_ready()) == ["C", "Z:I"]
        done = sidecar.await_transition(identity)
    assert (done["state"], done["reason"]) == ("aborted", "cancelled")
    assert "127.0.0.1" in done["message"]
    status, answer = cancel(sidecar, identity)
    assert (status, answer["error"]["code"]) == (409, "already_ended")
    assert cancel(sidecar, "no-such-id")[0] == 404


def test_a_repeated_request_id_starts_nothing_anew(sidecar):
    first = sidecar.flip("ledger", request_id="test-1")
    assert first["state"] == "committed"
    assert sidecar.flip("shadow")["state"] == "committed"
    status, again = sidecar.request("POST", "/v1/transitions", {"to": "ledger", "request_id": "test-1"})
    assert (status, again["id"], again["state"]) == (200, first["id"], "committed")
    status, other = sidecar.request("POST", "/v1/transitions", {"to": "shadow", "request_id": "test-1"})
    assert (status, other["error"]["code"]) == (409, "request_id_reused")
    assert sidecar.get("/v1/status")[1]["ledger"]["mode"] == "shadow"


def test_the_event_stream_tells_the_states_until_the_end(cluster, sidecar):
    with shared_gate(cluster) as holder:
        identity = start(sidecar, "ledger", queue_budget="60s")
        stream = events(sidecar, identity)
        seen = [next(stream)]
        while seen[-1]["state"] != "queued" or not seen[-1]["blockers"]:
            seen.append(next(stream))
        assert seen[-1]["blockers"][0]["pid"] == holder.get_backend_pid()
        holder.close()
        seen += stream
    states = [event["state"] for event in seen]
    assert states[-1] == "committed" and "holding" in states
    assert states == sorted(states, key=["planned", "waiting_applier", "waiting_quiet", "queued", "holding",
                                         "committed"].index)


def test_sessions_show_who_is_connected_and_pinned(sidecar, proxied):
    with WireClient(proxied) as client:
        client.simple("BEGIN")
        client.simple("SELECT count(*) FROM kudos_ledger")
        sessions = sidecar.get("/v1/sessions")[1]["sessions"]
        mine = next(each for each in sessions if each["backend_pid"] == client.pid)
        assert (mine["user"], mine["database"], mine["gate"]) == ("app", "horde", "gated")
        assert (mine["state"], mine["pinned"]) == ("in transaction", True)
        assert mine["bytes_from_client"] > 0 and mine["bytes_from_server"] > 0

        def own_pin():
            pins = sidecar.get("/v1/pins")[1]["holders"]
            return next((pin for pin in pins if pin["pid"] == client.pid), None)

        pin = wait_until(own_pin, "the pin to be seen")
        assert pin["client"] == mine["client"]
        assert pin["sidecar"].startswith("ledgergate/")


def test_status_lists_the_sidecars_of_the_fleet(sidecar):
    seen = wait_until(lambda: sidecar.get("/v1/status")[1]["sidecars"], "the fleet to be read")
    assert seen[0]["name"] == f"ledgergate/{seen[0]['version']}@{seen[0]['host']}"
    assert seen[0]["version"] == sidecar.get("/v1/status")[1]["version"]


def test_reading_needs_a_token_once_one_is_configured(cluster, tmp_path):
    viewer = tmp_path / "viewer-token"
    viewer.write_text("look\n")
    with Sidecar(cluster.endpoint(), {"admin": {"viewer_token_file": str(viewer)}}) as guarded:
        assert guarded.request("GET", "/v1/status", token=None)[0] == 403
        assert guarded.request("GET", "/v1/status", token="look")[0] == 200
        assert guarded.request("GET", "/v1/status")[0] == 200
        assert guarded.request("GET", "/livez", token=None)[0] == 200
        assert guarded.request("POST", "/v1/transitions", {"to": "ledger"}, token="look")[0] == 403


def test_a_draining_sidecar_ends_its_clients_and_still_carries_out_transitions(cluster):
    with Sidecar(cluster.endpoint()) as drained:
        with WireClient(drained.endpoint()) as busy:
            busy.simple("BEGIN")
            busy.simple("SELECT 1")
            assert drained.request("POST", "/v1/drain", {})[0] == 202
            assert drained.get("/readyz")[0] == 503
            assert drained.get("/livez")[0] == 200
            busy.simple("SELECT 1")
        wait_until(lambda: not drained.get("/v1/sessions")[1]["sessions"], "the sessions to end")
        assert drained.flip("ledger")["state"] == "committed"
