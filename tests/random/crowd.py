"""Many sessions at once through one sidecar, with transitions by the admin port and in band, cancels, resets,
half-closed and killed connections. Only what each session wants comes from the seed, not who is first; the
oracle says whether the gate held."""

import asyncio
import collections
import contextlib
import dataclasses

import psycopg2
from crowd_member import Failed, Member
from differential import Problem
from support.waiting import wait_until

LEFT = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'crowd %'"


@dataclasses.dataclass
class Tally:
    transactions: int = 0
    sessions: int = 0
    touches: int = 0
    transitions: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    fates: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    problems: list = dataclasses.field(default_factory=list)


class Crowd:
    """`width` sessions at a time; a transition begins whenever `pace` sessions have ended since the last one."""

    def __init__(self, harness, width=8, pace=6):
        self.harness = harness
        self.width = width
        self.pace = pace

    def run(self, seeds):
        """Plays the sessions of all `seeds`, asks the oracle, and returns the Tally."""
        self.harness.reset()
        self.harness.oracle.mark()
        self.tally = Tally()
        asyncio.run(self._run(iter(seeds)))
        self._check_the_end()
        return self.tally

    async def _run(self, seeds):
        self.ended = asyncio.Condition()
        self.running = self.width
        transitions = asyncio.create_task(self._transitions())
        await asyncio.gather(*(self._worker(seeds) for _ in range(self.width)))
        await transitions

    async def _worker(self, seeds):
        for seed in seeds:
            member = Member(self.harness, seed)
            try:
                await member.live()
            except Failed as failure:
                self.tally.problems.append(Problem("lost answers", f"crowd {seed}: {failure}"))
            self._end_prepared(seed)
            self.tally.sessions += 1
            self.tally.transactions += member.transactions
            self.tally.fates[member.fate] += 1
            async with self.ended:
                self.ended.notify_all()
        async with self.ended:
            self.running -= 1
            self.ended.notify_all()

    def _end_prepared(self, seed):
        """A prepared transaction holds its pin until somebody ends it; one that is just being ended goes by itself."""
        with contextlib.suppress(psycopg2.Error):
            self.harness.watch.execute(f"ROLLBACK PREPARED 'g{seed}'")

    async def _transitions(self):
        mode = "ledger"
        while self.running:
            target = self.tally.sessions + self.pace
            async with self.ended:
                await self.ended.wait_for(lambda: self.tally.sessions >= target or not self.running)
            answer = await asyncio.to_thread(self.harness.sidecar.flip, mode, 60.0)
            state = answer.get("state", "unchanged")
            self.tally.transitions[state] += 1
            if state in ("committed", "unchanged"):
                mode = "shadow" if mode == "ledger" else "ledger"

    def _check_the_end(self):
        """Behind the last session: nobody holds anything, the books balance, and the oracle is content."""
        harness, problems = self.harness, self.tally.problems
        if problems:
            harness.end_leftovers()
        wait_until(lambda: harness.watch.execute(LEFT) == [(0,)], "the last sessions to end")
        harness.end_prepared(harness.watch)  # of a lost client's last message
        answer = harness.sidecar.flip("shadow")
        if answer.get("state", "committed") != "committed":
            problems.append(Problem("no transition at the end", str(answer)))
        self.tally.touches = len(harness.oracle.touches())
        problems += [
            Problem(v.kind, f"{v} ({v.record.application}, {v.record.isolation})")
            for v in harness.oracle.violations()
        ]
        problems += [Problem("unbalanced", str(row)) for row in harness.oracle.unbalanced()]
        rows = harness.watch.execute("SELECT event_id FROM kudos_ledger WHERE NOT applied")
        problems += [Problem("posted behind the fold", str(row)) for row in rows]
        if harness.sidecar.process.poll() is not None:
            problems.append(Problem("the sidecar died", harness.sidecar.log()[-1000:]))
