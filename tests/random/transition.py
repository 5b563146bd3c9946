"""Somebody else's change of the mode, in steps that a session's text decides: `transition begins` queues for the
gate, takes it exclusively and changes the control row; `transition commits` or `rolls back` ends it."""

import select

from support import wire
from support.sidecar import APPLIER_KEY, GATE_KEY
from support.waiting import wait_until

BEGIN = f"""BEGIN;
    SELECT pg_advisory_xact_lock({APPLIER_KEY});
    SELECT pg_advisory_xact_lock({GATE_KEY});
    SELECT oracle.step('granted');
    SELECT fold_postings() FROM kudos_ledger_control WHERE id = 1 AND mode = 'ledger';
    UPDATE kudos_ledger_control SET mode = CASE mode WHEN 'shadow' THEN 'ledger' ELSE 'shadow' END WHERE id = 1"""
WAITS = "SELECT 1 FROM pg_locks WHERE pid = %s AND NOT granted"


class Transition:
    def __init__(self, endpoint, watch, end_prepared):
        self.client = wire.WireClient(endpoint.replace(user="gate_operator"), application_name="transition")
        self.client.simple("SET lock_timeout = 0")
        self.watch = watch
        self.end_prepared = end_prepared
        self.state = "idle"  # or queued, granted
        self.committed = 0

    def close(self):
        self.client.close()

    def move(self, step):
        self._look()
        if step == "transition begins" and self.state == "idle":
            self.client.send(wire.query(BEGIN))
            self.state = "queued"
            wait_until(self._has_queued, "the transition to queue or to be granted", interval=0.001)
        elif step == "transition commits" and self.state == "granted":
            self._end("COMMIT")
            self.committed += 1
        elif step == "transition rolls back" and self.state == "granted":
            self._end("ROLLBACK")

    def let_go(self):
        """Ends the transition if it has the gate, so that whoever waits for it goes on; what the session itself
        has prepared and left must not keep it from getting there."""
        if self._look() == "queued":
            self.end_prepared()
        if self.state == "granted":
            self._end("COMMIT")
            self.committed += 1

    def finish(self):
        """Behind the session, when nothing is in the way any more."""
        self.let_go()
        wait_until(lambda: self._look() != "queued", "the gate to be granted", interval=0.001)
        self.let_go()

    def _has_queued(self):
        return self._look() != "queued" or self.watch.execute(WAITS, (self.client.pid,))

    def _look(self):
        if self.state == "queued" and select.select([self.client.socket], [], [], 0)[0]:
            answers = self.client.read_until_ready()
            errors = [m.fields()["C"] for m in answers if m.kind == "E"]
            # A pinned session that becomes a transition itself: the one deadlock that is allowed.
            assert errors in ([], ["40P01"]), answers
            self.state = "granted"
            if errors:
                self._end("ROLLBACK")
        return self.state

    def _end(self, how):
        answers = self.client.simple(how)
        assert answers[0].body == how.encode() + b"\0", answers
        self.state = "idle"
