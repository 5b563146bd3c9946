"""Runs the load scenarios and prints what each measured. Started by `run`."""

import argparse
import sys
import time

import scenarios
from support.horde import prepare
from support.pg_cluster import Cluster


def arguments():
    parser = argparse.ArgumentParser(
        prog="tests/load/run",
        description="Loads a sidecar in the ways of README.md and prints what was measured. "
        "Exit code 1: a scenario failed.",
    )
    parser.add_argument("--small", action="store_true", help="little of everything: some seconds each")
    parser.add_argument(
        "scenario", nargs="*", metavar="SCENARIO", help="only these: " + ", ".join(scenarios.ALL)
    )
    options = parser.parse_args()
    unknown = set(options.scenario) - set(scenarios.ALL)
    if unknown:
        parser.error(f"no such scenario: {', '.join(sorted(unknown))}")
    return options


def main():
    options = arguments()
    scale = scenarios.SMALL if options.small else scenarios.FULL
    failed = []
    with Cluster(scenarios.SERVER) as cluster:
        prepare(cluster)
        for name in options.scenario or scenarios.ALL:
            cluster.execute("CALL reset_horde()")
            began = time.monotonic()
            try:
                measured = scenarios.ALL[name](cluster, scale)
            except AssertionError as failure:
                failed.append(name)
                measured = {"FAILED": str(failure)[:500]}
            values = ", ".join(f"{key} {value}" for key, value in measured.items())
            print(f"{name} ({time.monotonic() - began:.0f} s): {values}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
