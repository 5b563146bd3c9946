"""What the user sees: lines that stay, one live line that says what happens now, and tables.

On a terminal the live line is rewritten in place and cut to the width. In a pipe it is printed as a
line of its own every now and then, so that progress is visible there too. Everything is ASCII and
reads well at 80 columns.
"""

import os
import shutil
import sys
import textwrap
import time

PIPE_INTERVAL = 1.0  # seconds between two live lines in a pipe
PIPE_STEP_INTERVAL = 5.0  # the same while preparing, where a build may take minutes
WIDEST = 100  # columns of a paragraph, however wide the terminal is
STEP_WIDTH = 11  # the column of the names of the preparation steps
COLOURS = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}


class Screen:
    def __init__(self, stream=sys.stdout):
        self.stream = stream
        self.on_terminal = stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.in_colour = self.on_terminal and "NO_COLOR" not in os.environ
        self.live_shown = False
        self.last_live = 0.0

    @property
    def width(self):
        return shutil.get_terminal_size((80, 24)).columns if self.on_terminal else WIDEST

    def paint(self, colour, text):
        return f"\x1b[{COLOURS[colour]}m{text}\x1b[0m" if self.in_colour else text

    def wrap(self, text, indent):
        return textwrap.wrap(text, min(self.width, WIDEST) - indent, break_on_hyphens=False,
                             break_long_words=False)

    def line(self, text=""):
        """A line that stays."""
        self.clear_live()
        self.stream.write(text + "\n")
        self.stream.flush()

    def heading(self, text):
        self.line()
        self.line(self.paint("bold", text))

    def prose(self, text):
        """A paragraph that stays, wrapped to the width."""
        for row in self.wrap(" ".join(text.split()), 2):
            self.line("  " + row)

    def verdict(self, good, text):
        """The outcome of something, wrapped under its mark."""
        mark = self.paint("green", "ok") if good else self.paint("red", "!!")
        rows = self.wrap(text, 6)
        self.line(f"  {mark}  {rows[0]}")
        for row in rows[1:]:
            self.line("      " + row)

    def step_done(self, name, detail):
        self.verdict(True, f"{name:<{STEP_WIDTH}} {detail}".rstrip())

    def step_live(self, name, detail):
        self.live(f"..  {name:<{STEP_WIDTH}} {detail}", PIPE_STEP_INTERVAL)

    def live(self, text, pipe_interval=PIPE_INTERVAL):
        """What happens now. Call it as often as you like."""
        now = time.monotonic()
        if self.on_terminal:
            self.stream.write("\r\x1b[K  " + text[: max(self.width - 3, 10)])
            self.stream.flush()
            self.live_shown = True
        elif now - self.last_live >= pipe_interval:
            self.stream.write("  " + text + "\n")
            self.stream.flush()
            self.last_live = now

    def clear_live(self):
        if self.live_shown:
            self.stream.write("\r\x1b[K")
            self.live_shown = False

    def table(self, header, rows, right=()):
        """`right` names the columns, by number, that are aligned to the right."""
        cells = [header, *rows]
        widths = [max(len(row[column]) for row in cells) for column in range(len(header))]

        def shown(row):
            aligned = (cell.rjust(width) if column in right else cell.ljust(width)
                       for column, (cell, width) in enumerate(zip(row, widths)))
            return "  " + "  ".join(aligned).rstrip()

        self.line(self.paint("bold", shown(header)))
        self.line("  " + "  ".join("-" * width for width in widths))
        for row in rows:
            self.line(shown(row))


def duration(seconds):
    """A duration as a reader wants it: 0.8 ms, 43 ms, 4.0 s, 2 min 5 s."""
    if seconds < 0.001:
        return f"{seconds * 1000:.1f} ms"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"
