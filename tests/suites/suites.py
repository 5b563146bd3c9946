"""The three suites: how each is run against an endpoint, and what it says.

Each run has a new database, made as pg_regress itself would make it, and its programs run as the server's
account, since
the server reads and writes files beside theirs. An outcome is the suite's own verdict on a test and what
the test put out.
"""

import dataclasses
import os
import re
import shutil
import subprocess

from support.processes import account

MAX_CONCURRENT_TESTS = 20
# The table of modes, in a schema where no test looks.
CONTROL = """
CREATE SCHEMA ledgergate_suites;
CREATE TABLE ledgergate_suites.control (id int PRIMARY KEY, mode text NOT NULL);
INSERT INTO ledgergate_suites.control VALUES (1, 'shadow');
"""


@dataclasses.dataclass(frozen=True)
class Outcome:
    passed: bool
    output: str


def make_database(cluster, name):
    cluster.execute(f"DROP DATABASE IF EXISTS {name}", "postgres")
    cluster.execute(f"CREATE DATABASE {name} TEMPLATE template0", "postgres")
    for setting, value in (
        ("lc_messages", "C"),
        ("lc_monetary", "C"),
        ("lc_numeric", "C"),
        ("lc_time", "C"),
        ("bytea_output", "hex"),
        ("timezone_abbreviations", "Default"),
    ):
        cluster.execute(f"ALTER DATABASE {name} SET {setting} TO '{value}'", "postgres")
    cluster.execute(CONTROL, name)


class RegressSuite:
    """The core suite and the isolation suite: pg_regress runs a schedule and compares with the expected
    files.

    Where `may_wait` is false the outputs tell which step waited, so nothing may make one wait that does not
    directly.
    """

    def __init__(self, name, database, program, inputs, schedule, module=None, may_wait=True):
        self.name = name
        self.may_wait = may_wait
        self.database = database
        self.program = program
        self.inputs = inputs
        self.schedule = schedule
        self.module = module

    def run(self, endpoint, folder, only=()):
        command = [
            str(self.program),
            "--use-existing",
            f"--dbname={self.database}",
            f"--host={endpoint.host}",
            f"--port={endpoint.port}",
            f"--user={endpoint.user}",
            f"--inputdir={self.inputs}",
            f"--outputdir={folder}",
            "--bindir=/usr/lib/postgresql/15/bin",
            f"--max-concurrent-tests={MAX_CONCURRENT_TESTS}",
        ]
        if self.module:
            command.append(f"--dlpath={self.module.parent}")
        command += list(only) if only else [f"--schedule={self.schedule}"]
        with open(folder / "log", "wb") as log:
            subprocess.run(command, stdout=log, stderr=log, check=False, cwd=folder, **account("postgres"))
        verdicts = VERDICT.findall((folder / "log").read_text(errors="replace"))
        return {
            test: Outcome(verdict == "ok", _text(folder / "results" / f"{test}.out"))
            for test, verdict in verdicts
        }


VERDICT = re.compile(r"^(?:test +| +|ok +\d+ +[-+] +)?([a-z_0-9.-]+) +\.\.\. (ok|FAILED)", re.MULTILINE)


class PipelineSuite:
    """libpq_pipeline: each of its tests by name, with the trace of the messages where libpq can write one."""

    name = "pipeline"
    database = "pipelines"
    may_wait = True
    traced = {
        "simple_pipeline",
        "nosync",
        "multi_pipelines",
        "prepared",
        "singlerow",
        "pipeline_abort",
        "pipeline_idle",
        "transaction",
        "disallowed_in_pipeline",
    }

    def __init__(self, program):
        self.program = program

    def run(self, endpoint, folder, only=()):
        listed = subprocess.run([str(self.program), "tests"], check=True, capture_output=True, text=True)
        outcomes = {}
        for test in only or listed.stdout.split():
            trace = folder / f"{test}.trace"
            options = ["-r", "700"] + (["-t", str(trace)] if test in self.traced else [])
            done = subprocess.run(
                [str(self.program), *options, test, endpoint.dsn()],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                check=False,
                text=True,
                errors="replace",
                cwd=folder,
                timeout=300,
                **account("postgres"),
            )
            (folder / f"{test}.out").write_text(done.stdout)
            expected = self.program.parent.parent / f"src/test/modules/libpq_pipeline/traces/{test}.trace"
            matches = test not in self.traced or _text(trace) == _text(expected)
            outcomes[test] = Outcome(done.returncode == 0 and matches, _text(trace) or done.stdout)
        return outcomes


def all_suites(sources):
    return [
        RegressSuite(
            "core",
            "regression",
            sources.pg_regress,
            sources.tests / "regress",
            sources.tests / "regress/parallel_schedule",
            sources.regress_module,
        ),
        RegressSuite(
            "isolation",
            "isolation_regression",
            sources.pg_isolation_regress,
            sources.tests / "isolation",
            sources.tests / "isolation/isolation_schedule",
            may_wait=False,
        ),
        PipelineSuite(sources.libpq_pipeline),
    ]


def make_folder(path):
    """An empty folder that the server's account may write to."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    ids = account("postgres")
    if ids:
        os.chown(path, ids["user"], ids["group"])
    return path


def _text(path):
    return path.read_text(errors="replace") if path.is_file() else ""
