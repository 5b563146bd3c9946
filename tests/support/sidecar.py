"""The sidecar under test as a child process, with its configuration, its log and its admin port.

The binary is $LEDGERGATE_BIN, or build/release/bin/ledgergate. A test that needs the sidecar fails when
there is none: it is never skipped.
"""

import copy
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile

from support.endpoint import Endpoint
from support.processes import end, free_port, spawn
from support.waiting import wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOKEN = "test-token"
GATE_KEY = 0x4B55444D
APPLIER_KEY = 0x4B55444F
# Of a sanitized build: freed memory is not kept for long, so that the tests that watch memory mean something.
SANITIZER_OPTIONS = "quarantine_size_mb=1:" + os.environ.get("ASAN_OPTIONS", "")
PAYER_NAMESPACE = 0x4B554452


def binary():
    path = pathlib.Path(os.environ.get("LEDGERGATE_BIN", ROOT / "build/release/bin/ledgergate"))
    if not path.is_file():
        raise RuntimeError(f"there is no sidecar at {path}: build it, or set LEDGERGATE_BIN")
    return path


def default_configuration(server, listen_port, admin_port, token_file):
    """The configuration that the ledger's tests use, as the structure of ledgergate.yaml."""
    locked = ["users", "user_stats", "user_records", "workers", "worker_stats", "teams"]
    host = f"unix:{server.host}" if server.is_unix else server.host
    return {
        "listen": [{"address": f"127.0.0.1:{listen_port}"}],
        "upstream": {"host": host, "port": server.port, "connect_timeout": "5s"},
        "control": {"dsn": server.replace(user="gate_operator").dsn()},
        "gate": {
            "mode": "enforce",
            "lock_key": GATE_KEY,
            "applier_lock_key": APPLIER_KEY,
            "pin_before_locks": [PAYER_NAMESPACE],
            "functions": ["post_credit", "post_in_two_transactions"],
            "tables": [
                {"name": "kudos_ledger"},
                {"name": "kudos_stat_events"},
                {"name": "kudos_reservations"},
                {"name": "kudos_balance_snapshots"},
                *[{"name": name, "pin_on": "lock"} for name in locked],
            ],
        },
        "control_row": {
            "table": "kudos_ledger_control",
            "where": "id = 1",
            "mode_column": "mode",
            "changed_at_column": "changed_at",
        },
        "modes": ["shadow", "ledger"],
        "transitions": {
            "deadline": "30s",
            "queue_budget": "2s",
            "hold_budget": "10s",
            "guards": {"ledger": ["select oracle.step('guard')"]},
            "steps": {"shadow": ["select oracle.step('fold')", "select fold_postings()"]},
            "notify": "ledger_mode",
        },
        "admin": {"address": f"127.0.0.1:{admin_port}", "token_file": str(token_file)},
        "limits": {"max_clients": 1000, "client_startup_timeout": "10s", "threads": 2},
        "drain": {"timeout": "2s"},
        "log": {"level": "debug", "format": "text", "statements": "full"},
    }


def merged(base, changes):
    """`base` with `changes` laid over it, key by key; lists are replaced, and None removes a key."""
    result = copy.deepcopy(base)
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merged(result[key], value)
        else:
            result[key] = value
    return result


