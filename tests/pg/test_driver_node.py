"""node-postgres, unmodified."""

import drivers
import pytest


@pytest.mark.parametrize("mode", ["simple", "extended", "prepared"])
def test_node_postgres_cannot_tell_the_sidecar_from_the_server(cluster, oracle, direct, proxied, mode):
    drivers.compare_scenario(cluster, oracle, direct, proxied, "node", mode)
