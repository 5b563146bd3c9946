"""Fixtures of the tests that need a server. Every file has its own cluster, started once.

With $LEDGERGATE_TEST_TLS the shared sidecar has TLS on both sides: its clients must use it, and it uses it
towards the server.
"""

import os
import pathlib
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "pg")]

from oracle.oracle import Oracle  # noqa: E402
from support.certificates import Certificates  # noqa: E402
from support.horde import prepared_cluster  # noqa: E402
from support.sidecar import Sidecar  # noqa: E402
from support.wire_tap import WireTap  # noqa: E402


@pytest.fixture(scope="session")
def certificates():
    with Certificates() as made:
        yield made


@pytest.fixture(scope="session")
def everywhere(request):
    """The certificates where everything is to go through TLS."""
    return request.getfixturevalue("certificates") if os.environ.get("LEDGERGATE_TEST_TLS") else None


@pytest.fixture(scope="session")
def cluster(everywhere):
    with prepared_cluster(certificates=everywhere) as started:
        yield started


@pytest.fixture(autouse=True)
def fresh_horde(cluster):
    cluster.execute("CALL reset_horde()")


@pytest.fixture
def oracle(cluster, fresh_horde):
    return Oracle(cluster)


@pytest.fixture(scope="session")
def direct(cluster):
    """The server itself."""
    return cluster.endpoint()


@pytest.fixture(scope="session")
def sidecar(cluster, everywhere):
    with Sidecar(cluster.endpoint(), certificates=everywhere) as started:
        yield started


@pytest.fixture(autouse=True)
def sidecar_survives(request):
    """A sidecar that has died fails the test that it died in, and the next test has a new one."""
    yield
    if "sidecar" in request.fixturenames:
        sidecar = request.getfixturevalue("sidecar")
        code = sidecar.process.poll()
        if code is not None:
            log = sidecar.log()[-3000:]
            sidecar.start()
            pytest.fail(f"the sidecar ended with {code}; its log ends:\n{log}")


@pytest.fixture(scope="session")
def proxied(sidecar):
    """The server through the sidecar."""
    return sidecar.endpoint()


@pytest.fixture
def tap(cluster):
    with WireTap(cluster.endpoint()) as started:
        yield started
