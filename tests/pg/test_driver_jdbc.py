"""pgjdbc, unmodified: BEGIN in the batch of the first statement, batches, portions, savepoints of its own."""

import drivers
import pytest


@pytest.mark.parametrize(
    "options",
    [
        "preferQueryMode=extended",
        "preferQueryMode=extended&prepareThreshold=1&binaryTransfer=true",
        "preferQueryMode=extendedCacheEverything",
        "preferQueryMode=extendedForPrepared",
        "preferQueryMode=simple",
        "autosave=always&cleanupSavepoints=true",
    ],
)
def test_pgjdbc_cannot_tell_the_sidecar_from_the_server(cluster, oracle, direct, proxied, options):
    drivers.compare_scenario(
        cluster, oracle, direct, proxied, "jdbc", options, never=["25P02"] if "autosave" in options else []
    )
