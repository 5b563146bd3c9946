"""Renders deploy/kubernetes as kustomize does, for the few things that it uses: resources, configMapGenerator,
patches (JSON 6902, `add` only) and images. Debian's own kubectl carries a kustomize that is too old to read
these overlays."""

import copy
import json
import pathlib
import re
import subprocess

import yaml

KNOWN = {"apiVersion", "kind", "resources", "configMapGenerator", "patches", "images"}


def render(folder):
    """All objects of a folder with a kustomization.yaml. The names of generated maps have no hash behind them."""
    folder = pathlib.Path(folder)
    text = yaml.safe_load((folder / "kustomization.yaml").read_text())
    assert set(text) <= KNOWN, f"{folder}: this renderer does not know {set(text) - KNOWN}"
    objects = []
    for name in text.get("resources", []):
        path = folder / name
        objects += render(path) if path.is_dir() else list(yaml.safe_load_all(path.read_text()))
    for each in text.get("configMapGenerator", []):
        data = {name: (folder / name).read_text() for name in each["files"]}
        objects.append(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": each["name"]}, "data": data}
        )
    for each in text.get("patches", []):
        target = each["target"]
        found = [
            one
            for one in objects
            if (one["kind"], one["metadata"]["name"]) == (target["kind"], target["name"])
        ]
        assert len(found) == 1, f"{folder}: the patch meets {len(found)} objects"
        for operation in yaml.safe_load((folder / each["path"]).read_text()):
            apply(found[0], operation)
    for each in text.get("images", []):
        for one in objects:
            for container in containers(one):
                if container["image"] == each["name"]:
                    container["image"] = f"{each['name']}:{each['newTag']}"
    return objects


def apply(target, operation):
    assert operation["op"] == "add", "this renderer knows `add` only"
    *way, last = operation["path"].strip("/").split("/")
    for step in way:
        target = target[step]
    value = copy.deepcopy(operation["value"])
    if isinstance(target, list):
        assert last == "-"
        target.append(value)
    else:
        target[last] = value


def containers(one):
    if one["kind"] != "Deployment":
        return []
    pod = one["spec"]["template"]["spec"]
    return [*pod.get("initContainers", []), *pod["containers"]]


def newer_kubectl():
    """kubectl with a kustomize of version 5 or later, or None."""
    try:
        said = subprocess.run(
            ["kubectl", "version", "--client"], capture_output=True, text=True, check=False
        ).stdout
    except FileNotFoundError:
        return None
    version = re.search(r"Kustomize Version: v(\d+)", said)
    return "kubectl" if version and int(version.group(1)) >= 5 else None


def render_with(kubectl, folder):
    done = subprocess.run([kubectl, "kustomize", folder], capture_output=True, text=True, check=True)
    assert done.stderr == "", done.stderr
    # The hash behind a generated name stands in the reference to it as well.
    return list(yaml.safe_load_all(re.sub(r"(name: ledgergate)-[0-9a-z]{10}\b", r"\1", done.stdout)))


def comparable(objects):
    return sorted(json.dumps(each, sort_keys=True) for each in objects)
