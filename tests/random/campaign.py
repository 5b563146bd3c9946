"""Runs random sessions by the thousand, in three ways, and makes what fails small.

alone   played directly and through the sidecar: equal bytes, held locks, the oracle (`differential.py`)
duet    one session and one transition, step by step: held locks, the oracle (`duet.py`)
crowd   many sessions at once, transitions, cancels, lost connections: the oracle and the books (`crowd.py`)
"""

import contextlib
import dataclasses
import itertools
import re
import time

import generator
from crowd import Crowd
from differential import Differential
from duet import Duet, with_transitions
from harness import Harness
from shrink import shrink

CROWD_ROUND = 400  # sessions between two looks of the oracle
SHRUNK_AT_MOST = 5


@dataclasses.dataclass
class Total:
    transactions: int = 0
    sessions: int = 0
    touches: int = 0
    transitions: int = 0
    refused: int = 0
    crashed: int = 0
    failures: list = dataclasses.field(default_factory=list)

    def __str__(self):
        return (
            f"{self.transactions} transactions in {self.sessions} sessions, {self.touches} touches, "
            f"{self.transitions} transitions, {self.refused} sessions refused, {len(self.failures)} failures"
        )


def session_of(kind, seed):
    if kind == "alone":
        return generator.session(seed)
    session = generator.session(seed, flips=True)
    return with_transitions(session, seed) if kind == "duet" else session


@contextlib.contextmanager
def started(kind):
    """The harness for `kind`; in a crowd those that wait for each other must not wait long."""
    with Harness({"deadlock_timeout": "50ms"} if kind == "crowd" else {}) as harness:
        if kind == "crowd":
            harness.cluster.execute("ALTER DATABASE horde SET lock_timeout = '500ms'", "postgres")
        yield harness


def run(harness, kind, seeds, transactions, say=print):
    """Sessions of `seeds` until so many transactions have ended; returns the Total."""
    total = Total()
    begin, said = time.monotonic(), time.monotonic()
    seeds = iter(seeds)
    while total.transactions < transactions and len(total.failures) < SHRUNK_AT_MOST:
        if kind == "crowd":
            missing = (transactions - total.transactions) // 13 + 1
            part = list(itertools.islice(seeds, min(missing, CROWD_ROUND)))
            if not part:
                break
            add_crowd(harness, total, part, say)
        else:
            seed = next(seeds, None)
            if seed is None:
                break
            add_session(harness, total, kind, seed, say)
        if time.monotonic() - said > 60:
            said = time.monotonic()
            say(f"{kind}: {total} after {said - begin:.0f} s")
    say(f"{kind}: {total} in {time.monotonic() - begin:.0f} s")
    return total


def checker(harness, kind, patience=20.0):
    return (Duet if kind == "duet" else Differential)(harness, patience)


def add_session(harness, total, kind, seed, say):
    session = session_of(kind, seed)
    result = checker(harness, kind).check(session)
    total.sessions += 1
    total.transactions += result.transactions
    total.touches += result.touches
    total.transitions += result.transitions
    total.refused += result.refused
    total.crashed += result.crashed
    if result.problems:
        total.failures.append(report(harness, kind, session, result.problems, say))


def add_crowd(harness, total, seeds, say):
    tally = Crowd(harness).run(seeds)
    total.sessions += tally.sessions
    total.transactions += tally.transactions
    total.touches += tally.touches
    total.transitions += tally.transitions["committed"]
    names = {int(name) for problem in tally.problems for name in re.findall(r"crowd (\d+)", str(problem))}
    for problem in tally.problems:
        say(f"crowd: {problem}")
    for seed in sorted(names)[:SHRUNK_AT_MOST]:
        session = session_of("crowd", seed)
        for other in ("alone", "duet"):
            played = with_transitions(session, seed) if other == "duet" else session
            problems = checker(harness, other, 3.0).check(played).problems
            if problems:
                report(harness, other, played, problems, say)
                break
        else:
            say(f"crowd {seed} does not fail alone:\n{session}")
    total.failures += [str(problem) for problem in tally.problems]


def report(harness, kind, session, problems, say, seconds=30.0):
    """Says what failed, and the smallest session that still fails in the same way."""
    kinds = {problem.kind for problem in problems}
    quick = checker(harness, kind, 3.0)
    small = shrink(session, lambda s: bool(kinds & {p.kind for p in quick.check(s).problems}), seconds)
    problems = quick.check(small).problems or problems
    text = "\n".join([f"{kind}, {session.label}:", *map(str, problems), "shrunk to:", str(small)])
    say(text)
    return text
