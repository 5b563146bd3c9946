"""Clean Debian 12 systems below build/deploy: folders to run commands in, and one that is booted with systemd.

Needs root. The first system is made by debootstrap and kept; every test begins with a copy of it.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile

from support.sidecar import ROOT
from support.waiting import wait_until

STORE = ROOT / "build/deploy"
MIRROR = "http://deb.debian.org/debian"
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "DEBIAN_FRONTEND": "noninteractive",
    "LC_ALL": "C.UTF-8",
}

# The mounts end with the namespace, so that nothing of them is left when a command was killed.
MOUNTS = """
mount --make-rprivate /
mount --bind "$0" "$0"
mount -t proc proc "$0/proc"
mount -t tmpfs tmpfs "$0/dev"
for name in null zero full random urandom tty; do touch "$0/dev/$name"; mount --bind "/dev/$name" "$0/dev/$name"; done
mkdir -p "$0/dev/shm" "$0/dev/pts"
ln -s pts/ptmx "$0/dev/ptmx"
mount -t tmpfs tmpfs "$0/dev/shm"
"""
IN_FOLDER = f"""set -e
{MOUNTS}
if [ -n "$2" ]; then mkdir -p "$0$2"; mount --bind "$1" "$0$2"; fi
shift 2
exec chroot "$0" "$@"
"""
BOOT = f"""set -e
{MOUNTS}
mount -t devpts devpts "$0/dev/pts"
mount -t sysfs sysfs "$0/sys"
mount -t tmpfs tmpfs "$0/run"
mount -t cgroup2 cgroup2 "$0/sys/fs/cgroup"
ip link set lo up
cd "$0"
mkdir -p old-root
pivot_root . old-root
umount -l old-root
exec /lib/systemd/systemd --system --log-target=journal
"""


def base():
    """A minimal system, made once."""
    folder = STORE / "base"
    if not (folder / ".complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["debootstrap", "--variant=minbase", "bookworm", folder, MIRROR], check=True)
        for file in pathlib.Path("/etc/apt/apt.conf.d").glob("*proxy*"):
            shutil.copy(file, folder / "etc/apt/apt.conf.d")
        (folder / ".complete").touch()
    return folder


def with_packages(name, *packages):
    """The clean system with packages in it, made once."""
    folder = STORE / name
    if not folder.exists():
        with Folder(name) as made:
            made.run("apt-get", "update", "-q")
            made.run("apt-get", "install", "-q", "-y", "--no-install-recommends", *packages)
            subprocess.run(["cp", "-a", made.path, folder], check=True)
    return folder


class Folder:
    """A copy of the clean system. `run` carries out commands in it, as a build of an image would."""

    def __init__(self, name, source=None):
        STORE.mkdir(parents=True, exist_ok=True)
        self.path = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}-", dir=STORE))
        subprocess.run(["cp", "-a", "--reflink=auto", f"{source or base()}/.", self.path], check=True)
        shutil.copy("/etc/resolv.conf", self.path / "etc/resolv.conf")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def run(self, *command, check=True, environment=None, bind=("", "")):
        """Returns what it printed. `bind` is a folder of this machine and where it is seen."""
        done = subprocess.run(
            [
                "unshare",
                "--mount",
                "--pid",
                "--fork",
                "--uts",
                "--ipc",
                "--kill-child",
                "bash",
                "-c",
                IN_FOLDER,
                self.path,
                *map(str, bind),
                *map(str, command),
            ],
            env={**ENVIRONMENT, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if check:
            assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout[-6000:]}"
        return done.stdout


class Machine:
    """A folder that is booted: systemd is process 1 of its own namespaces, with a network of its own."""

    def __init__(self, folder):
        self.folder = folder

    def __enter__(self):
        self.process = subprocess.Popen(
            [
                "unshare",
                "--mount",
                "--pid",
                "--fork",
                "--uts",
                "--ipc",
                "--net",
                "--cgroup",
                "--kill-child",
                "bash",
                "-c",
                BOOT,
                self.folder.path,
            ],
            env={**ENVIRONMENT, "container": "other"},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            self.init = wait_until(self._find_init, "the machine's process 1")
            wait_until(self._has_booted, "the machine to boot", deadline=120)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def run(self, *command, check=True, stdin=""):
        done = subprocess.run(
            [
                "nsenter",
                "-t",
                str(self.init),
                "-m",
                "-p",
                "-n",
                "-u",
                "-i",
                "-C",
                "-r",
                "-w",
                *map(str, command),
            ],
            env=ENVIRONMENT,
            start_new_session=True,
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if check:
            assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout[-6000:]}"
        return done.stdout

    def property(self, name, unit="ledgergate"):
        return self.run("systemctl", "show", "-P", name, unit).strip()

    def write(self, path, text):
        (self.folder.path / path.lstrip("/")).write_text(text)

    def _has_booted(self):
        """Services that have no business without hardware may have failed: that is `degraded`."""
        return self.run("systemctl", "is-system-running", check=False).strip() in ("running", "degraded")

    def _find_init(self):
        children = (
            pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        )
        for child in children:
            if os.path.basename(os.readlink(f"/proc/{child}/exe")) == "systemd":
                return int(child)
        assert self.process.poll() is None, "the machine did not boot"
        return None
