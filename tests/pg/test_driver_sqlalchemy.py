"""SQLAlchemy, unmodified, over psycopg2."""

import drivers


def test_sqlalchemy_cannot_tell_the_sidecar_from_the_server(cluster, oracle, direct, proxied):
    drivers.compare_scenario(cluster, oracle, direct, proxied, "sqlalchemy")
