"""Runs PostgreSQL's own suites directly and through the sidecar, and compares. Started by `run`."""

import argparse
import difflib
import pathlib
import shutil
import sys
import tempfile
import time

import explained
import settings
import sources
import suites
from rehearsals import Rehearsals
from support.pg_cluster import Cluster
from support.sidecar import Sidecar

DIRECT = "direct"
SERVER_SETTINGS = {"shared_buffers": "128MB", "max_connections": "200", "wal_level": "replica"}


def arguments():
    parser = argparse.ArgumentParser(
        prog="tests/suites/run",
        description="PostgreSQL's own test suites, directly and through the sidecar, on one server. "
        "Exit code 1: some "
        "test put out something else than on the direct connection.",
    )
    parser.add_argument(
        "--suite", action="append", choices=("core", "isolation", "pipeline"), help="only this one"
    )
    parser.add_argument(
        "--setting", action="append", choices=settings.NAMES, help="only this one, beside direct"
    )
    parser.add_argument(
        "--test", action="append", default=[], help="only this test of the suite (with what it needs)"
    )
    parser.add_argument("--out", type=pathlib.Path, help="keep outputs and differences in this folder")
    return parser.parse_args()


class Run:
    def __init__(self, options, cluster, folder):
        self.options = options
        self.cluster = cluster
        self.folder = folder
        self.rows = []
        self.differences = 0

    def suite(self, suite):
        expected = self._outcomes(suite, DIRECT)
        self._report(suite, DIRECT, expected, expected)
        for setting in self.options.setting or settings.NAMES:
            self._report(suite, setting, expected, self._outcomes(suite, setting))

    def _outcomes(self, suite, setting):
        suites.make_database(self.cluster, suite.database)
        folder = suites.make_folder(self.folder / suite.name / setting)
        server = self.cluster.endpoint("postgres", suite.database)
        begin = time.monotonic()
        if setting == DIRECT:
            outcomes = suite.run(server, folder, self.options.test)
        else:
            with Sidecar(server, settings.changes(setting, suite.name, server)) as sidecar:
                proxied = sidecar.endpoint("postgres", suite.database)
                if setting == "heavily_gated" and suite.may_wait:
                    with Rehearsals(sidecar) as rehearsals:
                        outcomes = suite.run(proxied, folder, self.options.test)
                    print(
                        f"{suite.name}, {setting}: {rehearsals.held} rehearsed transitions", file=sys.stderr
                    )
                else:
                    outcomes = suite.run(proxied, folder, self.options.test)
                pins = sidecar.metric("ledgergate_pins_total")
                (folder / "sidecar.log").write_text(sidecar.log())
                (folder / "metrics").write_text(sidecar.get("/metrics")[1])
                print(f"{suite.name}, {setting}: {pins:.0f} pins", file=sys.stderr)
        print(f"{suite.name}, {setting}: {time.monotonic() - begin:.0f} s", file=sys.stderr)
        return outcomes

    def _report(self, suite, setting, expected, found):
        passed = sum(outcome.passed for outcome in found.values())
        different = [test for test in expected if not _is_equal(expected[test], found.get(test))]
        allowed = [test for test in different if (suite.name, setting, test) in explained.EXPLAINED]
        self.differences += len(different) - len(allowed)
        self.rows.append((suite.name, setting, len(found), passed, len(different), len(allowed)))
        for test in different:
            self._write_difference(suite, setting, test, expected[test], found.get(test))
        failed = sorted(test for test, outcome in found.items() if not outcome.passed)
        if failed:
            print(
                f"{suite.name}, {setting}: not as the expected files say: {', '.join(failed)}",
                file=sys.stderr,
            )
        if different:
            print(f"{suite.name}, {setting}: not as direct: {', '.join(different)}", file=sys.stderr)

    def _write_difference(self, suite, setting, test, expected, found):
        lines = difflib.unified_diff(
            expected.output.splitlines(keepends=True),
            (found.output if found else "").splitlines(keepends=True),
            DIRECT,
            setting,
        )
        folder = self.folder / suite.name / "differences"
        folder.mkdir(exist_ok=True)
        (folder / f"{test}.{setting}.diff").write_text("".join(lines))


def _is_equal(expected, found):
    """Where both are as the suite expects them, different outputs are two of its expected files."""
    return found is not None and ((expected.passed and found.passed) or expected.output == found.output)


def print_table(rows, version, server):
    print(f"suites of PostgreSQL {version}, server {server}\n")
    print("| suite | way | tests | passed | other than direct | of these explained |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")


def main():
    options = arguments()
    found = sources.prepare()
    folder = options.out or pathlib.Path(tempfile.mkdtemp(prefix="ledgergate-suites-", dir="/tmp"))
    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    with Cluster(SERVER_SETTINGS) as cluster:
        run = Run(options, cluster, folder)
        for suite in suites.all_suites(found):
            if not options.suite or suite.name in options.suite:
                run.suite(suite)
        version = cluster.execute("SHOW server_version", "postgres")[0][0]
    print_table(run.rows, found.version, version)
    if run.differences:
        print(f"\nthe outputs and differences are in {folder}")
        return 1
    if not options.out:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
