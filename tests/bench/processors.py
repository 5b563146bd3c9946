"""Keeps programs on one processor while short times are compared.

Where the scheduler happens to put client, proxy and server decides whether a message has to wake another
processor, and that alone can double the time of a transaction from one run to the next. On one processor no
such luck is left: the time of a transaction is the work of all three.
"""

import contextlib
import os


@contextlib.contextmanager
def on_one_processor(pids):
    """Binds these processes with all their threads, this program, and whatever they start from now on."""
    everywhere = os.sched_getaffinity(0)
    bound = [0, *pids]
    _bind(bound, {max(everywhere)})
    try:
        yield
    finally:
        _bind(bound, everywhere)


def _bind(pids, processors):
    for pid in pids:
        for thread in os.listdir(f"/proc/{pid or 'self'}/task"):
            os.sched_setaffinity(int(thread), processors)
