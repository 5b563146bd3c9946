"""Transitions that change nothing, one after another, while a suite runs: its pins have somebody to wait
for."""

import threading


class Rehearsals:
    """Each takes the exclusive gate like a real one and rolls back. A pin waits for as long as it queues
    and holds."""

    def __init__(self, sidecar):
        self._sidecar = sidecar
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.held = 0

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    def _run(self):
        while not self._over.wait(0.05):
            ended = self._sidecar.flip("ledger", rehearse=True, queue_budget="200ms")
            self.held += (ended.get("result") or {}).get("outcome") == "rehearsed"
