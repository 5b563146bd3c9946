"""The throw-away PostgreSQL: own folder, own free port on loopback, password logins, gone afterwards.

It never looks at a cluster that it has not created itself.
"""

import os
import pathlib
import secrets
import signal
import subprocess
import time

import psycopg2

from children import SERVER_ACCOUNT, Problem, end, free_port, server_account, start, tail

HERE = pathlib.Path(__file__).resolve().parent
DATABASE = "horde"
SUPERUSER, APPLICATION, OPERATOR = "postgres", "horde", "gate_operator"
USERS = 60
START_PATIENCE = 30.0  # seconds
SETTINGS = {
    "listen_addresses": "'127.0.0.1'",
    "unix_socket_directories": "''",
    "max_connections": "100",
    "shared_buffers": "'64MB'",
    "fsync": "off",  # the data is thrown away
    "log_line_prefix": "'%m [%p] %a '",
    "timezone": "'UTC'",
    "lc_messages": "'C'",
}


class Cluster:
    def __init__(self, folder, keep):
        self.folder = folder
        self.keep = keep
        self.data = folder / "pg"
        self.log_file = folder / "postgresql.log"
        self.passfile = folder / "pgpass"
        self.passwords = {role: secrets.token_hex(16) for role in (SUPERUSER, APPLICATION, OPERATOR)}
        self.port = None
        self.process = None

    def create(self):
        """initdb, under the server's account."""
        binaries = find_binaries()
        self.require_reachable()
        account = server_account()
        password_file = self.folder / "initdb-password"
        password_file.touch(mode=0o600)
        password_file.write_text(self.passwords[SUPERUSER] + "\n")
        self.data.mkdir(mode=0o700)
        if account:
            os.chown(self.data, account["user"], account["group"])
            os.chown(password_file, account["user"], account["group"])
        result = subprocess.run(
            [binaries / "initdb", "-D", self.data, "-U", SUPERUSER, "--auth=scram-sha-256",
             f"--pwfile={password_file}", "--encoding=UTF8", "--locale=C", "--no-sync"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            cwd=self.folder, start_new_session=True, **account)
        password_file.unlink()
        if result.returncode != 0:
            raise Problem("initdb failed:\n" + result.stdout)
        with open(self.data / "postgresql.conf", "a", encoding="utf-8") as configuration:
            configuration.writelines(f"{name} = {value}\n" for name, value in SETTINGS.items())

    def start(self):
        """Starts the server. Another program may take the free port first, so a few are tried."""
        binary = find_binaries() / "postgres"
        for _ in range(5):
            self.port = free_port()
            command = [binary, "-D", self.data, "-p", str(self.port)]
            self.process = start(command, self.log_file, self.folder, self.keep, signal.SIGINT,
                                 **server_account())
            if self.await_start():
                return
        raise Problem(f"PostgreSQL did not start; its log ends:\n{tail(self.log_file)}")

    def await_start(self):
        deadline = time.monotonic() + START_PATIENCE
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                self.connect(SUPERUSER, "postgres").close()
                return True
            except psycopg2.OperationalError:
                time.sleep(0.05)
        self.stop()
        return False

    def stop(self):
        """Fast shutdown, then immediate shutdown, then by force."""
        if self.process is not None:
            end(self.process, (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL), patience=10)

    def create_horde(self):
        """Roles, database, tables, and what the operator's role may do."""
        admin = self.connect(SUPERUSER, "postgres", autocommit=True)
        with admin.cursor() as cursor:
            for role in (APPLICATION, OPERATOR):
                cursor.execute(f"CREATE ROLE {role} LOGIN PASSWORD %s", (self.passwords[role],))
            cursor.execute(f"CREATE DATABASE {DATABASE} OWNER {APPLICATION}")
        admin.close()
        self.run_file(APPLICATION, "schema.sql", users=USERS)
        self.passfile.touch(mode=0o600)
        rows = [f"*:*:*:{role}:{password}\n" for role, password in self.passwords.items()]
        self.passfile.write_text("".join(rows))
        self.run_psql(SUPERUSER, HERE.parent / "sql/control-role.sql")
        self.run_file(SUPERUSER, "operator.sql")

    def run_file(self, role, name, **values):
        """Runs one of our SQL files in the horde's database and returns the rows of its last statement."""
        text = (HERE / name).read_text()
        for key, value in values.items():
            text = text.replace(f":{key}", str(int(value)))
        connection = self.connect(role)
        try:
            with connection, connection.cursor() as cursor:
                cursor.execute(text)
                return cursor.fetchall() if cursor.description else []
        finally:
            connection.close()

    def run_psql(self, role, file):
        """Runs a script that is written for psql, as an operator would."""
        address = f"host=127.0.0.1 port={self.port} dbname={DATABASE} user={role} passfile={self.passfile}"
        result = subprocess.run(
            [find_binaries() / "psql", "--no-psqlrc", "--quiet", "-d", address, "-f", file],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if result.returncode != 0:
            raise Problem(f"{file.name} failed:\n{result.stdout}")

    def connect(self, role, database=DATABASE, autocommit=False):
        connection = psycopg2.connect(**self.address(role, database=database))
        connection.autocommit = autocommit
        return connection

    def address(self, role, port=None, database=DATABASE):
        """What psycopg2 needs to connect as `role`: to the server itself, or to a sidecar's port."""
        return {"host": "127.0.0.1", "port": port or self.port, "dbname": database, "user": role,
                "password": self.passwords[role], "connect_timeout": 10}

    def version(self):
        """Such as 15.20."""
        connection = self.connect(SUPERUSER, "postgres")
        try:
            return f"{connection.server_version // 10000}.{connection.server_version % 10000}"
        finally:
            connection.close()

    def require_reachable(self):
        """The server's account must be able to enter the folder: with TMPDIR below /root it is not."""
        probe = subprocess.run(["test", "-x", self.folder], check=False, cwd="/", **server_account())
        if probe.returncode != 0:
            raise Problem(f"the account '{SERVER_ACCOUNT}' cannot enter {self.folder}: set TMPDIR to a "
                          "folder that every account can enter, such as /tmp")


def find_binaries():
    """The folder with initdb and postgres: the newest of Debian's."""
    folders = [path.parent for path in pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if not folders:
        raise Problem("no PostgreSQL server below /usr/lib/postgresql: deploy/install-packages quickstart")
    return max(folders, key=lambda folder: int(folder.parent.name))
