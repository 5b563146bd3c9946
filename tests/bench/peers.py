"""The programs beside ledgergate, each in the plainest configuration that a user would give it.

Every `start_` function returns the process and the endpoint that leads through it.
"""

import os

from processes import Process, run_checked
from support.processes import free_port
from support.sidecar import ROOT

HAPROXY_CONFIGURATION = """global
  maxconn 1000
defaults
  mode tcp
  timeout connect 5s
  timeout client 1h
  timeout server 1h
frontend clients
  bind 127.0.0.1:{port}
  default_backend server
backend server
  server postgres 127.0.0.1:{server.port}
"""

PGBOUNCER_CONFIGURATION = """[databases]
{server.dbname} = host=127.0.0.1 port={server.port} dbname={server.dbname}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {users}
pool_mode = session
default_pool_size = 280
max_client_conn = 1000
log_connections = 0
log_disconnections = 0
"""

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wswitch-enum", "-Werror"]
COMPILE = ["g++", "-std=c++20", "-O2", *WARNINGS]


def start_haproxy(name, workspace, server):
    """HAProxy relaying TCP, with its default of one thread per processor."""
    port = free_port()
    configuration = _write(workspace, name + ".cfg", HAPROXY_CONFIGURATION.format(port=port, server=server))
    return _start(name, ["/usr/sbin/haproxy", "-db", "-f", configuration], workspace, server, port)


def start_pgbouncer(name, workspace, server):
    """PgBouncer in session mode, which is always one thread."""
    port = free_port()
    users = _write(workspace, name + ".users", f'"{server.user}" ""\n')
    configuration = _write(workspace, name + ".ini",
                           PGBOUNCER_CONFIGURATION.format(port=port, server=server, users=users))
    return _start(name, ["/usr/sbin/pgbouncer", configuration], workspace, server, port, user="postgres")


def start_floor_relay(name, workspace, server):
    """The least that a relay can do."""
    port = free_port()
    program = _compile(workspace, "floor_relay")
    return _start(name, [program, str(port), str(server.port)], workspace, server, port)


def start_delay_relay(name, workspace, server, one_way_microseconds):
    """A relay that makes every byte late."""
    port = free_port()
    program = _compile(workspace, "delay_relay")
    command = [program, str(port), str(server.port), str(one_way_microseconds)]
    return _start(name, command, workspace, server, port)


def _start(name, command, workspace, server, port, user=None):
    process = Process(name, command, workspace, user)
    endpoint = server.replace(port=port)
    try:
        process.wait_for_port(endpoint)
    except BaseException:
        process.stop()
        raise
    return process, endpoint


def _compile(workspace, name):
    program = os.path.join(workspace, name)
    if not os.path.exists(program):
        run_checked([*COMPILE, "-I", ROOT, "-o", program, ROOT / "tests/bench" / (name + ".cpp")])
    return program


def _write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o644)  # PgBouncer reads it as postgres
    return path
