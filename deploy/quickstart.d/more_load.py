"""The writers once more, against what --keep has left running: more_load.py CONNECTION SECONDS."""

import signal
import sys
import time

from cluster import USERS
from load import Board, Load
from screen import Screen, duration
from stages import Watch

WRITERS = 6


def main():
    if len(sys.argv) != 3 or not sys.argv[2].isdigit():
        print("usage: load SECONDS", file=sys.stderr)
        return 64
    screen = Screen()
    load = Load(Board(1, WRITERS + 1), WRITERS, USERS)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    load.start({"dsn": sys.argv[1]})
    watch = Watch(screen, load, 0)
    try:
        deadline = time.monotonic() + int(sys.argv[2])
        while time.monotonic() < deadline:
            watch.pause(min(1.0, deadline - time.monotonic()), "Ctrl-C ends it")
            for complaint in load.complaints():
                screen.verdict(False, f"a writer's error: {complaint}")
    except KeyboardInterrupt:
        pass
    finally:
        load.stop()
    sums = load.board.tally(0)
    screen.verdict(sums.errors == 0, f"{sums.transactions:,} transactions, {sums.errors} errors, "
                                     f"longest wait of a writer {duration(sums.longest_wait)}")
    return 0 if sums.errors == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
