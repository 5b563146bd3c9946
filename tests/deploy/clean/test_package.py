"""The Debian package on a clean Debian 12 with systemd: installed, serving, reloaded, upgraded, removed, purged.

The tests of this file are one story and run in its order.
"""

import os
import pathlib
import re
import shutil
import subprocess

import pytest
from ledger import DEPLOY
from machine import Folder, Machine, with_packages
from support.sidecar import binary
from support.waiting import wait_until

BUILD = pathlib.Path(binary()).parents[1]
HERE = "/srv"  # where the machine sees what the tests give it
NEWER = "99.0.0"
TOKEN = "/etc/ledgergate/admin-token"
CONFIGURATION = "/etc/ledgergate/ledgergate.yaml"


@pytest.fixture(scope="module")
def package():
    """The package of the build under test."""
    done = subprocess.run(
        ["cmake", "--build", BUILD, "--target", "deb"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return max((BUILD / "packages").glob("ledgergate_*_amd64.deb"), key=os.path.getmtime)


def newer(package, folder):
    """The same package as if it were a later version, with another default configuration."""
    tree = folder / "newer"
    subprocess.run(["dpkg-deb", "-R", package, tree], check=True)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"(?m)^Version: .*$", f"Version: {NEWER}", control.read_text()))
    with open(tree / CONFIGURATION.lstrip("/"), "a", encoding="utf-8") as file:
        file.write("# another default\n")
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "-b", tree, folder / "newer.deb"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    shutil.rmtree(tree)


@pytest.fixture(scope="module")
def machine(package):
    with Folder(
        "machine", with_packages("server", "systemd-sysv", "dbus", "procps", "postgresql-15")
    ) as folder:
        shared = folder.path / HERE.lstrip("/")
        shutil.copy(package, shared / "ledgergate.deb")
        newer(package, shared)
        shutil.copytree(DEPLOY, shared / "deploy")
        # The machine has no network; what the package depends on waits in apt's cache.
        folder.run(
            "apt-get",
            "install",
            "-q",
            "-y",
            "--no-install-recommends",
            "--download-only",
            f"{HERE}/ledgergate.deb",
        )
        with Machine(folder) as booted:
            yield booted


def install(machine, file):
    return machine.run(
        "apt-get",
        "install",
        "-q",
        "-y",
        "--no-install-recommends",
        "-o",
        "Dpkg::Options::=--force-confold",
        f"{HERE}/{file}",
    )


def mode_of(machine, path):
    return machine.run("stat", "-c", "%U:%G %a", path).strip()


def psql(machine, *arguments):
    return machine.run(
        "setpriv",
        "--reuid",
        "postgres",
        "--regid",
        "postgres",
        "--clear-groups",
        "psql",
        "-X",
        "-qAt",
        *arguments,
    ).strip()


def gatectl(machine, *arguments, check=True):
    return machine.run("gatectl", "--token-file", TOKEN, *arguments, check=check)


def through_sidecar(machine, sql):
    return machine.run(
        "psql",
        "-X",
        "-qAt",
        "-d",
        "host=127.0.0.1 port=6432 dbname=horde user=horde_app password=secret",
        "-c",
        sql,
    ).strip()


