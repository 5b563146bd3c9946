"""Fixtures of the wire cases: the same case directly, through a relaying sidecar, one with no rule that
matches, and one that gates."""

import pytest

from support.sidecar import Sidecar
from ways import CHANGES


@pytest.fixture(scope="session", params=list(CHANGES))
def way(request):
    return request.param


@pytest.fixture(scope="session")
def sidecar(cluster, way):
    """Takes the place of the gating one: each test runs once for each way."""
    with Sidecar(cluster.endpoint(), CHANGES[way]) as started:
        yield started


@pytest.fixture(scope="session")
def through(sidecar):
    return sidecar.endpoint()
