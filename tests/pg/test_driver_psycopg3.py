"""psycopg 3, unmodified, in each way it can send a statement."""

import drivers
import pytest


@pytest.mark.parametrize("mode", ["default", "prepared", "simple", "pipeline"])
def test_psycopg3_cannot_tell_the_sidecar_from_the_server(cluster, oracle, direct, proxied, mode):
    # In a pipeline what follows an error is skipped up to the next Sync, and that is where these would be.
    never = ["23514", "42703", "25P02"] if mode == "pipeline" else []
    drivers.compare_scenario(cluster, oracle, direct, proxied, "psycopg3", mode, never=never)
