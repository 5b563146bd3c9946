"""Some 7,500 random transactions in three ways; `run` beside this file does the same for as long as one likes."""

import itertools
import os

import campaign
import pytest

SEED = int(os.environ.get("LEDGERGATE_RANDOM_SEED", "1"))
TRANSACTIONS = {"alone": 2_000, "duet": 3_000, "crowd": 2_500}


@pytest.mark.parametrize("kind", TRANSACTIONS)
def test_random_sessions_keep_the_gate_and_cannot_tell_that_it_is_there(kind):
    print(f"{kind}: seeds from {SEED}")
    with campaign.started(kind) as harness:
        total = campaign.run(harness, kind, itertools.count(SEED), TRANSACTIONS[kind])
    assert not total.failures, "\n".join(total.failures)
    # What is refused or barely touches would prove little.
    assert total.transactions >= TRANSACTIONS[kind]
    assert total.touches > total.transactions / 4
    assert total.refused <= total.sessions / 4
    assert total.crashed == 0
