"""Fixtures of the fact tests: a server of any major version, with nothing between it and the test."""

import pytest

from fact_sessions import Session, facts_schema
from support.pg_cluster import Cluster


@pytest.fixture(scope="session")
def cluster():
    """$LEDGERGATE_PG_BINDIR chooses the server's programs."""
    with Cluster() as started:
        started.execute("CREATE DATABASE facts", "postgres")
        started.execute("CREATE DATABASE another", "postgres")
        yield started


@pytest.fixture(autouse=True)
def fresh_horde(cluster):
    """Takes the place of the fixture of this name of the tests with a sidecar: each test has a fresh schema."""
    cluster.execute(facts_schema(), "facts")


@pytest.fixture
def connect(cluster):
    """Opens sessions (keyword arguments are settings), and closes them when the test is over."""
    opened = []

    def open_session(dbname="facts", **settings):
        session = Session(cluster.endpoint("postgres", dbname))
        opened.append(session)
        for name, value in settings.items():
            session.do(f"SET {name} = '{value}'")
        return session

    yield open_session
    for session in opened:
        session.close()


@pytest.fixture
def witness(connect):
    """A session that only looks at what the others do."""
    return connect()


@pytest.fixture(scope="session")
def major(cluster):
    return int(cluster.execute("SHOW server_version_num", "postgres")[0][0]) // 10000
