"""The operator's page in a real headless Chromium, driven by Playwright, with a real sidecar and server behind it."""

import json
import pathlib
import subprocess

import pytest
from support.gate import await_state, shared_gate
from support.sidecar import TOKEN, Sidecar
from support.waiting import wait_until
from support.wire import WireClient, query

PROGRAM = pathlib.Path(__file__).resolve().parent / "page/browser.mjs"


class Browser:
    """One scenario of browser.mjs; what it tells is kept as (what, value)."""

    def __init__(self, sidecar, scenario, folder="/tmp"):
        url = f"http://127.0.0.1:{sidecar.admin_port}/"
        self.process = subprocess.Popen(
            ["node", str(PROGRAM), scenario, url, TOKEN, str(folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        self.told = []

    def __enter__(self):
        return self

    def __exit__(self, failure, *_):
        if failure:
            self.process.kill()
        self.process.communicate()

    def until(self, what):
        """Reads on until it tells `what`; returns its value."""
        for line in self.process.stdout:
            told = json.loads(line)
            self.told.append((told["what"], told["value"]))
            if told["what"] == what:
                return told["value"]
        raise AssertionError(f"it ended before {what}; {self.told}\n{self.process.stderr.read()}")

    def go_on(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def finish(self):
        """To its end, without a complaint of the browser; returns all that was told, the last of each kind."""
        assert self.until("complaints") == []
        assert self.process.wait(60) == 0, self.process.stderr.read()
        return dict(self.told)


def started(sidecar, mode, **fields):
    status, answer = sidecar.request("POST", "/v1/transitions", {"to": mode, **fields})
    assert status == 202, (status, answer)
    return answer["id"]


def test_whoever_watches_sees_a_transition_from_queue_to_commit_without_a_token(cluster, sidecar, proxied):
    with Browser(sidecar, "watch") as browser:
        browser.until("ready")
        with shared_gate(cluster) as holder, WireClient(proxied) as writer:
            started(sidecar, "ledger", queue_budget="60s", deadline="2m", reason="the page watches")
            wait_until(lambda: sidecar.get("/v1/status")[1]["transition"]["state"] == "queued", "it to queue")
            writer.send(query("INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1)"))
            await_state(cluster, writer.pid, "wait_event = 'advisory'")
            browser.until("queued")
            pid = holder.get_backend_pid()
            holder.close()
            writer.read_until_ready()
        seen = browser.finish()
    assert seen["disabled"] and not seen["cancel"], "without a token nothing can be asked for"
    assert len(seen["clocks"]) == 2 and "Until the deadline" in seen["clocks"][0]
    assert str(pid) in seen["blockers"][0]
    assert "the page watches" in seen["history"] and "shadow → ledger" in seen["history"]


def test_a_change_is_made_by_keyboard_once_the_target_mode_was_typed(cluster, sidecar):
    with Browser(sidecar, "start") as browser:
        assert browser.finish()["too_short"], "part of the mode's name is not enough"
    assert cluster.execute("SELECT mode FROM kudos_ledger_control") == [("ledger",)]


@pytest.fixture
def patient(cluster):
    """Its transitions queue behind an old pin, and stay there."""
    with Sidecar(cluster.endpoint(), {"transitions": {"queue_budget": "60s", "deadline": "2m"}}) as started:
        yield started


def test_a_change_is_cancelled_while_it_waits(cluster, patient):
    with shared_gate(cluster), Browser(patient, "cancel") as browser:
        assert browser.finish()["mode"] == "shadow"
    assert cluster.execute("SELECT mode FROM kudos_ledger_control") == [("shadow",)]


def test_a_change_of_what_somebody_else_has_changed_meanwhile_is_refused(sidecar):
    with Browser(sidecar, "refused") as browser:
        browser.until("ready")
        assert sidecar.flip("ledger")["state"] == "committed"
        assert sidecar.flip("shadow")["state"] == "committed"
        browser.go_on()
        assert "precondition_failed" in browser.finish()["answer"]


def test_a_change_while_another_one_runs_is_refused_and_says_so(cluster, sidecar):
    with Browser(sidecar, "refused") as browser:
        browser.until("ready")
        with shared_gate(cluster):
            identity = started(sidecar, "ledger", queue_budget="60s", deadline="2m")
            browser.go_on()
            assert "transition_running" in browser.finish()["answer"]
            sidecar.request("DELETE", f"/v1/transitions/{identity}", headers={"Content-Type": "application/json"})
        assert sidecar.await_transition(identity)["reason"] == "cancelled"


def test_the_plan_shows_every_check_in_words_and_signs(sidecar):
    with Browser(sidecar, "plan") as browser:
        seen = browser.finish()
    assert "✓ good" in seen["verdict"]
    assert any(check.startswith("✓ good") for check in seen["checks"])
    assert all(check.split()[0] in "✓!✗" for check in seen["checks"])


def test_a_wrong_token_unlocks_nothing(sidecar):
    with Browser(sidecar, "wrong_token") as browser:
        seen = browser.finish()
    assert seen["disabled"] and "not the operator's token" in seen["note"]


def test_what_a_client_calls_itself_is_shown_as_text(cluster, sidecar):
    name = "<img src=x onerror=alert(1)>"
    with shared_gate(cluster) as holder:
        holder.cursor().execute("SET application_name = %s", (name,))
        with Browser(sidecar, "hostile") as browser:
            seen = browser.finish()
    assert name in seen["holder"] and seen["images"] == 0


def test_the_page_says_that_the_sidecar_is_gone_and_comes_back_with_it(cluster):
    with Sidecar(cluster.endpoint()) as own, Browser(own, "lost") as browser:
        browser.until("ready")
        own.stop()
        assert "connection lost" in browser.until("lost")
        own.start()
        browser.finish()


def test_axe_finds_nothing_and_no_size_has_to_be_scrolled_sideways(cluster, patient, tmp_path):
    with shared_gate(cluster), Browser(patient, "looks", tmp_path) as browser:
        browser.finish()
    found = [value for what, value in browser.told if what == "axe"]
    assert len(found) == 12
    assert [each for each in found if each["violations"]] == []
    assert [value for what, value in browser.told if what == "overflow"] == [False, False, False]


@pytest.mark.parametrize("path", ["/", "/page.css", "/page.js", "/page_api.js"])
def test_the_page_is_served_with_a_strict_policy(sidecar, path):
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", sidecar.admin_port, timeout=30)
    connection.request("GET", path)
    response = connection.getresponse()
    policy = response.getheader("Content-Security-Policy")
    assert response.status == 200 and response.read()
    assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
    assert response.getheader("X-Content-Type-Options") == "nosniff"
    connection.close()
