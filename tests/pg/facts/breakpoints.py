"""How often a backend calls one of the server's own functions during a statement, counted by the debugger.

The addresses come from the program's dynamic symbols and its place in memory, so that it does not matter by which
loader the server was started.
"""

import pathlib
import re
import subprocess

from support import wire
from support.processes import spawn

# A backend that has answered waits here for its next message.
END_OF_STATEMENT = "WaitEventSetWait"
READY = "breakpoints are set"


def program_of(pid):
    """(file, address of its first byte): the postgres program itself, not the loader."""
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        fields = line.split()
        if len(fields) == 6 and pathlib.Path(fields[5]).name in ("postgres", "postgres.unpacked"):
            return fields[5], int(fields[0].split("-")[0], 16)
    raise AssertionError(f"backend {pid} does not map its program")


def addresses(pid, *functions):
    program, base = program_of(pid)
    listing = subprocess.run(["nm", "-D", "--defined-only", program], capture_output=True, text=True, check=True)
    symbols = {name: int(value, 16) for value, _, name in (line.split() for line in listing.stdout.splitlines())}
    return [base + symbols[function] for function in functions]


def calls_of(function, session, sql):
    """How often the session's backend calls `function` while it carries out `sql`."""
    counted, end = addresses(session.pid, function, END_OF_STATEMENT)
    commands = [
        "set pagination off",
        f"break *{counted:#x}",
        "ignore 1 1000000",
        f"break *{end:#x}",
        f"echo {READY}\\n",
        "continue",
        "info breakpoints",
        "detach",
    ]
    options = [word for command in commands for word in ("-ex", command)]
    debugger = spawn(
        ["gdb", "-nx", "-batch", "-p", str(session.pid), *options],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = ""
    with debugger.stdout as output:
        for line in output:
            said += line
            if READY in line:
                session.send(wire.query(sql))
    assert debugger.wait(60) == 0, said
    answer = session.read_until_ready()
    assert "E" not in wire.kinds(answer), answer
    hits = {number: int(count) for number, count in re.findall(r"\n(\d) +breakpoint .*\n\s+.*hit (\d+) time", said)}
    assert hits.get("2") == 1, said
    return hits.get("1", 0)
