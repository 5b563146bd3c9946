"""Sessions as text: what a client sends, in which writes, and what a transition does in between.

One line is one step. Message words are those of the conversation scripts (`tests/conversations`), so that a
minimal case can be carried over to one:

  user app                        who connects (default `app`)
  pieces 7                        every write is cut into pieces of so many bytes (default: whole)
  C>P Query "BEGIN"               the client sends
  wait                            the write ends here, and what can be answered is answered before the next
  transition begins|commits|rolls back     another session takes the gate exclusively and changes the mode; ends
  cancel                          a cancel request for the session, sent beside the next write

`Bind "PORTAL" "STATEMENT" "VALUE" ..` passes text values, `CopyData` adds the end of its line, and
`FunctionCall NAME "ARGUMENT" ..` calls a function by the OID it has on the server, with text arguments.
"""

import dataclasses

from support import wire

TRANSITION_STEPS = ("transition begins", "transition commits", "transition rolls back")


@dataclasses.dataclass(frozen=True)
class Step:
    """One message of the client, or one of the words above (`verb` then has no arguments)."""

    verb: str
    arguments: tuple = ()

    @property
    def is_message(self):
        return self.verb in BUILDERS

    def __str__(self):
        if not self.is_message:
            return self.verb
        return " ".join(["C>P", self.verb, *map(_quoted, self.arguments)])

    def data(self, functions):
        """The bytes; `functions` are the OIDs by name that FunctionCall needs."""
        if self.verb == "FunctionCall":
            name, *arguments = self.arguments
            oid = functions.get(name) or int(name)
            return wire.function_call(oid, [a.encode() for a in arguments], (0,), 0)
        return BUILDERS[self.verb](*self.arguments)

    @property
    def makes_ready(self):
        """Is a ReadyForQuery the usual end of the answer?"""
        return self.verb in ("Query", "Sync", "FunctionCall")


def _bind(portal, statement, *values):
    return wire.bind(portal, statement, values)


def _describe(kind, name):
    return wire.describe_statement(name) if kind == "S" else wire.describe_portal(name)


def _close(kind, name):
    return wire.close_statement(name) if kind == "S" else wire.close_portal(name)


BUILDERS = {
    "Query": wire.query,
    "Parse": lambda name, text: wire.parse(text, name),
    "Bind": _bind,
    "Describe": _describe,
    "Execute": lambda portal, rows="0": wire.execute(portal, int(rows)),
    "Close": _close,
    "Sync": wire.sync,
    "Flush": wire.flush,
    "CopyData": lambda line: wire.copy_data(line.encode() + b"\n"),
    "CopyDone": wire.copy_done,
    "CopyFail": wire.copy_fail,
    "Terminate": wire.terminate,
    "FunctionCall": None,
}


def _quoted(word):
    if word.isalnum():
        return word
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


def message(verb, *arguments):
    return Step(verb, tuple(map(str, arguments)))


@dataclasses.dataclass(frozen=True)
class Session:
    """A client's whole life: writes, each a tuple of steps."""

    writes: tuple
    user: str = "app"
    pieces: int = 0
    label: str = ""

    def steps(self):
        return [step for write in self.writes for step in write]

    def with_writes(self, writes):
        return dataclasses.replace(self, writes=tuple(tuple(write) for write in writes if write))

    def __str__(self):
        lines = [f"# {self.label}"] if self.label else []
        lines.append(f"user {self.user}")
        if self.pieces:
            lines.append(f"pieces {self.pieces}")
        for write in self.writes:
            lines += [*map(str, write), "wait"]
        return "\n".join(lines) + "\n"


def read(text, label=""):
    """The session that `text` describes; ValueError names the line that cannot be read."""
    user, pieces, writes, write = "app", 0, [], []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        words = split(line)
        if words[0] == "C>P" and words[1] in BUILDERS:
            write.append(Step(words[1], tuple(words[2:])))
        elif line == "wait":
            writes.append(write)
            write = []
        elif line in TRANSITION_STEPS or line == "cancel":
            write.append(Step(line))
        elif words[0] == "user":
            user = words[1]
        elif words[0] == "pieces":
            pieces = int(words[1])
        else:
            raise ValueError(f"line {number}: {line}")
    return Session(tuple(tuple(w) for w in [*writes, write] if w), user, pieces, label)


def split(line):
    """Words between spaces; a word in quotes may have spaces, and a backslash takes the next one as it is."""
    words, word, quoted, started = [], "", False, False
    characters = iter(line)
    for character in characters:
        if quoted and character == "\\":
            word += next(characters)
        elif character == '"':
            quoted, started = not quoted, True
        elif character == " " and not quoted:
            if started:
                words.append(word)
            word, started = "", False
        else:
            word, started = word + character, True
    return words + [word] if started else words
