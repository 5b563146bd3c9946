"""Waiting for a condition with a deadline. Nothing in the tests sleeps for a fixed time to synchronise."""

import time

DEFAULT_DEADLINE = 30.0
POLL_INTERVAL = 0.01


class DeadlineExceeded(AssertionError):
    """The condition did not become true in time: always a failed test, never a skipped one."""


def wait_until(condition, what, deadline=DEFAULT_DEADLINE, interval=POLL_INTERVAL):
    """Calls `condition` until it returns something true, and returns that; `what` says what was awaited."""
    end = time.monotonic() + deadline
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= end:
            raise DeadlineExceeded(f"waited {deadline:g} s in vain: {what}")
        time.sleep(interval)
