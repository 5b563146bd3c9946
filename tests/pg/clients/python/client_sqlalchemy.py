"""SQLAlchemy Core over psycopg2: its own transactions, its own error classes."""

import sys

import sqlalchemy
from sqlalchemy import text
from steps import read_steps, show_diagnostics, show_rows, show_step, with_placeholders


def main():
    engine = sqlalchemy.create_engine("postgresql+psycopg2://", future=True)
    autocommit = engine.execution_options(isolation_level="AUTOCOMMIT")
    connection = autocommit.connect()
    for operation, sql, parameters in read_steps(sys.argv[1]):
        show_step(operation, sql)
        try:
            if operation == "begin":
                connection.close()
                connection = engine.connect()
                connection.begin()
            elif operation == "query":
                run_query(connection, sql, parameters)
            else:
                getattr(connection, operation)()
                connection.close()
                connection = autocommit.connect()
        except sqlalchemy.exc.DBAPIError as error:
            print("  exception", type(error).__name__)
            show_diagnostics(error.orig.diag)
    connection.close()
    engine.dispose()


def run_query(connection, sql, parameters):
    # A colon would be a parameter of SQLAlchemy's own, hence the escaped casts.
    sql, ordered = with_placeholders(sql.replace("::", r"\:\:"), parameters, lambda number: f":p{number}")
    result = connection.execute(text(sql), {f"p{n}": value for n, value in enumerate(ordered, 1)})
    print("  done", result.rowcount)
    if result.returns_rows:
        show_rows(list(result.keys()), result.fetchall())


main()
