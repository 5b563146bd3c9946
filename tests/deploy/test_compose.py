"""deploy/compose: well-formed, every file it mounts exists, nothing is published beyond loopback, and its
pieces work."""

import subprocess

import pytest
import yaml
from ledger import APPLICATION, CONTROL, DATABASE, DEPLOY
from support.pg_cluster import SUPERUSER, Cluster
from support.sidecar import Sidecar, binary

FOLDER = DEPLOY / "compose"
COMPOSE = yaml.safe_load((FOLDER / "compose.yaml").read_text())


def mounts():
    for name, service in COMPOSE["services"].items():
        for volume in service.get("volumes", []):
            source, target, how = volume.split(":")
            yield name, FOLDER / source, target, how


def test_compose_itself_finds_nothing_wrong():
    done = subprocess.run(
        ["docker-compose", "-f", "compose.yaml", "config", "-q"],
        cwd=FOLDER,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_every_file_is_there_and_mounted_read_only():
    for name, source, _, how in mounts():
        assert source.exists() and how == "ro", f"{name}: {source}"
    assert (FOLDER / COMPOSE["services"]["sidecar"]["build"]["context"] / "deploy/docker/Dockerfile").exists()


def test_nothing_is_published_beyond_loopback_and_the_writer_cannot_pass_the_sidecar():
    for service in COMPOSE["services"].values():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
    networks = {name: set(service["networks"]) for name, service in COMPOSE["services"].items()}
    assert [name for name, joined in networks.items() if "database" in joined] == ["postgres", "sidecar"]
    assert not networks["writer"] & networks["postgres"]


@pytest.mark.parametrize("file", ["prometheus.yaml", "grafana-datasource.yaml", "grafana-dashboards.yaml"])
def test_the_names_in_the_files_are_those_of_the_services(file):
    text = (FOLDER / file).read_text()
    hosts = {"prometheus.yaml": "sidecar:6433", "grafana-datasource.yaml": "prometheus:9090"}
    assert hosts.get(file, "/srv/dashboards") in text
    assert yaml.safe_load(text)


def test_the_configuration_is_one_that_the_sidecar_takes():
    done = subprocess.run(
        [binary(), "--config", FOLDER / "ledgergate.yaml", "--check-config"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_init_and_writer_do_what_they_are_for(tmp_path):
    """init.sh against a server as the image starts it, then the writer's command."""
    with Cluster() as cluster:
        cluster.execute(f"CREATE DATABASE {DATABASE}", "postgres")
        script = (FOLDER / "init.sh").read_text().replace("/srv/", f"{DEPLOY}/")
        environment = {
            **cluster.endpoint(SUPERUSER, DATABASE, unix=True).environment(),
            "PATH": f"{cluster.binaries}:/usr/bin:/bin",
        }
        done = subprocess.run(
            ["sh", "-c", script], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        changes = yaml.safe_load((FOLDER / "ledgergate.yaml").read_text())
        changes = {key: changes[key] for key in ("gate", "control_row", "modes")} | {
            "transitions": {"guards": {}, "steps": {}}
        }
        with Sidecar(cluster.endpoint(APPLICATION, DATABASE), changes) as sidecar:
            command = [
                word.replace("/srv/writer.sql", str(FOLDER / "writer.sql"))
                for word in COMPOSE["services"]["writer"]["command"]
                if not word.startswith("--time")
            ]
            environment = {
                **sidecar.endpoint(APPLICATION, DATABASE).environment(),
                "PATH": f"{cluster.binaries}:/usr/bin:/bin",
            }
            done = subprocess.run(
                [*command[:1], "--transactions=20", *command[1:]],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                cwd=tmp_path,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            assert sidecar.metric("ledgergate_pins_total") >= 120
            sums = cluster.execute(
                "SELECT sum(kudos) - 60000, (SELECT sum(amount) FROM kudos_ledger) FROM users"
            )
            assert sums[0][0] == sums[0][1] != 0
            assert CONTROL in cluster.execute("SELECT string_agg(usename, ' ') FROM pg_stat_activity")[0][0]