class Sidecar:
    """`server` is the endpoint that the sidecar connects to; `changes` are laid over the configuration;
    `launcher` is a command line that starts another one in its own place, `command` what is run instead of
    the product. With `certificates` there is TLS on both sides, with the server's own certificate."""

    def __init__(self, server, changes=None, await_ready=True, launcher=(), command=None, certificates=None):
        self.server = server
        self.command = command
        self.certificates = certificates
        self.changes = changes or {}
        self.await_ready = await_ready
        self.launcher = launcher
        self.process = None

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lgsc-", dir="/tmp"))
        os.chmod(self.folder, 0o755)
        self.listen_port, self.admin_port = free_port(), free_port()
        token_file = self.folder / "admin-token"
        token_file.write_text(TOKEN + "\n")
        token_file.chmod(0o600)
        base = default_configuration(self.server, self.listen_port, self.admin_port, token_file)
        if self.certificates:
            base["listen"][0]["tls"] = {"mode": "require", **self.certificates.pair("server")}
            base["upstream"]["tls"] = {"mode": "verify-ca", "ca": str(self.certificates.file("ca.crt"))}
        self.configuration = merged(base, self.changes)
        # JSON is YAML: what the structure says is exactly what the sidecar reads.
        self.configuration_file = self.folder / "ledgergate.yaml"
        self.configuration_file.write_text(json.dumps(self.configuration, indent=2) + "\n")
        self.log_file = self.folder / "sidecar.log"
        try:
            self.start()
        except BaseException:
            self._discard()
            raise
        return self

    def __exit__(self, failure, *_):
        log = ""
        try:
            code = end(self.process, deadline=20) if self.process else 0
            log = self.log()
        finally:
            self._discard()
        if failure is None:
            assert code == 0, f"the sidecar ended with {code} after SIGTERM; its log ends:\n{log[-4000:]}"

    def start(self):
        with open(self.log_file, "ab") as log:
            self.process = spawn(
                [
                    *self.launcher,
                    *(self.command or [str(binary())]),
                    "--config",
                    str(self.configuration_file),
                ],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "ASAN_OPTIONS": SANITIZER_OPTIONS},
            )
        wait_until(self._has_started, "the sidecar to be ready")
        if self.process.poll() is not None:
            raise RuntimeError(f"the sidecar ended with {self.process.returncode}:\n{self.log()[-4000:]}")

    def stop(self, how=signal.SIGTERM):
        return end(self.process, how, deadline=20)

    def endpoint(self, user="app", dbname="horde", password=""):
        tls = self.configuration["listen"][0].get("tls", {}).get("mode") == "require"
        return Endpoint("127.0.0.1", self.listen_port, user, dbname, password, tls)

    def log(self):
        return self.log_file.read_text(errors="replace")

    def request(self, method, path, body=None, token=TOKEN, headers=None):
        """One admin call. Returns (status, JSON value or text)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.admin_port, timeout=60)
        try:
            fields = dict(headers or {})
            if token:
                fields.setdefault("Authorization", f"Bearer {token}")
            data = None
            if body is not None:
                fields.setdefault("Content-Type", "application/json")
                data = body if isinstance(body, (bytes, str)) else json.dumps(body)
            connection.request(method, path, data, fields)
            response = connection.getresponse()
            text = response.read().decode()
            is_json = "json" in (response.getheader("Content-Type") or "")
            return response.status, json.loads(text) if is_json and text else text
        finally:
            connection.close()

    def get(self, path):
        return self.request("GET", path)

    def flip(self, mode, deadline=60.0, **fields):
        """Asks for a transition and waits for its end; returns the resource."""
        status, answer = self.request("POST", "/v1/transitions", {"to": mode, **fields})
        if status == 200:
            return answer
        assert status == 202, f"POST /v1/transitions answered {status}: {answer}"
        return self.await_transition(answer["id"], deadline)

    def await_transition(self, identity, deadline=60.0):
        final = {"committed", "aborted", "unknown"}

        def ended():
            status, answer = self.get(f"/v1/transitions/{identity}")
            assert status == 200, f"GET of the transition answered {status}: {answer}"
            return answer if answer["state"] in final else None

        return wait_until(ended, f"transition {identity} to end", deadline)

    def metrics(self):
        """All samples as {(name, ((label, value), ..)): number}."""
        status, text = self.get("/metrics")
        assert status == 200, f"/metrics answered {status}"
        return parse_metrics(text)

    def metric(self, name, **labels):
        """The sum of all samples of `name` that carry the given labels; 0 when there is none."""
        wanted = set(labels.items())
        return sum(
            value
            for (sample, pairs), value in self.metrics().items()
            if sample == name and wanted <= set(pairs)
        )

    def descriptor_count(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def resident_kib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1))

    def _has_started(self):
        if self.process.poll() is not None:
            return True
        try:
            status, _ = self.get("/readyz" if self.await_ready else "/livez")
            return status == 200 and (not self.await_ready or self._has_tried_catalog())
        except (OSError, http.client.HTTPException, socket.timeout):
            return False

    def _has_tried_catalog(self):
        """Before the first reading everything is pinned, which is not what most tests look at."""
        catalog = self.get("/v1/status")[1]["catalog"]
        return not catalog["enabled"] or catalog["generation"] or "not read yet" not in catalog["error"]

    def _discard(self):
        if self.process is not None and self.process.poll() is None:
            end(self.process, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)


SAMPLE = re.compile(r"^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?\s+(\S+)")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')


def parse_metrics(text):
    samples = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        match = SAMPLE.match(line)
        assert match, f"no Prometheus sample: {line!r}"
        name, labels, value = match.groups()
        samples[(name, tuple(sorted(LABEL.findall(labels or ""))))] = float(value)
    return samples
