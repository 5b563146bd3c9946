"""A test that cannot fail proves nothing: with any one rule of the gate left out, the checks must notice.

`canaries/RULE.case` is a session that needs the rule. What leads to the ledger through the catalog has its own
such tests beside the catalog's (`tests/pg/test_catalog_canaries.py`: each kind of link left out)."""

import os
import pathlib
import subprocess

import pytest
import script
from differential import Differential
from duet import Duet
from harness import Harness

CANARIES = pathlib.Path(__file__).parent / "canaries"


def canary():
    return os.environ.get("LEDGERGATE_CANARY_BIN", "build/release/bin/ledgergate_canary")


def rules():
    listed = subprocess.run([canary(), "--list-rules"], stdout=subprocess.PIPE, text=True, check=True)
    return listed.stdout.split()


def workload(rule):
    return script.read((CANARIES / f"{rule}.case").read_text(), rule)


@pytest.fixture(scope="module")
def harness():
    with Harness() as started:
        yield started


def problems_of(harness, session):
    """Of both checks; a session with a transition in it has nothing to be compared with."""
    found = Duet(harness).check(session).problems
    if all(step.is_message for step in session.steps()):
        found += Differential(harness).check(session).problems
    return found


def test_every_rule_has_a_session_that_needs_it():
    assert sorted(path.stem for path in CANARIES.glob("*.case")) == sorted(rules())


@pytest.mark.parametrize("rule", rules())
def test_the_checks_notice_when_a_rule_is_left_out(harness, rule):
    with harness.other_sidecar([canary(), "--without-rule", rule]):
        assert problems_of(harness, workload(rule))


@pytest.mark.parametrize("rule", rules())
def test_the_checks_find_nothing_when_no_rule_is_left_out(harness, rule):
    found = problems_of(harness, workload(rule))
    assert not found, "\n".join(map(str, found))
    assert Duet(harness).check(workload(rule)).touches
