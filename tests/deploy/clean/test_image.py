"""deploy/docker: the stages of the Dockerfile, carried out in clean systems, and what comes out of them.

There is no container engine in it: BASE is debootstrap's minimal Debian, and the commands run by chroot.
"""

import os
import pathlib
import re
import subprocess
import tempfile

import pytest
from dockerfile import Image, is_left_out, size_of
from ledger import APPLICATION, CONFIGURATION, DATABASE, DEPLOY, create, grant_roles, write_and_fold
from machine import STORE
from support.pg_cluster import Cluster
from support.sidecar import ROOT, TOKEN, Sidecar

COMMIT = "0123456789ab"
CACHE = pathlib.Path(os.environ.get("LEDGERGATE_CCACHE", STORE / "ccache"))


@pytest.fixture(scope="module")
def image():
    CACHE.mkdir(parents=True, exist_ok=True)
    arguments = {"COMMIT": COMMIT, "VERSION": "0.1.0"}
    with Image(DEPLOY / "docker/Dockerfile", arguments, CACHE) as built:
        yield built.last


def in_image(image, *command):
    """As the image's user, with nothing writable."""
    user = image.user.split(":")[0]
    return image.folder.run("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command)


def test_it_says_what_it_was_built_from(image):
    said = in_image(image, *image.entrypoint, "--version")
    version = image.labels["org.opencontainers.image.version"]
    assert said == f"ledgergate {version} (commit {COMMIT})\n"
    assert image.labels["org.opencontainers.image.revision"] == COMMIT


def test_it_runs_as_nobody_in_particular_and_has_no_compiler(image):
    assert int(image.user.split(":")[0]) > 0
    for tool in ("g++", "cc1plus", "cmake", "ninja", "ccache", "ld"):
        assert image.folder.run("sh", "-c", f"command -v {tool} || true") == ""
    left = image.folder.run(
        "sh", "-c", "ls -A /var/lib/apt/lists /var/cache/apt /tmp; ls -d /src /out 2>/dev/null; true"
    )
    assert re.findall(r"^[^/\n].*$", left, re.M) == []


def test_its_packages_are_what_the_programs_link(image):
    for program in ("ledgergate", "gatectl"):
        linked = in_image(image, "ldd", f"/usr/local/bin/{program}")
        assert "not found" not in linked
    wanted = {
        line.split()[0]
        for line in (DEPLOY / "packages/run.txt").read_text().splitlines()
        if line and not line.startswith("#")
    }
    direct = set()
    for program in ("ledgergate", "gatectl"):
        needed = subprocess.run(
            ["objdump", "-p", image.folder.path / f"usr/local/bin/{program}"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name in re.findall(r"NEEDED\s+(\S+)", needed):
            found = image.folder.run("sh", "-c", f"dpkg-query -S '*/{name}' | head -n 1")
            direct.add(found.split(":")[0])
    of_debian = {"libc6", "libstdc++6", "libgcc-s1"}
    assert direct - of_debian == wanted


def test_it_is_small(image):
    whole = size_of(image.folder.path)
    programs = sum(
        (image.folder.path / f"usr/local/bin/{name}").stat().st_size for name in ("ledgergate", "gatectl")
    )
    print(f"\nthe image has {whole / 1e6:.1f} MB, the programs in it {programs / 1e6:.1f} MB")
    # Debian's minimal system is 120 MB of it; its slim image leaves out another 40 MB of documentation.
    assert whole < 160e6 and programs < 8e6


@pytest.fixture
def token():
    """A token that the image's user may read, as a mounted Secret is."""
    with tempfile.TemporaryDirectory(prefix="lgtoken-") as folder:
        os.chmod(folder, 0o755)
        file = pathlib.Path(folder) / "token"
        file.write_text(TOKEN)
        file.chmod(0o644)
        yield str(file)


def test_it_serves_with_a_read_only_root_and_its_health_check_agrees(image, token):
    with Cluster() as cluster:
        create(cluster)
        grant_roles(cluster)
        user = image.user.split(":")[0]
        # The configuration and the token of the tests lie in a folder of /tmp, which the read-only root lets
        # through.
        jail = [
            "unshare",
            "--mount",
            "sh",
            "-c",
            'set -e; mount --make-rprivate /; mount --bind "$0" "$0"; mount --bind /tmp "$0/tmp"; '
            f'mount -o remount,bind,ro "$0"; exec chroot --userspec={user}:{user} "$0" "$@"',
            str(image.folder.path),
        ]
        changes = {**CONFIGURATION, "admin": {"token_file": token}}
        with Sidecar(
            cluster.endpoint(APPLICATION, DATABASE), changes, launcher=jail, command=image.entrypoint
        ) as sidecar:
            write_and_fold(sidecar.endpoint(APPLICATION, DATABASE))
            health = subprocess.run(
                [*jail, *image.health],
                capture_output=True,
                text=True,
                check=False,
                env={
                    "GATECTL_ADMIN": f"http://127.0.0.1:{sidecar.admin_port}",
                    "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
                },
            )
            assert health.returncode == 0, health.stdout + health.stderr


def test_the_context_has_no_build_folder_no_history_and_no_secrets():
    for name in (".git", "build", "tests", "deploy/quickstart.d", "admin-token", "config/__pycache__"):
        assert is_left_out(ROOT / name), name
    for name in (
        "CMakeLists.txt",
        "proxy/app/main.cpp",
        "deploy/packages/run.txt",
        "deploy/docker/use-snapshot",
    ):
        assert not is_left_out(ROOT / name), name
