"""psycopg2: everything is a simple query with literal values."""

import sys

import psycopg2
import psycopg2.extensions
from steps import read_steps, show_diagnostics, show_rows, show_step, with_placeholders


def main():
    connection = psycopg2.connect("")
    connection.autocommit = True
    for operation, sql, parameters in read_steps(sys.argv[1]):
        show_step(operation, sql)
        try:
            if operation == "begin":
                connection.autocommit = False
            elif operation in ("commit", "rollback"):
                getattr(connection, operation)()
                connection.autocommit = True
            else:
                run_query(connection, sql, parameters)
        except psycopg2.Error as error:
            show_diagnostics(error.diag)
        for notice in connection.notices:
            print("  notice", notice.strip())
        connection.notices.clear()
        print("  status", connection.info.transaction_status)
    connection.close()


def run_query(connection, sql, parameters):
    sql, ordered = with_placeholders(sql, parameters, lambda _: "%s")
    with connection.cursor() as cursor:
        cursor.execute(sql, ordered or None)
        print("  done", cursor.rowcount, cursor.statusmessage)
        if cursor.description:
            show_rows([(c.name, c.type_code) for c in cursor.description], cursor.fetchall())


main()