def test_lintian_finds_no_error(package):
    # The maintainer's address is for whoever publishes the package to give, and the changes are told in Markdown.
    left_out = "bogus-mail-host,no-changelog,syntax-error-in-debian-changelog"
    done = subprocess.run(
        ["lintian", "--allow-root", "--fail-on", "error", "--suppress-tags", left_out, package],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_is_installed_with_a_user_a_token_and_nothing_running(machine):
    install(machine, "ledgergate.deb")
    assert machine.run("getent", "passwd", "ledgergate").split(":")[6].strip() == "/usr/sbin/nologin"
    assert mode_of(machine, "/etc/ledgergate") == "root:ledgergate 750"
    assert mode_of(machine, CONFIGURATION) == "root:ledgergate 640"
    assert mode_of(machine, TOKEN) == "root:ledgergate 640"
    assert len(machine.run("cat", TOKEN)) == 48
    assert "is-enabled" not in machine.run("systemctl", "is-enabled", "ledgergate", check=False)
    assert machine.property("ActiveState") == "inactive"
    conffiles = machine.run("dpkg-query", "-W", "-f", "${Conffiles}", "ledgergate")
    assert CONFIGURATION in conffiles and "/etc/default/ledgergate" in conffiles
    assert "commit" in machine.run("ledgergate", "--version")
    machine.run("ledgergate", "--config", CONFIGURATION, "--check-config")


def test_its_unit_is_well_formed_and_narrow(machine):
    said = machine.run("systemd-analyze", "verify", "--man=no", "ledgergate.service", check=False)
    assert "ledgergate" not in said, said
    level = re.search(
        r"Overall exposure level for ledgergate.service: ([\d.]+)",
        machine.run("systemd-analyze", "security", "ledgergate.service"),
    )
    assert float(level.group(1)) <= 1.5, level.group(0)


def test_serves_clients_and_operators(machine):
    wait_until(lambda: "online" in machine.run("pg_lsclusters"), "the server of the machine")
    psql(machine, "-c", "CREATE DATABASE horde")
    schema = (DEPLOY / "quickstart.d/schema.sql").read_text().replace(":users", "20")
    machine.write("/srv/schema.sql", schema)
    psql(machine, "-d", "horde", "-f", "/srv/schema.sql")
    psql(machine, "-d", "horde", "-f", "/srv/deploy/sql/control-role.sql")
    psql(machine, "-d", "horde", "-f", "/srv/deploy/sql/app-role.sql")
    psql(
        machine,
        "-c",
        "ALTER ROLE horde_app PASSWORD 'secret'",
        "-c",
        "ALTER ROLE gate_operator PASSWORD 'secret too'",
    )
    machine.write("/etc/ledgergate/pgpass", "*:*:*:gate_operator:secret too\n")
    machine.run("chown", "ledgergate:", "/etc/ledgergate/pgpass")
    machine.run("chmod", "0600", "/etc/ledgergate/pgpass")
    machine.write("/etc/default/ledgergate", "PGPASSFILE=/etc/ledgergate/pgpass\n")
    machine.run("sed", "-i", "s/mode: observe .*/mode: enforce/", CONFIGURATION)

    machine.run(
        "sh", "-c", "systemctl enable --now ledgergate || { journalctl -u ledgergate --no-pager; exit 1; }"
    )
    assert machine.property("StatusText") == "serving, gate.mode enforce"
    assert through_sidecar(machine, "SELECT count(*) FROM kudos_ledger") == "0"
    wait_until(lambda: "shadow" in gatectl(machine, "status", check=False), "the mode in gatectl status")
    gatectl(machine, "flip", "ledger", "--from", "shadow", "--yes")
    assert psql(machine, "-d", "horde", "-c", "SELECT mode FROM kudos_ledger_control") == "ledger"


def test_a_reload_changes_the_rules_and_keeps_process_and_sessions(machine):
    pid = machine.property("MainPID")
    machine.run("sed", "-i", "s/mode: enforce/mode: observe/", CONFIGURATION)
    machine.run("systemctl", "reload", "ledgergate")
    wait_until(lambda: '"observe"' in gatectl(machine, "-o", "json", "status", check=False), "observe")
    machine.run("sed", "-i", "s/mode: observe/mode: enforce/", CONFIGURATION)
    machine.run("systemctl", "reload", "ledgergate")
    wait_until(lambda: '"enforce"' in gatectl(machine, "-o", "json", "status", check=False), "enforce")
    assert machine.property("MainPID") == pid


def test_can_write_nothing_but_its_socket(machine):
    pid = machine.property("MainPID")
    seen = machine.run(
        "nsenter",
        "-t",
        pid,
        "-m",
        "sh",
        "-c",
        "for f in /etc /usr /var /home /root /opt; do touch $f/x 2>/dev/null && echo $f; done; true",
    )
    assert seen == ""
    status = machine.run("cat", f"/proc/{pid}/status")
    assert re.search(r"CapEff:\s+0{16}\n", status) and re.search(r"NoNewPrivs:\s+1", status)
    assert re.search(r"Seccomp:\s+2", status)


def test_is_started_again_when_it_is_killed_and_when_it_hangs(machine):
    for signal in ("KILL", "STOP"):
        before = machine.property("MainPID")
        if signal == "STOP":
            machine.run("mkdir", "-p", "/run/systemd/system/ledgergate.service.d")
            machine.write("/srv/short.conf", "[Service]\nWatchdogSec=1s\n")
            machine.run("cp", "/srv/short.conf", "/run/systemd/system/ledgergate.service.d/")
            machine.run("systemctl", "daemon-reload")
            machine.run("systemctl", "restart", "ledgergate")
            before = machine.property("MainPID")
        assert int(before) > 1
        machine.run("kill", f"-{signal}", before)
        wait_until(
            lambda: machine.property("MainPID") not in ("0", before)
            and machine.property("ActiveState") == "active",
            f"another process after {signal}",
        )
        assert through_sidecar(machine, "SELECT 1") == "1"
    assert "Watchdog timeout" in machine.run("journalctl", "-u", "ledgergate", "--no-pager")


def test_an_upgrade_keeps_the_configuration_and_leaves_the_running_one_alone(machine):
    token, pid = machine.run("cat", TOKEN), machine.property("MainPID")
    install(machine, "newer.deb")
    assert machine.run("dpkg-query", "-W", "-f", "${Version}", "ledgergate") == NEWER
    assert machine.property("MainPID") == pid
    assert "mode: enforce" in machine.run("cat", CONFIGURATION)
    assert "another default" in machine.run("cat", f"{CONFIGURATION}.dpkg-dist")
    assert machine.run("cat", TOKEN) == token
    assert mode_of(machine, "/etc/ledgergate") == "root:ledgergate 750"
    assert mode_of(machine, CONFIGURATION) == "root:ledgergate 640"
    machine.run("systemctl", "restart", "ledgergate")
    assert machine.property("MainPID") != pid
    assert through_sidecar(machine, "SELECT 1") == "1"


def test_removing_ends_it_and_keeps_the_configuration(machine):
    machine.run("apt-get", "remove", "-q", "-y", "ledgergate")
    assert machine.property("ActiveState") == "inactive"
    assert machine.run("sh", "-c", "pgrep -x ledgergate || true") == ""
    assert "mode: enforce" in machine.run("cat", CONFIGURATION)
    assert (
        machine.run("sh", "-c", "ls /etc/systemd/system/multi-user.target.wants | grep ledgergate || true")
        == ""
    )


def test_purging_leaves_nothing_behind(machine):
    machine.run("apt-get", "purge", "-q", "-y", "ledgergate")
    elsewhere = ("/srv", "/proc", "/sys", "/var/cache", "/var/lib/systemd", "/var/log")
    left_out = " ".join(f"-not -path '{folder}/*'" for folder in elsewhere)
    assert machine.run("sh", "-c", f"find / -xdev -name '*ledgergate*' {left_out}") == ""
    assert "ledgergate" in machine.run(
        "getent", "passwd", "ledgergate"
    ), "its number is not given to anybody else"
