"""The demonstration behind deploy/quickstart, which documents the options and has installed the packages.

Exit codes: 0 everything holds, 1 something does not, 2 it could not be carried out, 130 interrupted.
"""

import argparse
import contextlib
import os
import pathlib
import shutil
import signal
import sys
import tempfile

import build
import kept
import report
from children import Problem, require_free
from cluster import APPLICATION, USERS, Cluster
from load import COURIER_PATIENCE, Board, Load
from screen import Screen, duration
from sidecar import Sidecar
from stages import Stages, legacy, operated

STAGES = 5
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """Ctrl-C, a SIGTERM, or a terminal that went away."""


def main():
    options = parse_options()
    screen = Screen()
    for name in [name for name in os.environ if name.startswith("PG")]:
        del os.environ[name]  # what the user's own psql is set up for is not meant for us
    signals_raise()
    try:
        with contextlib.ExitStack() as cleanup:
            code = demonstrate(screen, options, cleanup)
            signals_ignored()
        return code
    except Problem as problem:
        screen.line(screen.paint("red", "quickstart: ") + str(problem))
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads us any more
        return 2
    except Interrupted:
        screen.line("quickstart: interrupted; nothing is left running")
        return 130


def parse_options():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--timeout", type=float, required=True)
    parser.add_argument("--writers", type=int, required=True)
    parser.add_argument("--listen-port", type=int, default=0)
    parser.add_argument("--admin-port", type=int, default=0)
    return parser.parse_args()


def signals_raise():
    def interrupt(*_):
        signals_ignored()
        raise Interrupted

    for number in SIGNALS:
        signal.signal(number, interrupt)


def signals_ignored():
    """From here on there is only cleaning up, which a second Ctrl-C must not cut short."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def demonstrate(screen, options, cleanup):
    require_ports(options)
    binaries = build.programs(screen)
    folder = make_folder(cleanup)
    cluster, sidecar = prepare(screen, options, cleanup, binaries, folder)
    load = Load(Board(STAGES, options.writers + 1), options.writers, USERS)
    cleanup.callback(load.kill)
    stages = Stages(screen, load, options.seconds)
    without_gate(screen, options, cluster, load, stages)
    through_sidecar(screen, options, cluster, sidecar, load, stages)
    good = report.show(screen, cluster, stages.rows)
    if options.keep:
        cleanup.pop_all()
        kept.leave(screen, folder, cluster, sidecar)
    return 0 if good else 1


def require_ports(options):
    """The ports that the user chose, before anything takes time."""
    if options.listen_port and options.listen_port == options.admin_port:
        raise Problem("--listen-port and --admin-port must differ")
    for port, option in ((options.listen_port, "--listen-port"), (options.admin_port, "--admin-port")):
        if port:
            require_free(port, option)


def make_folder(cleanup):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="lg-quickstart-"))
    cleanup.callback(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o711)  # the server's account passes through to its own folder
    return folder


def prepare(screen, options, cleanup, binaries, folder):
    cluster = Cluster(folder, options.keep)
    cleanup.callback(cluster.stop)
    screen.step_live("PostgreSQL", "creating a throw-away cluster")
    cluster.create()
    screen.step_live("PostgreSQL", "starting")
    cluster.start()
    screen.step_done("PostgreSQL", f"{cluster.version()} of its own, 127.0.0.1:{cluster.port}, {folder}")
    screen.step_live("schema", "creating roles and tables")
    cluster.create_horde()
    screen.step_done("schema", f"a horde-like kudos ledger, {USERS} users, mode shadow")
    sidecar = Sidecar(binaries, folder, cluster, options)
    cleanup.callback(sidecar.stop)
    screen.step_live("sidecar", "starting")
    sidecar.configure()
    sidecar.start()
    screen.step_done("sidecar", f"clients 127.0.0.1:{sidecar.port}, operators {sidecar.admin_url}")
    return cluster, sidecar


def without_gate(screen, options, cluster, load, stages):
    screen.heading("1  Without the gate: the writers talk to PostgreSQL directly")
    screen.prose(f"""{options.writers} legacy writers pin the mode with SELECT .. FOR KEY SHARE on one row.
                 A transition wants the same row FOR UPDATE, and new pins overtake it for as long
                 as there is one left.""")
    load.start(cluster.address(APPLICATION))
    row = stages.run("direct: legacy to ledger", "starved", legacy(cluster, "ledger", options.timeout))
    load.stop()
    tell(screen, stages, row)


def through_sidecar(screen, options, cluster, sidecar, load, stages):
    screen.heading("2  Through the sidecar: the same writers, another port")
    screen.prose("""Nothing changes in what the clients send. The sidecar pins each ledger transaction with a
                 shared advisory lock, and puts the exclusive one before a legacy SELECT .. FOR UPDATE.""")
    screen.prose(f"""Two of the writers keep a pin until the other has the next one, for up to
                 {duration(COURIER_PATIENCE)}: that is most of what a transition waits for here.""")
    load.start(cluster.address(APPLICATION, sidecar.port))
    for mode in ("ledger", "shadow"):
        action = legacy(cluster, mode, options.timeout, sidecar.port)
        tell(screen, stages, stages.run(f"sidecar: legacy to {mode}", "admitted", action))
    screen.heading("3  The operator's way: gatectl flip, under the same load")
    screen.prose("""The transition runs on the sidecar's own connection, with a role that may do nothing else.
                 On the way to shadow it folds the postings that are in no balance yet: SQL from
                 ledgergate.yaml.""")
    for mode in ("ledger", "shadow"):
        action = operated(cluster, sidecar, mode)
        tell(screen, stages, stages.run(f"sidecar: gatectl to {mode}", "admitted", action))
    screen.live("stopping the writers")
    load.stop()


def tell(screen, stages, row):
    """One sentence on what a stage came to, and the errors that the writers saw."""
    outcome, wait = row.outcome, duration(row.tally.longest_wait)
    took = duration(outcome.seconds)
    if row.result == "starved":
        text = (f"starved: cancelled by its statement_timeout after {took} ({outcome.sqlstate}), while "
                f"{outcome.pins_meanwhile:,} new pins were granted")
    elif row.result == "admitted":
        text = f"admitted: committed after {took}, and no writer waited longer than {wait}"
    else:
        text = f"failed after {took}: {outcome.sqlstate} {outcome.error}"
    if row.result != row.expected:
        text += f" [expected: {row.expected}]"
    screen.verdict(row.result == row.expected, f"{row.title} - {text}")
    for complaint in stages.complaints():
        screen.verdict(False, f"a writer's error: {complaint}")


if __name__ == "__main__":
    sys.exit(main())
