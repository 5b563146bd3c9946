"""Where and with what the figures were taken."""

import datetime
import os
import platform
import re

from lineup import HAPROXY, PGBOUNCER
from processes import run_checked


def describe(server, binary, names):
    """Named facts, in the order in which they are shown."""
    now = datetime.datetime.now(datetime.timezone.utc)
    facts = {"date": now.strftime("%Y-%m-%d %H:%M UTC"),
             "machine": f"{_processor()}, {os.cpu_count()} processors, {_memory_gib():.0f} GiB",
             "system": f"{platform.freedesktop_os_release()['PRETTY_NAME']}, Linux {platform.release()}",
             "load by others at the start": f"{_load():.1f}",
             "PostgreSQL": server.version}
    if HAPROXY in names:
        facts["HAProxy"] = _version(["/usr/sbin/haproxy", "-v"])
    if PGBOUNCER in names:
        facts["PgBouncer"] = _version(["/usr/sbin/pgbouncer", "--version"])
    if binary is not None:
        facts["ledgergate"] = _version([binary, "--version"])
    return facts


def _version(command):
    text = run_checked(command)
    found = re.search(r"\d+\.\d+(\.\d+)?", text)
    return found.group(0) if found else text.strip()


def _processor():
    with open("/proc/cpuinfo") as info:
        for line in info:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def _load():
    """The mean number of running threads of the last minute, in which the benchmark itself hardly ran."""
    return os.getloadavg()[0]


def _memory_gib():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
