"""A throw-away PostgreSQL cluster: own data directory, own port, own unix socket folder, gone afterwards.

Use it as a context manager, or through the `cluster` fixture of tests/pg. It never looks at a cluster that
it has not created itself.

Roles: the superuser is `postgres`. Logins of all the others are set up by `create_login_roles`; pg_hba lets
`app_password`, `app_md5` and `app_scram` in by the method of their name, and everybody else by trust, over
TCP on 127.0.0.1 and over the unix socket alike.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import psycopg2

from support.endpoint import Endpoint
from support.processes import account, end, free_port, spawn
from support.waiting import wait_until

SUPERUSER = "postgres"
PASSWORD_METHODS = {"app_password": "password", "app_md5": "md5", "app_scram": "scram-sha-256"}
PASSWORD = "correct horse"

DEFAULT_SETTINGS = {
    "fsync": "off",
    "max_connections": "200",
    "max_prepared_transactions": "20",
    "listen_addresses": "'127.0.0.1'",
    "track_commit_timestamp": "on",
    "wal_level": "logical",
    "shared_buffers": "32MB",
    "autovacuum": "off",
    "lc_messages": "'C'",
    "timezone": "'UTC'",
    # The oracle writes its records to the server log, in which statements would only be noise.
    "log_min_error_statement": "panic",
    "log_line_prefix": "'%m [%p] '",
}


def find_binaries():
    """The folder with initdb and postgres: $LEDGERGATE_PG_BINDIR, $PG_BINDIR, or Debian's newest."""
    for name in ("LEDGERGATE_PG_BINDIR", "PG_BINDIR"):
        if name in os.environ:
            return pathlib.Path(os.environ[name])
    folders = [path.parent for path in pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres")]
    if not folders:
        raise RuntimeError("no PostgreSQL server found: deploy/install-packages test")
    return max(folders, key=lambda folder: int(folder.parent.name))


class Cluster:
    """`access`: lines that come first in pg_hba.conf. `certificates`: a Certificates whose `server` the
    cluster shows over TLS; `ca` is what it asks of clients that have one."""

    def __init__(self, settings=None, access=(), certificates=None):
        self.binaries = find_binaries()
        self.settings = {**DEFAULT_SETTINGS, **(settings or {})}
        self.access = access
        self.certificates = certificates
        self.folder = None
        self.port = None
        self.process = None

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lgpg-", dir="/tmp"))
        try:
            self._give_to_server_account(self.folder)
            self._initdb()
            if self.certificates:
                self.show_certificate("server")
            self._write_configuration()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def data(self):
        return self.folder / "data"

    @property
    def log_file(self):
        return self.folder / "server.log"

    def endpoint(self, user="app", dbname="horde", unix=False, password=""):
        host = str(self.folder) if unix else "127.0.0.1"
        return Endpoint(host, self.port, user, dbname, password)

    def superuser(self, dbname="horde"):
        """An autocommit psycopg2 connection of the superuser, over the unix socket."""
        connection = psycopg2.connect(self.endpoint(SUPERUSER, dbname, unix=True).dsn())
        connection.autocommit = True
        return connection

    def execute(self, sql, dbname="horde", parameters=None):
        """Runs SQL as the superuser and returns the rows of the last statement, if it has any."""
        connection = self.superuser(dbname)
        try:
            with connection.cursor() as cursor:
                cursor.execute(sql, parameters)
                return cursor.fetchall() if cursor.description else []
        finally:
            connection.close()

    def start(self):
        """Starts the server; another process may have taken the port meanwhile, so it tries a few."""
        for _ in range(5):
            self.port = self.port or free_port()
            with open(self.log_file, "ab") as log:
                self.process = spawn(
                    [
                        str(self.binaries / "postgres"),
                        "-D",
                        str(self.data),
                        "-p",
                        str(self.port),
                        "-k",
                        str(self.folder),
                    ],
                    death_signal=signal.SIGINT,
                    stdout=log,
                    stderr=log,
                    stdin=subprocess.DEVNULL,
                    cwd=str(self.folder),
                    **account(SUPERUSER),
                )
            wait_until(lambda: self.process.poll() is not None or self._accepts(), "the server to start")
            if self.process.poll() is None:
                return
            self.port = None
        raise RuntimeError("the server did not start:\n" + self.log_file.read_text(errors="replace")[-4000:])

    def stop(self, how=signal.SIGINT):
        """Fast shutdown by default; SIGQUIT is a crash."""
        if self.process is not None:
            end(self.process, how, deadline=20)
            self.process = None

    def show_certificate(self, name):
        """The one that new connections get; a running server takes it at once."""
        for ending, source in (("crt", name), ("key", name), ("ca", "ca")):
            target = self.data / f"tls.{ending}"
            suffix = "crt" if ending == "ca" else ending
            target.write_text(self.certificates.file(f"{source}.{suffix}").read_text())
            target.chmod(0o600)
            self._give_to_server_account(target, 0o600)
        if self.process is not None:
            before = self.log_file.stat().st_size
            self.process.send_signal(signal.SIGHUP)
            wait_until(lambda: "reloading" in self._log_since(before), "the server to take the certificate")

    def _log_since(self, offset):
        return self.log_file.read_bytes()[offset:].decode(errors="replace")

    def _accepts(self):
        try:
            psycopg2.connect(self.endpoint(SUPERUSER, "postgres", unix=True).dsn()).close()
            return True
        except psycopg2.OperationalError:
            return False

    def _give_to_server_account(self, path, mode=0o755):
        ids = account(SUPERUSER)
        if ids:
            os.chown(path, ids["user"], ids["group"])
        os.chmod(path, mode)

    def _initdb(self):
        result = subprocess.run(
            [
                str(self.binaries / "initdb"),
                "-D",
                str(self.data),
                "-U",
                SUPERUSER,
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--locale=C.UTF-8",
                "--no-sync",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=str(self.folder),
            **account(SUPERUSER),
        )
        if result.returncode != 0:
            raise RuntimeError("initdb failed:\n" + result.stdout)

    def _write_configuration(self):
        if self.certificates:
            files = {"ssl_cert_file": "tls.crt", "ssl_key_file": "tls.key", "ssl_ca_file": "tls.ca"}
            self.settings.update({"ssl": "on", **{key: f"'{name}'" for key, name in files.items()}})
        lines = [f"{name} = {value}\n" for name, value in self.settings.items()]
        with open(self.data / "postgresql.conf", "a") as conf:
            conf.writelines(lines)
        rules = [f"{line}\n" for line in self.access]
        for user, method in PASSWORD_METHODS.items():
            rules.append(f"local all {user} {method}\n")
            rules.append(f"host all {user} 127.0.0.1/32 {method}\n")
        rules.append("local all,replication all trust\n")
        rules.append("host all,replication all 127.0.0.1/32 trust\n")
        (self.data / "pg_hba.conf").write_text("".join(rules))


def create_login_roles(cluster):
    """One role for each password method of pg_hba, beside those that the schema creates."""
    connection = cluster.superuser("postgres")
    with connection.cursor() as cursor:
        for user, method in PASSWORD_METHODS.items():
            encryption = "md5" if method == "md5" else "scram-sha-256"
            cursor.execute(f"SET password_encryption = '{encryption}'")
            cursor.execute(f"CREATE ROLE {user} LOGIN PASSWORD %s IN ROLE app", (PASSWORD,))
    connection.close()
