"""asyncpg: extended protocol, binary results, statements cached by name."""

import asyncio
import decimal
import sys

import asyncpg
from steps import read_steps, show_rows, show_step

ERROR_FIELDS = ["severity", "sqlstate", "message", "detail", "hint", "position", "context", "constraint_name"]


async def main():
    connection = await asyncpg.connect()
    connection.add_log_listener(lambda _, notice: print("  notice", notice.severity, notice.message))
    transaction = None
    for operation, sql, parameters in read_steps(sys.argv[1]):
        show_step(operation, sql)
        try:
            if operation == "begin":
                transaction = connection.transaction()
                await transaction.start()
            elif operation == "query":
                await run_query(connection, sql, parameters)
            else:
                await getattr(transaction, operation)()
        except asyncpg.PostgresError as error:
            print(
                "  error", {name: getattr(error, name) for name in ERROR_FIELDS if getattr(error, name, None)}
            )
        print("  in transaction", connection.is_in_transaction())
    await connection.close()


async def run_query(connection, sql, parameters):
    statement = await connection.prepare(sql)
    typed = [
        value if value is None or kind.name != "numeric" else decimal.Decimal(value)
        for value, kind in zip(parameters, statement.get_parameters())
    ]
    rows = await statement.fetch(*typed)
    print("  done", statement.get_statusmsg())
    show_rows([(a.name, a.type.name) for a in statement.get_attributes()], rows_of(rows))
    # The same through the connection's own cache of statements, which is how applications do it.
    if sql.startswith("SELECT"):
        show_rows("again", rows_of(await connection.fetch(sql, *typed)))


def rows_of(records):
    return [tuple(record.values()) for record in records]


asyncio.run(main())
