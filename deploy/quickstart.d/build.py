"""Finds the two programs, or builds them with visible progress."""

import collections
import os
import pathlib
import re
import select
import signal
import subprocess
import time

from children import Problem, end
from screen import duration

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ("ledgergate", "gatectl")
NINJA_PROGRESS = re.compile(r"^\[(\d+)/(\d+)\] (.*)")


def programs(screen):
    """The folder with both programs: $LEDGERGATE_BIN_DIR as it is, or build/release/bin once it is built."""
    given = os.environ.get("LEDGERGATE_BIN_DIR")
    if given:
        folder = pathlib.Path(given).resolve()
        require_programs(folder, "LEDGERGATE_BIN_DIR is set to it")
        screen.step_done("build", f"taken from {folder} (LEDGERGATE_BIN_DIR)")
        return folder
    folder = ROOT / "build" / "release" / "bin"
    begun = time.monotonic()
    run(screen, ["cmake", "--preset", "release", *test_option()])
    count = run(screen, ["cmake", "--build", "--preset", "release", "--target", *PROGRAMS])
    require_programs(folder, "the build should have put them there")
    done = f"{count} steps in {duration(time.monotonic() - begun)}" if count else "up to date"
    screen.step_done("build", f"build/release/bin, {done}")
    return folder


def test_option():
    """The tests need packages that we do not install: they stay out unless this build folder has them."""
    cache = ROOT / "build" / "release" / "CMakeCache.txt"
    with_tests = cache.is_file() and "LG_BUILD_TESTS:BOOL=ON" in cache.read_text()
    return [] if with_tests else ["-DLG_BUILD_TESTS=OFF"]


def require_programs(folder, why):
    missing = [name for name in PROGRAMS if not os.access(folder / name, os.X_OK)]
    if missing:
        raise Problem(f"{folder} lacks {' and '.join(missing)} ({why})")


def run(screen, command):
    """Runs a build command, shows its latest line, and returns how many ninja steps it took."""
    screen.step_live("build", " ".join(command))
    try:
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True)
    except FileNotFoundError:
        raise Problem(f"{command[0]} is not installed: deploy/install-packages build") from None
    try:
        recent, steps = follow(screen, process)
    except BaseException:
        os.killpg(process.pid, signal.SIGTERM)  # ninja and its compilers; the session is ours alone
        end(process, (signal.SIGTERM, signal.SIGKILL), patience=5)
        raise
    if process.wait() != 0:
        raise Problem(f"{' '.join(command)} failed:\n" + "\n".join("    " + row for row in recent))
    return steps


def follow(screen, process):
    """Reads the output to its end; a compiler that is silent for long still shows that time goes by."""
    recent, steps, begun = collections.deque(maxlen=40), 0, time.monotonic()
    shown, pending = "", b""
    while True:
        if select.select([process.stdout], [], [], 0.5)[0]:
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                return recent, steps
            *rows, pending = (pending + data).split(b"\n")
            for row in rows:
                text = row.decode(errors="replace")
                recent.append(text)
                progress = NINJA_PROGRESS.match(text)
                if progress:
                    steps = int(progress.group(1))
                    target = os.path.basename(progress.group(3).split()[-1])
                    shown = f"{steps} of {progress.group(2)}: {target}"
                elif text.strip():
                    shown = text.strip()
        screen.step_live("build", f"{duration(time.monotonic() - begun)}  {shown}")
