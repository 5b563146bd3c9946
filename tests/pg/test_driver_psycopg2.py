"""psycopg2, unmodified."""

import drivers


def test_psycopg2_cannot_tell_the_sidecar_from_the_server(cluster, oracle, direct, proxied):
    drivers.compare_scenario(cluster, oracle, direct, proxied, "psycopg2")
