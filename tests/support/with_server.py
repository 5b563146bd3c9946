"""Runs a program with a throw-away PostgreSQL: `with_server.py SCHEMA.sql PROGRAM [ARGUMENT..]`.

The program finds the server in LEDGERGATE_PG_HOST, LEDGERGATE_PG_PORT and LEDGERGATE_PG_DATABASE, and its
major version in LEDGERGATE_PG_MAJOR.
"""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from support.pg_cluster import Cluster  # noqa: E402

DATABASE = "ledger"


def main(schema, *command):
    with Cluster() as cluster:
        cluster.execute(f"CREATE DATABASE {DATABASE}", "postgres")
        cluster.execute(pathlib.Path(schema).read_text(), DATABASE)
        version = cluster.execute("SHOW server_version_num", DATABASE)[0][0]
        endpoint = cluster.endpoint("postgres", DATABASE)
        environment = {
            **os.environ,
            "LEDGERGATE_PG_HOST": endpoint.host,
            "LEDGERGATE_PG_PORT": str(endpoint.port),
            "LEDGERGATE_PG_DATABASE": DATABASE,
            "LEDGERGATE_PG_MAJOR": str(int(version) // 10000),
        }
        return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
