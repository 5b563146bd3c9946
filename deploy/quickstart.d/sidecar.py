"""The sidecar in front of the throw-away server, and gatectl, the operator's way to change the mode."""

import json
import pathlib
import secrets
import signal
import string
import subprocess
import textwrap
import time
import urllib.error
import urllib.request

from children import Problem, end, free_port, start, tail

HERE = pathlib.Path(__file__).resolve().parent
READY_PATIENCE = 15.0  # seconds


class Sidecar:
    def __init__(self, binaries, folder, cluster, options):
        self.binary = binaries / "ledgergate"
        self.gatectl = binaries / "gatectl"
        self.folder = folder
        self.cluster = cluster
        self.keep = options.keep
        self.port = options.listen_port or free_port()
        self.admin_port = options.admin_port or free_port()
        self.configuration = folder / "ledgergate.yaml"
        self.token_file = folder / "admin-token"
        self.log_file = folder / "ledgergate.log"
        self.process = None

    @property
    def admin_url(self):
        return f"http://127.0.0.1:{self.admin_port}"

    def configure(self):
        """Writes the token and the configuration, and lets the sidecar check it."""
        self.token_file.touch(mode=0o600)
        self.token_file.write_text(secrets.token_hex(16) + "\n")
        template = string.Template((HERE / "ledgergate.yaml.in").read_text())
        self.configuration.write_text(template.substitute(
            listen_port=self.port, admin_port=self.admin_port, postgres_port=self.cluster.port,
            passfile=self.cluster.passfile, token_file=self.token_file,
            final_fold=textwrap.indent((HERE / "final_fold.sql").read_text().rstrip(), " " * 8)))
        check = self.call(self.binary, "--config", self.configuration, "--check-config")
        if check.returncode != 0:
            raise Problem(f"the sidecar refuses its configuration:\n{check.stdout}{check.stderr}")

    def start(self):
        command = [self.binary, "--config", self.configuration]
        self.process = start(command, self.log_file, self.folder, self.keep)
        deadline = time.monotonic() + READY_PATIENCE
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Problem(f"the sidecar did not get ready; its log ends:\n{tail(self.log_file)}")
            time.sleep(0.05)

    def is_ready(self):
        try:
            with urllib.request.urlopen(self.admin_url + "/readyz", timeout=2) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def stop(self):
        if self.process is not None:
            end(self.process, (signal.SIGTERM, signal.SIGKILL), patience=5)

    def flip_command(self, mode):
        return [self.gatectl, "--admin", self.admin_url, "--token-file", self.token_file, "-o", "json",
                "flip", mode, "--reason", "quickstart", "--yes"]

    def flip(self, mode):
        """Changes the mode with gatectl, and returns what it says about the transition."""
        result = self.call(*self.flip_command(mode))
        if result.returncode != 0:
            said = " ".join((result.stderr or result.stdout).split())
            raise Problem(f"gatectl flip {mode} ended with code {result.returncode}: {said}")
        return last_json(result.stdout)

    def call(self, *command):
        try:
            return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  check=False, cwd=self.folder)
        except OSError as failure:
            raise Problem(f"{command[0]} cannot be run: {failure.strerror}") from None


def last_json(text):
    """The last JSON object of gatectl's output: one per line, or one over several lines."""
    for candidate in (text, *reversed(text.splitlines())):
        try:
            value = json.loads(candidate)
        except ValueError:
            continue
        if isinstance(value, dict):
            return value
    return {}
