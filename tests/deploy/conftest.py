"""What the tests of deploy/ share: the helpers of tests/support, and the quickstart's horde."""

import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
DEPLOY = TESTS.parent / "deploy"
sys.path[:0] = [str(TESTS), str(TESTS / "deploy"), str(DEPLOY / "quickstart.d")]
