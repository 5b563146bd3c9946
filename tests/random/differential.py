"""One session alone on a quiet server: through the sidecar it must read what it reads directly, byte for byte,
hold the gate from its first touch to the end of each transaction, and nothing when it is idle."""

import dataclasses

import psycopg2

TOUCHES = {"write", "read", "lock", "commit", "read_control", "lock_control"}


@dataclasses.dataclass(frozen=True)
class Problem:
    kind: str
    detail: str

    def __str__(self):
        return f"{self.kind}: {self.detail}"


@dataclasses.dataclass
class Result:
    problems: list
    transactions: int = 0
    touches: int = 0
    transitions: int = 0
    refused: bool = False
    crashed: bool = False  # the server itself did, directly


class Differential:
    def __init__(self, harness, patience=20.0):
        self.harness = harness
        self.patience = patience

    def check(self, session):
        harness = self.harness
        harness.reset()
        own_locks = {}

        def note_locks(player, index):
            if player.status_now() in ("I", "T"):
                own_locks[index] = harness.locks_of(player.pid)[0]

        uses_locks = any("advisory" in argument for step in session.steps() for argument in step.arguments)
        try:
            direct = harness.player(
                harness.direct, session, on_settled=note_locks if uses_locks else None
            ).play()
            harness.end_prepared(harness.watch_direct)
        except psycopg2.DatabaseError:
            harness.recover()
            return Result([], crashed=True)

        harness.oracle.mark()
        problems = []

        def check_locks(player, index):
            problems.extend(self._lock_problems(player, index, own_locks.get(index, [])))

        player = harness.player(
            harness.proxied, session, expected=direct, on_settled=check_locks, patience=self.patience
        )
        answer = player.play()
        if self._waits_for_itself(answer):
            answer.stopped = "prepared"
        problems += self._differences(direct, answer)
        return self._result(problems, answer)

    def _result(self, problems, answer, transitions=0):
        """Adds what the oracle and the server have to say about the session."""
        harness = self.harness
        if answer.stopped:
            harness.end_leftovers()
        records = [record for record in harness.oracle.touches() if record.pid == answer.pid]
        problems += [
            Problem(violation.kind, str(violation))
            for violation in harness.oracle.violations()
            if violation.record.pid == answer.pid
        ]
        problems += [Problem("unbalanced", str(row)) for row in harness.oracle.unbalanced()]
        if harness.sidecar.process.poll() is not None:
            problems.append(Problem("the sidecar died", harness.sidecar.log()[-1000:]))
            harness.sidecar.start()
        ended = sum(m.kind == "Z" and m.body == b"I" for m in answer.messages)
        return Result(problems, ended, len(records), transitions, answer.stopped in ("refused", "prepared"))

    def _waits_for_itself(self, answer):
        """A transaction that the session has prepared keeps its pin: what conflicts with that waits until the
        session ends it, directly it need not."""
        refused = answer.messages and "E(55P03" in str(answer.messages[-1])
        return (answer.stopped == "silence" or refused) and self.harness.prepared(self.harness.watch)

    def _lock_problems(self, player, index, own_locks):
        status = player.status_now()
        if status not in ("I", "T"):
            return
        held, _ = self.harness.locks_of(player.pid)
        if status == "I" and held != own_locks:
            yield Problem("lock at idle", f"behind write {index}: {held}, directly {own_locks}")
        # What the session has dropped itself is only taken again by its next touch.
        drops = any("unlock" in argument for step in player.session.steps() for argument in step.arguments)
        if status == "T" and not held and not drops and self._has_touched(player.pid):
            yield Problem("no lock in transaction", f"behind write {index}")

    def _has_touched(self, pid):
        rows = self.harness.watch.execute(
            "SELECT virtualtransaction FROM pg_locks WHERE pid = %s LIMIT 1", (pid,)
        )
        return any(
            record.pid == pid and (record.transaction,) in rows and not record.is_exempt
            for record in self.harness.oracle.touches()
        )

    @staticmethod
    def _differences(direct, answer):
        if answer.stopped in ("refused", "prepared"):
            return
        at = answer.compared
        if answer.stopped == "silence":
            yield Problem("silence", f"missing behind {answer.messages[-3:]}: {direct.messages[at : at + 4]}")
        elif answer.stopped or len(answer.messages) != len(direct.messages):
            index = next((i for i, reached in enumerate(direct.reached) if reached > at), len(direct.reached))
            yield Problem(
                "difference",
                f"at write {index}\n  direct  {direct.messages[at : at + 4]}\n  proxied {answer.messages[at : at + 4]}",
            )
