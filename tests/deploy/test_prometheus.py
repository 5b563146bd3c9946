"""deploy/prometheus and deploy/grafana: the rules fire and resolve, and every metric and label exists in a
live scrape."""

import json
import re
import subprocess
import tempfile

import psycopg2
import pytest
import yaml
from draw import draw
from ledger import (
    APPLICATION,
    CONFIGURATION,
    DATABASE,
    DEPLOY,
    Writer,
    create,
    flip,
    grant_roles,
    write_and_fold,
)
from prometheus import Prometheus
from support.gate import exclusive_gate
from support.pg_cluster import Cluster
from support.sidecar import ROOT, Sidecar
from support.waiting import wait_until

ALERTS = DEPLOY / "prometheus/alerts.yaml"
DASHBOARD = json.loads((DEPLOY / "grafana/dashboard.json").read_text())
NAME = re.compile(r"\bledgergate_[a-z_]+\b")
FROM_PROMETHEUS = {"job", "instance", "le"}


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as started:
        create(started)
        grant_roles(started)
        yield started


@pytest.fixture(scope="module")
def busy(cluster):
    """A sidecar behind which everything has happened that has a metric."""
    changes = {**CONFIGURATION, "transitions": {**CONFIGURATION["transitions"], "evict_idle_after": "off"}}
    with Sidecar(cluster.endpoint(APPLICATION, DATABASE), changes) as sidecar:
        work(cluster, sidecar)
        yield sidecar


def work(cluster, sidecar):
    endpoint = sidecar.endpoint(APPLICATION, DATABASE)
    write_and_fold(endpoint)
    flip(sidecar, "ledger")
    flip(sidecar, "shadow")
    with Writer(endpoint) as writer:
        fails(writer, "SELECT kudos_ledger FROM FROM", psycopg2.errors.SyntaxError)
        fails(
            writer,
            "INSERT INTO kudos_ledger SELECT; ROLLBACK; SELECT pg_advisory_unlock_all(); COMMIT",
            psycopg2.Error,
        )
        with exclusive_gate(cluster):
            writer.run("SET lock_timeout = '50ms'")
            fails(writer, "SELECT count(*) FROM kudos_ledger", psycopg2.errors.LockNotAvailable)


def fails(writer, text, error):
    with pytest.raises(error):
        writer.run(text)
    writer.connection.rollback()


def rules_of_file():
    return [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]


def panels():
    return [(panel["title"], target) for panel in DASHBOARD["panels"] for target in panel["targets"]]


def labels_in(expression, legend=""):
    matchers = re.findall(r"\{([^}]*)\}", expression)
    used = {label for each in matchers for label in re.findall(r"([a-z_]+)\s*(?:=~|!~|!=|=)", each)}
    used |= {label.strip() for each in re.findall(r"by \(([^)]*)\)", expression) for label in each.split(",")}
    used |= set(re.findall(r"\{\{\s*\$?(?:labels\.)?([a-z_]+)\s*\}\}", legend))
    return used - FROM_PROMETHEUS - {"value"}


def test_the_rules_fire_and_resolve():
    for words in (
        ["check", "rules", "alerts.yaml"],
        ["check", "config", "prometheus.yaml"],
        ["test", "rules", "alerts.test.yaml"],
    ):
        done = subprocess.run(
            ["promtool", *words], cwd=ALERTS.parent, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_rule_is_tested_and_its_guide_exists():
    tested = set(re.findall(r"alertname: (\w+)", (ALERTS.parent / "alerts.test.yaml").read_text()))
    assert tested == {rule["alert"] for rule in rules_of_file()}
    for rule in rules_of_file():
        file, _, heading = rule["annotations"]["guide"].partition("#")
        text = (DEPLOY / "guides" / file).read_text()
        headings = {
            line.lstrip("# ").lower().replace(" ", "-") for line in text.splitlines() if line.startswith("#")
        }
        assert not heading or heading in headings, f"{file} has no {heading}"


def test_every_metric_and_label_of_rules_and_dashboard_is_in_a_live_scrape(busy):
    scraped = {}
    for (name, pairs), _ in busy.metrics().items():
        scraped.setdefault(name, set()).update(label for label, _ in pairs)
    texts = [(rule["alert"], rule["expr"], rule["annotations"]["summary"]) for rule in rules_of_file()]
    texts += [(title, target["expr"], target["legendFormat"]) for title, target in panels()]
    for where, expression, legend in texts:
        names = set(NAME.findall(expression))
        assert names or "up{" in expression, f"{where} looks at nothing"
        for name in names:
            assert name in scraped, f"{where}: there is no metric {name}"
        known = set().union(*(scraped[name] for name in names)) if names else set()
        assert labels_in(expression, legend) <= known, f"{where}: {labels_in(expression, legend) - known}"


def test_prometheus_answers_every_panel_with_data(cluster, busy):
    with Prometheus(f"127.0.0.1:{busy.admin_port}", ALERTS) as prometheus:
        wait_until(lambda: prometheus.samples("ledgergate_statements_total") >= 3, "three scrapes")
        before = prometheus.samples("ledgergate_statements_total")
        work(cluster, busy)
        wait_until(
            lambda: prometheus.samples("ledgergate_statements_total") >= before + 3, "three more scrapes"
        )
        without = []
        for title, target in panels():
            expression = target["expr"].replace("$job", ".*").replace("$instance", ".*")
            result = prometheus.query(expression.replace("$__rate_interval", "30s"))
            values = [each["value"][1] for each in result if each["value"][1] != "NaN"]
            if not values:
                without.append((title, target["legendFormat"]))
        assert without == []
        look_at(draw(prometheus, DASHBOARD, 60))
        loaded = prometheus.get("/api/v1/rules")["groups"][0]["rules"]
        assert [(rule["name"], rule.get("lastError")) for rule in loaded if rule["health"] != "ok"] == []


def look_at(page):
    """A picture of it, for people: build/deploy/dashboard.png."""
    folder = ROOT / "build/deploy"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "dashboard.html").write_text(page)
    with tempfile.TemporaryDirectory(prefix="lgchromium-") as profile:
        done = subprocess.run(
            [
                "chromium",
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--window-size=1360,1130",
                f"--user-data-dir={profile}",
                f"--screenshot={folder}/dashboard.png",
                f"file://{folder}/dashboard.html",
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    assert done.returncode == 0 and (folder / "dashboard.png").stat().st_size > 20000, done.stderr[-2000:]


def test_the_dashboard_is_well_formed():
    places = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    for first in places:
        assert first["x"] + first["w"] <= 24
        overlapping = [
            second
            for second in places
            if first["x"] < second["x"] + second["w"]
            and second["x"] < first["x"] + first["w"]
            and first["y"] < second["y"] + second["h"]
            and second["y"] < first["y"] + first["h"]
        ]
        assert overlapping == [first]
    variables = {each["name"] for each in DASHBOARD["templating"]["list"]}
    for _, target in panels():
        used = set(re.findall(r"\$(\w+)", target["expr"])) - {"__rate_interval"}
        assert used <= variables and target["datasource"]["uid"] == "${datasource}"
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(places)
