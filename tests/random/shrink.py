"""Makes a failing session small: the fewest writes, messages and statements that still show a problem of the
same kind."""

import dataclasses
import time

from script import Step


def shrink(session, still_fails, seconds=60.0):
    """`still_fails(session)`; the result fails, and mostly nothing can be left out of it any more."""
    end = time.monotonic() + seconds

    def fails(candidate):
        return time.monotonic() < end and bool(candidate.writes) and still_fails(candidate)

    session = _plainer(session, fails)
    changed = True
    while changed and time.monotonic() < end:
        before = session
        session = _without_parts(session, lambda s: list(s.writes), lambda s, w: s.with_writes(w), fails)
        session = _without_steps(session, fails)
        session = _shorter_texts(session, fails)
        changed = session != before
    return session


def _plainer(session, fails):
    for changes in ({"pieces": 0}, {"user": "app"}):
        candidate = dataclasses.replace(session, **changes)
        if candidate != session and fails(candidate):
            session = candidate
    return session


def _without_parts(session, parts_of, with_parts, fails):
    """Leaves out halves, then quarters, down to single ones."""
    size = max(len(parts_of(session)) // 2, 1)
    while size:
        at = 0
        while at < len(parts_of(session)):
            parts = parts_of(session)
            candidate = with_parts(session, parts[:at] + parts[at + size :])
            if fails(candidate):
                session = candidate
            else:
                at += size
        size //= 2
    return session


def _without_steps(session, fails):
    for index in reversed(range(len(session.writes))):
        if index >= len(session.writes) or len(session.writes[index]) < 2:
            continue

        def with_parts(current, parts, index=index):
            writes = list(current.writes)
            writes[index] = tuple(parts)
            return current.with_writes(writes) if parts else dataclasses.replace(current, writes=())

        session = _without_parts(session, lambda s, index=index: list(s.writes[index]), with_parts, fails)
    return session


def _shorter_texts(session, fails):
    """One statement less in texts of several."""
    for write in range(len(session.writes)):
        for place in range(len(session.writes[write])):
            session = _shorter_text(session, write, place, fails)
    return session


def _shorter_text(session, write, place, fails):
    step = session.writes[write][place]
    if step.verb not in ("Query", "Parse") or "$$" in step.arguments[-1]:
        return session
    pieces = step.arguments[-1].split("; ")
    for left_out in reversed(range(len(pieces))):
        if len(pieces) < 2:
            break
        shorter = pieces[:left_out] + pieces[left_out + 1 :]
        writes = [list(w) for w in session.writes]
        writes[write][place] = Step(step.verb, (*step.arguments[:-1], "; ".join(shorter)))
        candidate = session.with_writes(writes)
        if fails(candidate):
            session, pieces = candidate, shorter
    return session
