"""libpqxx, unmodified."""

import drivers
import pytest


@pytest.mark.parametrize("mode", ["simple", "params", "prepared"])
def test_libpqxx_cannot_tell_the_sidecar_from_the_server(cluster, oracle, direct, proxied, mode):
    drivers.compare_scenario(
        cluster, oracle, direct, proxied, "pqxx", mode, never=["25P02"] if mode == "simple" else []
    )
