"""Control connection, pin watch and transition driver against a real server: the cases stand in *_pgtest.cpp."""

import os
import subprocess

import pytest

PROGRAM = os.environ["LEDGERGATE_TRANSITION_PGTEST"]


def cases():
    listing = subprocess.run([PROGRAM, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
    suite = ""
    for line in listing.splitlines():
        if line.startswith("  "):
            yield suite + line.strip()
        elif line.endswith("."):
            suite = line


@pytest.mark.parametrize("case", list(cases()))
def test_case(cluster, case):
    environment = {**os.environ, "LG_PG_PORT": str(cluster.port)}
    result = subprocess.run([PROGRAM, f"--gtest_filter={case}", "--gtest_brief=1"], env=environment,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    assert result.returncode == 0, result.stdout
    assert "[  PASSED  ] 1 test." in result.stdout, result.stdout
