"""ledgergate under measurement: its binary, its configuration, and what its metrics say about pins."""

import os
import subprocess
import urllib.error
import urllib.request

from processes import BenchmarkError, Process
from support.processes import free_port
from support.sidecar import GATE_KEY, ROOT, parse_metrics

# The rule of the relaying sidecar names a table that the workload never mentions: the gate is active and
# every statement is examined, but nothing is ever pinned. The rule of the pinning one names the workload's
# table.
UNTOUCHED_TABLE = "kudos_ledger"
TOUCHED_TABLE = "pgbench_accounts"

CONFIGURATION = """listen:
  - address: 127.0.0.1:{port}
  - address: unix:{socket_folder}
    port: {port}
upstream:
  host: 127.0.0.1
  port: {upstream.port}
control:
  dsn: "{server_dsn}"
gate:
  mode: enforce
  lock_key: {gate_key:#x}
  tables:
    - name: {table}
control_row:
  table: kudos_ledger_control
  where: "id = 1"
  mode_column: mode
modes: [shadow, ledger]
admin:
  address: 127.0.0.1:{admin_port}
"""


def find_or_build_binary():
    """That of LEDGERGATE_BIN_DIR if it is set, else a fresh build of the release preset."""
    folder = os.environ.get("LEDGERGATE_BIN_DIR")
    if not folder:
        for command in (["cmake", "--preset", "release"],
                        ["cmake", "--build", "--preset", "release", "--target", "ledgergate"]):
            if subprocess.run(command, cwd=ROOT, stdout=2).returncode != 0:
                raise BenchmarkError(f"{' '.join(command)} failed")
        folder = os.path.join(ROOT, "build", "release", "bin")
    binary = os.path.join(folder, "ledgergate")
    if not os.access(binary, os.X_OK):
        raise BenchmarkError(f"there is no ledgergate at {binary}: build it, or unset LEDGERGATE_BIN_DIR to "
                             "have it built, or measure the others with --only direct,haproxy,pgbouncer")
    return binary


class Ledgergate:
    """One running sidecar that gates `table`.

    Clients get to `upstream` through it; the control connection always goes straight to the server.
    """

    def __init__(self, name, workspace, binary, server, table, upstream=None):
        socket_folder = os.path.join(workspace, name)
        os.makedirs(socket_folder)
        self.endpoint = server.replace(port=free_port())
        self.unix_endpoint = self.endpoint.replace(host=socket_folder)
        self._admin = f"http://127.0.0.1:{free_port()}"
        path = os.path.join(workspace, name + ".yaml")
        with open(path, "w") as configuration:
            configuration.write(CONFIGURATION.format(
                port=self.endpoint.port, socket_folder=socket_folder, upstream=upstream or server,
                server_dsn=server.dsn(sslmode="disable"), gate_key=GATE_KEY, table=table,
                admin_port=self._admin.rsplit(":", 1)[1]))
        self.process = Process(name, [binary, "--config", path], workspace)
        try:
            self.process.wait_until(self._is_ready, "/readyz to answer 200")
        except BaseException:
            self.process.stop()
            raise

    def pins(self):
        """How many pins it has taken since it was started, whatever their shape."""
        with urllib.request.urlopen(self._admin + "/metrics", timeout=5) as answer:
            samples = parse_metrics(answer.read().decode())
        return sum(value for (name, _), value in samples.items() if name == "ledgergate_pins_total")

    def _is_ready(self):
        try:
            with urllib.request.urlopen(self._admin + "/readyz", timeout=2) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False


def check_pins(should_pin, pins, transactions, title):
    """A figure for pinned transactions counts only if all were pinned, and one for unpinned if none was."""
    if should_pin and pins < transactions:
        raise BenchmarkError(f"{title}: only {pins:.0f} pins in {transactions} transactions that all touch")
    if not should_pin and pins > 0:
        raise BenchmarkError(f"{title}: {pins:.0f} pins in a workload that touches nothing gated")
