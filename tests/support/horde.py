"""The schema that the tests with a server work on, with the oracle in it."""

import contextlib
import pathlib

from support.pg_cluster import Cluster, create_login_roles

TESTS = pathlib.Path(__file__).resolve().parents[1]


def prepare(cluster):
    cluster.execute("CREATE DATABASE horde", "postgres")
    cluster.execute((TESTS / "support/horde.sql").read_text())
    cluster.execute((TESTS / "oracle/oracle.sql").read_text())
    cluster.execute("CALL reset_horde()")
    create_login_roles(cluster)


@contextlib.contextmanager
def prepared_cluster(*arguments, **options):
    """A server of its own with all that; the arguments are those of Cluster."""
    with Cluster(*arguments, **options) as started:
        prepare(started)
        yield started
