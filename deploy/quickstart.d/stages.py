"""The stages of the demonstration: load, with one transition in the middle, and what came of it."""

import dataclasses
import threading
import time

import psycopg2

import horde
from children import Problem
from cluster import APPLICATION
from load import Board
from screen import duration

WARM_UP_PATIENCE = 15.0  # seconds until every writer must have committed something
REFRESH = 0.2  # seconds between two live lines


@dataclasses.dataclass
class Outcome:
    """What a transition came to. `error` is empty when it was admitted."""
    seconds: float
    error: str = ""
    sqlstate: str = ""
    pins_meanwhile: int = 0


@dataclasses.dataclass
class Row:
    """One line of the final table."""
    title: str
    expected: str  # admitted or starved
    outcome: Outcome
    board: Board
    stage: int

    @property
    def tally(self):
        """Read anew each time: a writer may be about to count a transaction into a stage that is over."""
        return self.board.tally(self.stage)

    @property
    def result(self):
        if not self.outcome.error:
            return "admitted"
        return "starved" if self.outcome.sqlstate == "57014" else "failed"

    @property
    def holds(self):
        return self.result == self.expected and self.tally.errors == 0


class PlainClient:
    """A client of horde.py that counts nothing: the one that carries out a legacy transition."""

    def __init__(self, connection):
        self.cursor = connection.cursor()

    def run(self, text, values=None):
        self.cursor.execute(text, values)

    def rows(self, text, values=None):
        self.run(text, values)
        return self.cursor.fetchall()

    def row(self, text, values=None):
        return self.rows(text, values)[0]


def legacy_transition(address, mode, statement_timeout):
    """The transition as a horde does it: it locks the control row FOR UPDATE, and knows of no gate."""
    settings = f"-c search_path=public -c statement_timeout={statement_timeout * 1000:.0f}"
    connection = psycopg2.connect(**address, application_name="legacy-transition", options=settings)
    try:
        with connection:
            horde.change_mode(PlainClient(connection), mode)
    finally:
        connection.close()


class Stages:
    """Runs one stage after the other over a Load and remembers the rows of the table."""

    def __init__(self, screen, load, seconds):
        self.screen = screen
        self.load = load
        self.seconds = seconds
        self.rows = []

    def run(self, title, expected, action):
        """Loads for half the time, starts `action` in the midst of it, loads for the other half."""
        stage = len(self.rows)
        self.load.enter(stage)
        watch = Watch(self.screen, self.load, stage)
        watch.until(lambda: self.load.running(stage), WARM_UP_PATIENCE, "warming up")
        watch.pause(self.seconds / 2, "before the transition")
        outcome = self.transit(watch, action)
        watch.pause(self.seconds / 2, "after the transition")
        self.screen.clear_live()
        self.rows.append(Row(title, expected, outcome, self.load.board, stage))
        return self.rows[-1]

    def transit(self, watch, action):
        attempt = Attempt(action)
        pins = watch.tally().pins
        attempt.start()
        while attempt.is_alive():
            passed = watch.tally().pins - pins
            watch.show(f"waiting {attempt.elapsed():.1f} s, overtaken by {passed:,} pins", with_rate=False)
            attempt.join(REFRESH)
        attempt.outcome.pins_meanwhile = watch.tally().pins - pins
        return attempt.outcome

    def complaints(self):
        return self.load.complaints()


class Watch:
    """The live line of one stage."""

    def __init__(self, screen, load, stage):
        self.screen = screen
        self.load = load
        self.stage = stage
        self.begun = time.monotonic()

    def tally(self):
        return self.load.board.tally(self.stage)

    def show(self, event, with_rate=True):
        """Fits into 80 columns, the event included."""
        sums, elapsed = self.tally(), time.monotonic() - self.begun
        parts = [f"{elapsed:4.1f} s", f"{sums.transactions:,} tx"]
        if with_rate:
            parts.append(f"{sums.transactions / max(elapsed, 0.1):,.0f}/s")
        if sums.errors:
            parts.append(f"{sums.errors} errors")
        parts += [f"max wait {duration(sums.longest_wait)}", event]
        self.screen.live("  ".join(parts))

    def pause(self, seconds, event):
        self.until(lambda: False, seconds, event)

    def until(self, condition, patience, event):
        deadline = time.monotonic() + patience
        while not condition() and time.monotonic() < deadline:
            self.show(event)
            time.sleep(min(REFRESH, max(0.0, deadline - time.monotonic())))


class Attempt(threading.Thread):
    """A transition under way, so that the live line goes on meanwhile."""

    def __init__(self, action):
        super().__init__(daemon=True)
        self.action = action
        self.begun = time.monotonic()
        self.outcome = Outcome(0.0, "it was not carried out")

    def elapsed(self):
        return time.monotonic() - self.begun

    def run(self):
        try:
            details = self.action() or {}
            self.outcome = Outcome(measured_by_sidecar(details) or self.elapsed())
        except psycopg2.Error as error:
            self.outcome = Outcome(self.elapsed(), str(error).strip().splitlines()[0], error.pgcode or "")
        except Exception as error:  # whatever it is, it belongs into the table, not into a thread's traceback
            self.outcome = Outcome(self.elapsed(), str(error) or type(error).__name__)


def legacy(cluster, mode, statement_timeout, port=None):
    """The action of a stage: a legacy transition, straight to the server or through the sidecar's port."""
    def action():
        legacy_transition(cluster.address(APPLICATION, port), mode, statement_timeout)
        require_mode(cluster, mode)

    return action


def operated(cluster, sidecar, mode):
    """The action of a stage: gatectl flip."""
    def action():
        details = sidecar.flip(mode)
        require_mode(cluster, mode)
        return details

    return action


def measured_by_sidecar(details):
    """The seconds that a transition took by the sidecar's own clock, without the start of gatectl."""
    total = (details.get("timings") or {}).get("total")
    return total / 1000 if isinstance(total, (int, float)) else None


def require_mode(cluster, mode):
    """Asks the server itself, so that a transition that did nothing is not taken for a success."""
    connection = cluster.connect(APPLICATION)
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT mode FROM kudos_ledger_control WHERE id = 1")
            found = cursor.fetchone()[0]
    finally:
        connection.close()
    if found != mode:
        raise Problem(f"the mode is {found} afterwards, not {mode}")
