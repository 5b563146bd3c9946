"""The parts of the random tests that need no server: sessions as text, their seeds, and making them small."""

import generator
import pytest
import script
from duet import with_transitions
from shrink import shrink


@pytest.mark.parametrize("seed", range(50))
def test_a_session_that_is_printed_and_read_again_is_the_same(seed):
    session = with_transitions(generator.session(seed, flips=True), seed)
    assert script.read(str(session), session.label) == session


def test_a_seed_says_the_whole_session():
    assert generator.session(7) == generator.session(7)
    assert generator.session(7) != generator.session(8)


@pytest.mark.parametrize("seed", range(20))
def test_shrinking_leaves_only_what_is_needed(seed):
    def fails(session):
        texts = [step.arguments[-1] for step in session.steps() if step.arguments]
        return any("kudos_ledger" in text for text in texts)

    small = shrink(generator.session(seed), fails)
    assert len(small.steps()) == 1
    assert small.user == "app" and not small.pieces


def test_a_line_that_is_no_step_is_named():
    with pytest.raises(ValueError, match="line 2: S>P nothing"):
        script.read("user app\nS>P nothing\n")
