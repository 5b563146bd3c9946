"""Tables for people (text, Markdown) and the progress of the run."""

import dataclasses
import sys
import time


@dataclasses.dataclass
class Table:
    """The first column is text, the others are numbers. Notes stand below the table, one to a line."""

    title: str
    headers: list
    notes: list = dataclasses.field(default_factory=list)
    rows: list = dataclasses.field(default_factory=list)

    def text(self):
        lines = [self.headers, *self.rows]
        widths = [max(len(str(value)) for value in column) for column in zip(*lines, strict=True)]
        shown = []
        for line in lines:
            first, *others = (str(value) for value in line)
            cells = [other.rjust(width) for other, width in zip(others, widths[1:], strict=True)]
            shown.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
        return "\n".join([self.title, "-" * len(self.title), *shown, *self.notes]) + "\n"

    def markdown(self):
        rule = ["---"] + ["---:"] * (len(self.headers) - 1)
        lines = [_markdown_row(line) for line in (self.headers, rule, *self.rows)]
        return "\n".join([f"### {self.title}", "", *lines, "", *self.notes]).rstrip() + "\n"


def _markdown_row(values):
    return "| " + " | ".join(str(value) for value in values) + " |"


class Progress:
    """Says on standard error what goes on: a passing status line on a terminal, lasting lines everywhere."""

    def __init__(self):
        self._start = time.monotonic()
        self._is_terminal = sys.stderr.isatty()

    def section(self, title):
        self.line(f"== {title}")

    def line(self, text):
        self._write(text + "\n")

    def step(self, text):
        if self._is_terminal:
            self._write(text[:90])

    def _write(self, text):
        elapsed = int(time.monotonic() - self._start)
        clear_line = "\r\033[K" if self._is_terminal else ""
        sys.stderr.write(f"{clear_line}[{elapsed // 60:2d}:{elapsed % 60:02d}] {text}")
        sys.stderr.flush()
