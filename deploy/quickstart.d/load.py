"""The load: legacy writers and a projector, one process each, and what they have counted.

Two of the writers are couriers: one keeps its pin until the other has been granted the next, so that
pins are handed over without a gap. That makes the starvation of a row-lock transition certain rather
than likely. A courier's patience is bounded, as any real transaction's is: when a transition is let in
between the two, the holder goes on and commits.
"""

import dataclasses
import decimal
import multiprocessing
import os
import random
import signal
import time
import uuid

import psycopg2

import horde

COURIERS = 2
COURIER_PATIENCE = 0.1  # seconds
THINKING = (0.002, 0.012)  # seconds that a writer works while it holds its pin
PROJECTOR_PAUSE = 0.2  # seconds between two cycles that found nothing
SHOWN_ERRORS = 3  # per process
FIELDS = ("transactions", "pins", "postings", "errors", "longest_wait_us")


@dataclasses.dataclass
class Job:
    payer: int
    payee: int
    amount: decimal.Decimal
    escrow: bool
    event: str


@dataclasses.dataclass
class Tally:
    """Sums over all processes; the longest wait is the maximum, in seconds."""
    transactions: int = 0
    pins: int = 0
    postings: int = 0
    errors: int = 0
    longest_wait: float = 0.0


class Board:
    """Shared counters: a row per stage of the demonstration and process, written by that process alone."""

    def __init__(self, stages, processes):
        self.processes = processes
        self.stage = multiprocessing.RawValue("i", 0)
        self.stopping = multiprocessing.RawValue("b", 0)
        self.pinned = multiprocessing.Value("Q", 0)  # serial number of the couriers' latest pin
        self.cells = multiprocessing.RawArray("Q", stages * processes * len(FIELDS))
        self.complaints = multiprocessing.SimpleQueue()

    def base(self, process, stage=None):
        stage = self.stage.value if stage is None else stage
        return (stage * self.processes + process) * len(FIELDS)

    def add(self, process, field, amount=1):
        self.cells[self.base(process) + FIELDS.index(field)] += amount

    def waited(self, process, seconds):
        cell = self.base(process) + FIELDS.index("longest_wait_us")
        self.cells[cell] = max(self.cells[cell], int(seconds * 1e6))

    def tally(self, stage):
        begins = [self.base(process, stage) for process in range(self.processes)]
        rows = [self.cells[begin:begin + len(FIELDS)] for begin in begins]
        *sums, waits = zip(*rows)
        return Tally(*(sum(column) for column in sums), longest_wait=max(waits) / 1e6)

    def busy(self, process, stage):
        return self.cells[self.base(process, stage)] > 0


class Client:
    """One connection of a process, with every statement's duration and every pin on the board."""

    def __init__(self, board, number, address):
        self.board = board
        self.number = number
        self.connection = psycopg2.connect(**address, options="-c search_path=public")
        self.cursor = self.connection.cursor()
        self.run("SET SESSION lock_timeout = '10s'")
        self.run("SET SESSION statement_timeout = '20s'")
        self.connection.commit()

    def run(self, text, values=None):
        begun = time.monotonic()
        self.cursor.execute(text, values)
        self.board.waited(self.number, time.monotonic() - begun)
        if text is horde.LEGACY_PIN:
            self.board.add(self.number, "pins")

    def rows(self, text, values=None):
        self.run(text, values)
        return self.cursor.fetchall()

    def row(self, text, values=None):
        return self.rows(text, values)[0]

    def commit(self):
        begun = time.monotonic()
        self.connection.commit()
        self.board.waited(self.number, time.monotonic() - begun)

    def think(self):
        time.sleep(random.uniform(*THINKING))

    def users(self, count):
        """The users that this client's transactions are about."""
        return range(2 * COURIERS + 1, count + 1)


class Courier(Client):
    """Works for as long as it takes the other courier to be granted the next pin.

    It has two users of its own, so that it never waits for a payer's lock of the other courier.
    """

    def users(self, count):
        return range(2 * self.number + 1, 2 * self.number + 3)

    def think(self):
        with self.board.pinned.get_lock():
            self.board.pinned.value += 1
            mine = self.board.pinned.value
        deadline = time.monotonic() + COURIER_PATIENCE
        while self.board.pinned.value == mine and time.monotonic() < deadline:
            time.sleep(0.0005)


def write(client, users):
    """One transaction of a writer, but for its commit; returns the number of its postings."""
    payer, payee = random.sample(client.users(users), 2)
    amount = decimal.Decimal(random.randrange(1, 5000)) / 100
    job = Job(payer, payee, amount, random.random() < 0.25, str(uuid.uuid4()))
    random.choice((horde.settle, horde.transfer))(client, job)
    return 2


def writer_process(board, number, address, users):
    def step(client):
        postings = write(client, users)
        client.commit()
        board.add(number, "postings", postings)
        board.add(number, "transactions")

    run_process(board, number, address, Courier if number < COURIERS else Client, step)


def projector_process(board, number, address, _users):
    def step(client):
        if horde.project(client):
            client.commit()
            board.add(number, "transactions")
        else:
            client.connection.rollback()
            time.sleep(PROJECTOR_PAUSE)

    run_process(board, number, address, Client, step)


def run_process(board, number, address, client_type, step):
    """Repeats `step` on one connection until the load is stopped. Errors are counted, never hidden."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches us too, but the parent ends us in order
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    random.seed(number)
    parent = os.getppid()
    client, complaints = None, 0
    while not board.stopping.value and os.getppid() == parent:
        try:
            client = client or client_type(board, number, address)
            step(client)
        except psycopg2.Error as error:
            board.add(number, "errors")
            complaints += 1
            if complaints <= SHOWN_ERRORS:
                first_line = (str(error).strip() or type(error).__name__).splitlines()[0]
                board.complaints.put(f"{error.pgcode or 'connection'}: {first_line}")
            client = recovered(client)
    if client is not None:
        client.connection.close()


def recovered(client):
    """The client after an error: rolled back, or None when it needs a new connection."""
    try:
        client.connection.rollback()
        return client
    except (psycopg2.Error, AttributeError):
        time.sleep(0.2)
        return None


class Load:
    """The processes as a whole. Start it, move it from stage to stage, stop it."""

    def __init__(self, board, writers, users):
        self.board = board
        self.writers = writers
        self.users = users
        self.processes = []

    def start(self, address):
        self.board.stopping.value = 0
        for number in range(self.writers + 1):
            target, name = ((writer_process, f"writer-{number}") if number < self.writers
                            else (projector_process, "projector"))
            arguments = (self.board, number, {**address, "application_name": name}, self.users)
            self.processes.append(multiprocessing.Process(target=target, args=arguments, daemon=True))
            self.processes[-1].start()

    def enter(self, stage):
        self.board.stage.value = stage

    def running(self, stage):
        """True once every writer has committed something in this stage."""
        return all(self.board.busy(number, stage) for number in range(self.writers))

    def complaints(self):
        """What went wrong since the last call."""
        found = []
        while not self.board.complaints.empty():
            found.append(self.board.complaints.get())
        return found

    def stop(self):
        """Each process ends after its current transaction; one that does not is ended."""
        self.board.stopping.value = 1
        deadline = time.monotonic() + 15
        for process in self.processes:
            process.join(max(0.0, deadline - time.monotonic()))
        self.kill()

    def kill(self):
        for process in self.processes:
            if process.is_alive():
                process.kill()
            process.join()
        self.processes = []
