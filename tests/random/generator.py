"""Random sessions from a seed: what clients do, sensible for the most part, in every shape of protocol.

The generator guesses how the server will answer (a transaction is open, has failed, a savepoint exists), only
to keep sessions from spending their lives in failed transactions; nothing is checked against the guess.
"""

import random
import statements as words
from script import Session, message

NAMES = ("s1", "s2")
# Texts with one of these fail when they run.
BAD = (
    "999",
    "1 / 0",
    "nocolumn",
    "SELEC",
    "''",
    "(i - 5)",
    "FETCH",
    "MOVE",
    "CLOSE c",
    "CALL",
    "COMMIT; PERFORM",
)


def session(seed, writes=(12, 30), flips=False):
    """The session of `seed`. `flips`: may it change the mode, and give back locks that it has not taken?"""
    return Generator(seed, flips).session(writes)


class Generator:
    def __init__(self, seed, flips=False):
        self.seed = seed
        self.random = random.Random(seed)
        self.flips = flips
        self.state = "I"
        self.raised = False  # is the session's default level above READ COMMITTED?
        self.prepared = False
        self.length = 0  # statements since the transaction began
        self.savepoints = []
        self.names = set()

    def session(self, sizes):
        chance = self.random
        writes = []
        for _ in range(chance.randint(*sizes)):
            write = []
            for _ in range(chance.choice((1, 1, 1, 1, 1, 2, 3))):
                write += self.step()
            writes.append(tuple(write))
        return Session(
            tuple(writes),
            user=chance.choice(("app", "app", "loader")),
            pieces=chance.choice((0, 0, 0, 0, 0, 7)),
            label=f"seed {self.seed}",
        )

    def pick(self, *weighted):
        """One of (weight, value) pairs; a value that can be called is called."""
        values = [value for _, value in weighted]
        (chosen,) = self.random.choices(values, [weight for weight, _ in weighted])
        return chosen() if callable(chosen) else chosen

    def one_of(self, texts):
        return self.random.choice(texts)

    # Texts

    def touching(self):
        return self.pick(
            (4, lambda: self.one_of(words.READS)),
            (5, lambda: self.one_of(words.WRITES)),
            (3, lambda: self.one_of(words.HIDDEN)),
        )

    def named(self):
        name = self.known_name() if self.random.random() < 0.8 else self.one_of(NAMES)
        if name not in self.names:
            self.names.add(name)
            return f"PREPARE {name} AS {self.pick((3, self.touching), (1, 'SELECT 1'))}"
        if self.random.random() < 0.2:
            self.names.discard(name)
            return f"DEALLOCATE {name}"
        return f"EXECUTE {name}"

    def known_name(self):
        """A name that is thought to exist, or one that is thought to be free when none does."""
        return self.one_of(sorted(self.names) or NAMES)

    def savepoint(self):
        if not self.savepoints and self.random.random() < 0.9:
            return self.one_of(words.SAVEPOINTS[:4])
        return self.one_of(words.SAVEPOINTS)

    def statement(self):
        """One statement, and what it is guessed to do."""
        if self.prepared and self.random.random() < 0.5:
            self.prepared = False
            return self.one_of(words.TWO_PHASE[1:])
        if self.raised and self.random.random() < 0.2:
            self.raised = False
            return self.one_of(words.LEVELS_BACK)
        text = {"I": self.idle_statement, "T": self.open_statement, "E": self.failed_statement}[self.state]()
        self.guess(text)
        return text

    def idle_statement(self):
        return self.pick(
            (40, lambda: self.one_of(words.BEGINNINGS)),
            (24, self.touching),
            (8, lambda: self.one_of(words.UTILITIES)),
            (2, self.transition),
            (10, lambda: self.one_of(words.PLAIN)),
            (6, self.named),
            (2, lambda: self.one_of(words.LEVELS)),
            (4, lambda: self.one_of(words.SESSION_THINGS)),
            (4, lambda: self.one_of(words.ENDINGS + words.SAVEPOINTS + words.TWO_PHASE)),
        )

    def open_statement(self):
        self.length += 1
        if self.length > 9:  # by now the guess may well be wrong
            return self.one_of(words.ENDINGS)
        return self.pick(
            (32, self.touching),
            (18, self.savepoint),
            (16, lambda: self.one_of(words.ENDINGS)),
            (6, lambda: self.one_of(words.UTILITIES)),
            (1, self.transition),
            (10, lambda: self.one_of(words.PLAIN)),
            (6, self.named),
            (3, lambda: self.one_of(words.SET_TRANSACTION)),
            (3, lambda: self.one_of(words.SESSION_THINGS)),
            (1, lambda: self.one_of(words.LEVELS)),
            (2, words.TWO_PHASE[0]),
            (1, lambda: self.one_of(words.BEGINNINGS)),
        )

    def failed_statement(self):
        return self.pick(
            (40 if self.savepoints else 1, lambda: f"ROLLBACK TO {self.one_of(self.savepoints or 'ab')}"),
            (30, lambda: self.one_of(words.ENDINGS)),
            (2, lambda: self.one_of(words.SAVEPOINTS)),
            (8, self.touching),
            (3, lambda: self.one_of(words.PLAIN)),
            (1, lambda: self.one_of(words.UTILITIES)),
        )

    def transition(self):
        texts = words.IN_BAND_TRANSITIONS
        return self.one_of((*texts, *words.FLIPS, words.UNOWNED_UNLOCK) if self.flips else texts)

    def guess(self, text):
        """What the state is thought to be behind `text`."""
        before, last = self.state, text.split(" ")[-1]
        if text in words.BEGINNINGS:
            self.state = "T" if before == "I" else before
        elif text in words.ENDINGS:
            self.state = "T" if text.endswith("CHAIN") and before != "I" else "I"
        elif text.startswith("ROLLBACK TO") and last in self.savepoints:
            self.savepoints = self.savepoints[: self.savepoints.index(last) + 1]
            self.state = "T"
        elif text.startswith("SAVEPOINT") and before == "T":
            self.savepoints.append(last)
        elif text.startswith("RELEASE") and last in self.savepoints and before == "T":
            self.savepoints = self.savepoints[: self.savepoints.index(last)]
        elif text in words.SAVEPOINTS or text in words.SET_TRANSACTION or text in words.TWO_PHASE[1:]:
            self.state = "E" if before == "T" else before
        elif text == words.TWO_PHASE[0]:
            self.prepared = self.prepared or before == "T"
            self.state = "I"
        elif before == "T" and any(bad in text for bad in BAD):
            self.state = "E"
        if text in words.LEVELS:
            self.raised = True
        if self.state == "I":
            self.savepoints, self.length = [], 0

    def text(self):
        """What one message carries: mostly one statement, sometimes several."""
        if self.state == "E" and self.random.random() < 0.15:
            self.state = "I"
            self.savepoints = []
            return "ROLLBACK; " + self.touching()
        count = self.random.choices((1, 2, 3), (84, 11, 5))[0]
        statements = [self.statement() for _ in range(count)]
        return "; ".join(statements)

    # Messages

    def step(self):
        return self.pick(
            (50, lambda: [message("Query", self.text())]),
            (36, self.batch),
            (6, self.pipeline),
            (4, self.copy_in),
            (2, self.function_call),
            (1, lambda: [message("Query", self.text()), message("Flush")]),
        )

    def pipeline(self):
        """Several batches or simple queries, each with its own end, none waiting for the one before."""
        steps = []
        for _ in range(self.random.randint(2, 5)):
            steps += self.pick((2, self.run), (1, lambda: [message("Query", self.text())]))
            if steps[-1].verb != "Query":
                steps.append(message("Sync"))
        return steps

    def function_call(self):
        name, arguments = self.one_of(words.CALLED)
        return [message("FunctionCall", name, *arguments)]

    def batch(self):
        steps = []
        for _ in range(self.random.choice((1, 1, 1, 2, 2, 3, 4))):
            steps += self.pick(
                (60, self.run),
                (8, self.bind_again),
                (4, self.execute_again),
                (3, self.close),
                (3, lambda: [message("Close", "P", self.portal())]),
                (3, lambda: [message("Flush")]),
                (3, lambda: [message("Sync")]),
                (3, self.copy_in_batch),
                (2, lambda: [message("Query", self.text())]),
                (1, self.function_call),
                (4, lambda: [message("Parse", *self.parsed())]),
            )
        ended = self.pick((93, "Sync"), (4, "Flush"), (3, ""))
        return steps + [message(ended)] if ended else steps

    def execute_again(self):
        """Only of a named portal: PostgreSQL 15 crashes when an unnamed one is left of a failed simple query."""
        return [message("Execute", self.one_of(("p1", "p2")), self.random.choice((0, 1)))]

    def close(self):
        name = self.one_of(("", self.known_name()))
        self.names.discard(name)
        return [message("Close", "S", name)]

    def portal(self):
        return self.one_of(("", "", "", "p1", "p2"))

    def parsed(self):
        text = self.text() if self.random.random() < 0.06 else self.statement()
        # An SQL-level EXECUTE of the very name that its own statement has would run into itself.
        free = [name for name in NAMES if name not in self.names]
        name = self.pick((6, ""), (3, free[0] if free else ""), (1, self.one_of(NAMES)))
        if "EXECUTE" in text:
            name = ""
        if name:
            self.names.add(name)
        return name, text

    def run(self):
        """Parse to Execute of one statement, with or without Describe and in one go or in portions."""
        values = ()
        if self.random.random() < 0.15:
            text, choices = self.one_of(words.PARAMETRISED)
            name, values = self.parsed()[0], (self.one_of(choices),)
        else:
            name, text = self.parsed()
        portal = self.portal()
        steps = [message("Parse", name, text)]
        if self.random.random() < 0.2:
            steps.append(message("Describe", "S", name))
        steps.append(message("Bind", portal, name, *values))
        if self.random.random() < 0.5:
            steps.append(message("Describe", "P", portal))
        rows = self.random.choice((0, 0, 0, 2))
        steps.append(message("Execute", portal, rows))
        if rows and self.random.random() < 0.6:
            steps.append(message("Execute", portal, 0))
        return steps

    def bind_again(self):
        portal = self.portal()
        return [
            message("Bind", portal, self.one_of(("", self.known_name()))),
            message("Execute", portal, self.random.choice((0, 3))),
        ]

    def copy_lines(self):
        steps = [message("CopyData", self.one_of(words.COPY_LINES)) for _ in range(self.random.randint(0, 2))]
        return steps + [self.pick((3, message("CopyDone")), (1, message("CopyFail", "given up")))]

    def copy_in(self):
        text = self.one_of(words.COPIES)
        if self.random.random() < 0.3:
            text += "; " + self.statement()
        if self.random.random() < 0.2:
            text = self.statement() + "; " + text
        steps = [message("Query", text), *self.copy_lines()]
        if self.random.random() < 0.15:
            steps.insert(self.random.randint(1, len(steps) - 1), message("Sync"))
        if self.random.random() < 0.1:
            steps.append(message("CopyData", "7,0"))
        return steps

    def copy_in_batch(self):
        steps = [
            message("Parse", "", self.one_of(words.COPIES)),
            message("Bind", "", ""),
            message("Execute", ""),
        ]
        if self.random.random() < 0.4:
            steps.append(message("Sync"))
        return steps + self.copy_lines()
