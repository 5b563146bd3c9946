"""psycopg 3. Modes: default (extended, prepared after five times), prepared (at once), simple (client-side
binding), pipeline (each run of queries between other operations is one pipeline)."""

import itertools
import sys

import psycopg
from steps import read_steps, show_diagnostics, show_rows, show_step, with_placeholders


def main():
    path, mode = sys.argv[1:3]
    connection = psycopg.connect("", autocommit=True, prepare_threshold=0 if mode == "prepared" else 5)
    if mode == "simple":
        connection.cursor_factory = psycopg.ClientCursor
    connection.add_notice_handler(lambda diag: print("  notice", diag.severity, diag.message_primary))
    steps = read_steps(path)
    for is_query, group in itertools.groupby(steps, key=lambda step: step[0] == "query"):
        if is_query and mode == "pipeline":
            run_pipeline(connection, list(group))
            continue
        for operation, sql, parameters in group:
            show_step(operation, sql)
            attempt(lambda: run_step(connection, operation, sql, parameters))
            print("  status", connection.info.transaction_status.name)
    connection.close()


def attempt(action):
    try:
        action()
    except psycopg.errors.PipelineAborted:
        # Which later call hears that its statement was skipped is a matter of time.
        pass
    except psycopg.Error as error:
        show_diagnostics(error.diag)
        if not error.diag.sqlstate:
            print("  exception", type(error).__name__, error)


def run_step(connection, operation, sql, parameters):
    if operation == "begin":
        connection.autocommit = False
    elif operation in ("commit", "rollback"):
        getattr(connection, operation)()
        connection.autocommit = True
    else:
        show_cursor(execute(connection, sql, parameters))


def execute(connection, sql, parameters):
    sql, ordered = with_placeholders(sql, parameters, lambda _: "%s")
    return connection.cursor().execute(sql, ordered or None)


def show_cursor(cursor):
    if cursor.description:
        show_rows([(c.name, c.type_code) for c in cursor.description], cursor.fetchall())
    print("  done", cursor.rowcount, cursor.statusmessage)


def run_pipeline(connection, steps):
    """The queries of a run go out three at a time, before the answer to the first is read; then a Sync. An error
    may be raised by any later call, whichever finds the answer there; what was sent is the same."""
    print("> pipeline of", len(steps))
    with connection.pipeline() as pipeline:
        for start in range(0, len(steps), 3):
            cursors = []
            for _, sql, parameters in steps[start : start + 3]:
                sql, ordered = with_placeholders(sql, parameters, lambda _: "%s")
                cursors.append((sql, connection.cursor()))
                attempt(lambda: cursors[-1][1].execute(sql, ordered or None))
            # The first one may raise the error before everything is read, the second one has nothing to send.
            attempt(pipeline.sync)
            attempt(pipeline.sync)
            for sql, cursor in cursors:
                show_step("result", sql)
                attempt(lambda: show_cursor(cursor))
            print("  status", connection.info.transaction_status.name)


main()
