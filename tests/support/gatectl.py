"""The operator's command line against a sidecar under test."""

import pathlib
import subprocess

from support.sidecar import binary

DONE, REFUSED, ABORTED, UNKNOWN, USAGE = 0, 2, 3, 5, 64


def command(sidecar, *arguments):
    token = sidecar.folder / "admin-token"
    program = pathlib.Path(binary()).with_name("gatectl")
    return [str(program), "--admin", f"http://127.0.0.1:{sidecar.admin_port}", "--token-file", str(token), *arguments]


def gatectl(sidecar, *arguments, stdin="", deadline=60):
    """Runs it to the end; returns (exit code, standard output, standard error)."""
    done = subprocess.run(
        command(sidecar, *arguments), input=stdin, capture_output=True, text=True, timeout=deadline, check=False
    )
    return done.returncode, done.stdout, done.stderr
