"""deploy/kubernetes: every object is what the published schemas want, and the parts fit together."""

import copy
import json
import pathlib
import subprocess

import pytest
import yaml
from kustomize import comparable, containers, newer_kubectl, render, render_with
from support.sidecar import ROOT, binary

FOLDER = ROOT / "deploy/kubernetes"
VALIDATE = pathlib.Path(__file__).parent / "node/validate.mjs"
OVERLAYS = ["native-sidecar", "plain-container"]
RENDERED = {name: render(FOLDER / "overlays" / name) for name in OVERLAYS} | {
    "monitoring": render(FOLDER / "monitoring")
}
SECRET = yaml.safe_load((FOLDER / "base/secret.example.yaml").read_text())


def faults(objects):
    done = subprocess.run(
        ["node", VALIDATE], input=json.dumps(objects), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [fault for each in json.loads(done.stdout) for fault in each]


def one(objects, kind, name):
    return next(each for each in objects if (each["kind"], each["metadata"]["name"]) == (kind, name))


def pod_of(overlay):
    return one(RENDERED[overlay], "Deployment", "horde")["spec"]["template"]


def sidecar_of(overlay):
    return next(
        each
        for each in containers(one(RENDERED[overlay], "Deployment", "horde"))
        if each["name"] == "ledgergate"
    )


@pytest.mark.parametrize("name", [*RENDERED, "secret"])
def test_is_valid_by_the_published_schemas(name):
    assert faults(RENDERED.get(name, [SECRET])) == []


def test_the_schemas_would_find_mistakes():
    good = RENDERED["native-sidecar"]
    mistakes = [
        lambda pod: pod["spec"]["initContainers"][0].update(restartPolcy="Always"),
        lambda pod: pod["spec"]["initContainers"][0]["livenessProbe"]["httpGet"].pop("port"),
        lambda pod: pod["spec"]["initContainers"][0]["resources"].update(request={}),
        lambda pod: pod["spec"].update(terminationGracePeriodSeconds="60s"),
    ]
    for make in mistakes:
        bad = copy.deepcopy(good)
        make(one(bad, "Deployment", "horde")["spec"]["template"])
        assert len(faults(bad)) == 1
    monitor = copy.deepcopy(RENDERED["monitoring"])
    monitor[0]["spec"]["podMetricsEndpoint"] = []
    assert len(faults(monitor)) == 1


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_kustomize_itself_renders_the_same(overlay):
    # Where there is none, the folder at least has nothing in it that the renderer above does not know.
    kubectl = newer_kubectl()
    theirs = render_with(kubectl, FOLDER / "overlays" / overlay) if kubectl else RENDERED[overlay]
    assert comparable(theirs) == comparable(RENDERED[overlay])


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_pieces_fit_together(overlay):
    pod, sidecar = pod_of(overlay), sidecar_of(overlay)
    data = one(RENDERED[overlay], "ConfigMap", "ledgergate")["data"]
    settings = yaml.safe_load(data["ledgergate.yaml"])
    admin_port = int(settings["admin"]["address"].rsplit(":", 1)[1])
    assert [each["containerPort"] for each in sidecar["ports"] if each["name"] == "lg-admin"] == [admin_port]
    app = next(each for each in pod["spec"]["containers"] if each["name"] == "app")
    listening = settings["listen"][0]["address"].rsplit(":", 1)
    assert {each["name"]: each["value"] for each in app["env"]} == {
        "PGHOST": listening[0],
        "PGPORT": listening[1],
    }
    volumes = {each["name"]: each for each in pod["spec"]["volumes"]}
    assert {each["name"] for each in sidecar["volumeMounts"]} == set(volumes)
    secrets = next(
        each["mountPath"] for each in sidecar["volumeMounts"] if each["name"] == "ledgergate-secrets"
    )
    files = {f"{secrets}/{each['path']}" for each in volumes["ledgergate-secrets"]["secret"]["items"]}
    assert settings["admin"]["token_file"] in files
    keys = {each["key"] for each in volumes["ledgergate-secrets"]["secret"]["items"]}
    keys |= {each["valueFrom"]["secretKeyRef"]["key"] for each in sidecar["env"]}
    assert keys == set(SECRET["stringData"])
    assert {each["httpGet"]["port"] for name, each in sidecar.items() if name.endswith("Probe")} == {
        "lg-admin"
    }
    policy = one(RENDERED[overlay], "NetworkPolicy", "ledgergate-admin")
    assert policy["spec"]["podSelector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
    assert policy["spec"]["ingress"][0]["ports"] == [{"protocol": "TCP", "port": admin_port}]
    monitor = RENDERED["monitoring"][0]["spec"]
    assert monitor["selector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
    assert [each["port"] for each in monitor["podMetricsEndpoints"]] == ["lg-admin"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_grace_period_is_longer_than_what_has_to_fit_in(overlay):
    pod, sidecar = pod_of(overlay), sidecar_of(overlay)
    data = one(RENDERED[overlay], "ConfigMap", "ledgergate")["data"]
    drain = int(yaml.safe_load(data["ledgergate.yaml"])["drain"]["timeout"].rstrip("s"))
    command = sidecar.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", ["", "0"])
    assert pod["spec"]["terminationGracePeriodSeconds"] >= int(command[1]) + drain + 5


def test_the_native_one_starts_before_and_ends_after_the_application():
    assert sidecar_of("native-sidecar")["restartPolicy"] == "Always"
    assert "startupProbe" in sidecar_of("native-sidecar")
    assert "ledgergate" in [each["name"] for each in pod_of("plain-container")["spec"]["containers"]]
    assert "initContainers" not in pod_of("plain-container")["spec"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_configuration_is_one_that_the_sidecar_takes(overlay, tmp_path):
    file = tmp_path / "ledgergate.yaml"
    file.write_text(one(RENDERED[overlay], "ConfigMap", "ledgergate")["data"]["ledgergate.yaml"])
    done = subprocess.run(
        [binary(), "--config", file, "--check-config"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
