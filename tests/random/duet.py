"""One session through the sidecar and one transition, step by step: the oracle must find nothing.

There is no direct run to compare with, since what a session sees depends on when the mode changes; it must come
to its end all the same, and hold the gate as in the differential check."""

import random

import differential
import script
from transition import Transition


def with_transitions(session, seed):
    """`session` with transitions that begin and end at random places."""
    chance = random.Random(seed)
    writes, is_open = [], False
    for write in session.writes:
        write = list(write)
        if not is_open and chance.random() < 0.2:
            place = chance.choice((0, 0, chance.randint(0, len(write))))
            write.insert(place, script.Step("transition begins"))
            is_open = True
        elif is_open and chance.random() < 0.4:
            how = chance.choice(("commits", "commits", "commits", "rolls back"))
            write.insert(chance.choice((0, len(write))), script.Step(f"transition {how}"))
            is_open = False
        writes.append(write)
    return session.with_writes(writes)


class Duet(differential.Differential):
    def check(self, session):
        harness = self.harness
        harness.reset()
        harness.oracle.mark()
        problems = []
        own_locks = any("advisory" in argument for step in session.steps() for argument in step.arguments)

        def check_locks(player, index):
            if not own_locks:
                problems.extend(self._lock_problems(player, index, []))

        transition = Transition(harness.operator, harness.watch, lambda: harness.end_prepared(harness.watch))
        try:
            player = harness.player(
                harness.proxied,
                session,
                on_settled=check_locks,
                transition=transition,
                patience=self.patience,
            )
            answer = player.play()
        finally:
            transition.close()
        if answer.stopped:
            problems.append(differential.Problem(answer.stopped, f"behind {answer.messages[-3:]}"))
        return self._result(problems, answer, transition.committed)
