"""What --keep leaves running, and the short commands in its folder: psql, gatectl, load, stop."""

import pathlib
import shlex
import string

from cluster import APPLICATION, DATABASE

HERE = pathlib.Path(__file__).resolve().parent

STOP = string.Template("""\
# Ends the sidecar and the throw-away PostgreSQL of this folder, and removes the folder.
is_ours() {
  tr '\\0' ' ' <"/proc/$$1/cmdline" 2>/dev/null | grep -qF ${folder}
}
end() {
  is_ours "$$1" || return 0
  kill -"$$2" "$$1"
  for _ in $$(seq 100); do is_ours "$$1" || return 0; sleep 0.1; done
  kill -KILL "$$1"
}
end ${sidecar_pid} TERM
end ${postgres_pid} INT
rm -rf ${folder}
""")


def leave(screen, folder, cluster, sidecar):
    """Writes the commands and tells the user about them."""
    connection = connection_string(cluster, sidecar.port)
    write(folder, "psql", f'exec psql {shlex.quote(connection)} "$@"\n')
    write(folder, "psql-direct", f'exec psql {shlex.quote(connection_string(cluster, cluster.port))} "$@"\n')
    write(folder, "gatectl", f"exec {shlex.quote(str(sidecar.gatectl))} --admin {sidecar.admin_url} "
                             f'--token-file {shlex.quote(str(sidecar.token_file))} "$@"\n')
    write(folder, "load", f"exec /usr/bin/python3 -B {shlex.quote(str(HERE / 'more_load.py'))} "
                          f'{shlex.quote(connection)} "$@"\n')
    write(folder, "stop", STOP.substitute(folder=shlex.quote(str(folder)), sidecar_pid=sidecar.process.pid,
                                          postgres_pid=cluster.process.pid))

    screen.heading("Left running (--keep)")
    for command, what in (("psql", "through the sidecar"),
                          ("psql-direct", "around it"),
                          ("gatectl status", "the mode, and the pins held"),
                          ("gatectl flip ledger", "change it"),
                          ("load 60", "the same writers again for 60 seconds, through the sidecar"),
                          ("stop", "end all of it, and remove the folder with its configuration and logs")):
        screen.line(f"  {folder}/{command}")
        screen.line(screen.paint("dim", f"      {what}"))
    screen.line("  Any other client connects with:")
    screen.line(f'  psql "{connection}"')


def connection_string(cluster, port):
    return f"host=127.0.0.1 port={port} dbname={DATABASE} user={APPLICATION} passfile={cluster.passfile}"


def write(folder, name, body):
    script = folder / name
    script.write_text("#!/bin/sh\n" + body)
    script.chmod(0o700)
