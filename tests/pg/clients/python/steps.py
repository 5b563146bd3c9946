"""The scenario's steps, and how results are printed: every client prints everything that it was told."""

import re


def read_steps(path):
    """[(operation, SQL, [parameters])]; parameters are int, str or None."""
    steps = []
    with open(path) as file:
        for line in file:
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            operation, *rest = line.split(" | ")
            steps.append((operation, rest[0] if rest else "", [value(word) for word in rest[1:]]))
    return steps


def value(word):
    kind, _, text = word.partition(":")
    return {"i": lambda: int(text), "t": lambda: text, "n": lambda: None}[kind]()


def with_placeholders(sql, parameters, placeholder):
    """Replaces `$1` by `placeholder(1)`, in the order of appearance; returns SQL and ordered parameters."""
    ordered = []

    def replace(match):
        number = int(match.group(1))
        ordered.append(parameters[number - 1])
        return placeholder(len(ordered))

    return re.sub(r"\$(\d+)", replace, sql), ordered


def show_step(operation, sql):
    print(f"> {operation} {sql}")


def show_rows(columns, rows):
    print("  columns", columns)
    for row in rows:
        print("  row", [None if field is None else str(field) for field in row])


def show_diagnostics(diag):
    """The fields of a psycopg error: everything but what names a file or a line of the server."""
    names = [
        "severity",
        "sqlstate",
        "message_primary",
        "message_detail",
        "message_hint",
        "statement_position",
        "internal_query",
        "context",
        "schema_name",
        "table_name",
        "column_name",
        "constraint_name",
    ]
    print("  error", {name: getattr(diag, name) for name in names if getattr(diag, name)})
