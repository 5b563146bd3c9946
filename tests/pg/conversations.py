"""Wire-level conversations, written once for any table: what is sent in one write, and what is awaited.

A conversation is a list of (bytes, kinds, count): the bytes go out in one write, then messages are read up to
the `count`-th of one of `kinds`; count 0 reads nothing, so that the next write follows without waiting.
"""

import dataclasses

from support import wire


@dataclasses.dataclass(frozen=True)
class Words:
    """The SQL that a conversation speaks: the same shapes, touching or not."""

    select: str  # rows with one int4 column
    select_by: str  # the same with $1::int4
    insert: str  # $1::int4, inserts one row, returns one int4 column
    insert_plain: str  # the same without RETURNING
    bad_insert: str  # fails with a constraint violation when it runs
    bad_division: str  # fails after having returned some rows
    bad_column: str  # fails when parsed, with a position
    copy_in: str
    copy_out: str
    copy_line: bytes
    copy_bad_line: bytes


TOUCHING = Words(
    select="SELECT user_id FROM kudos_ledger WHERE event_id <= 5 ORDER BY event_id",
    select_by="SELECT user_id FROM kudos_ledger WHERE event_id = $1",
    insert="INSERT INTO kudos_ledger (user_id, amount) VALUES ($1, 1) RETURNING user_id",
    insert_plain="INSERT INTO kudos_ledger (user_id, amount) VALUES (3, 1)",
    bad_insert="INSERT INTO kudos_ledger (user_id, amount) VALUES (9999, 1)",
    bad_division="SELECT user_id / (event_id - 3)::int4 FROM kudos_ledger ORDER BY event_id",
    bad_column="SELECT no_such_column FROM kudos_ledger",
    copy_in="COPY kudos_ledger (user_id, amount) FROM STDIN",
    copy_out="COPY (SELECT user_id FROM kudos_ledger ORDER BY event_id) TO STDOUT",
    copy_line=b"4\t1.5\n",
    copy_bad_line=b"9999\t1.5\n",
)

UNTOUCHED = Words(
    select="SELECT id FROM jobs WHERE id <= 5 ORDER BY id",
    select_by="SELECT id FROM jobs WHERE id = $1",
    insert="INSERT INTO jobs (id, state) VALUES ($1 + 100, 'new') RETURNING id",
    insert_plain="INSERT INTO jobs (id, state) VALUES (50, 'new')",
    bad_insert="INSERT INTO jobs (id, state) VALUES (1, 'twice')",
    bad_division="SELECT id / (id - 3) FROM jobs ORDER BY id",
    bad_column="SELECT no_such_column FROM jobs",
    copy_in="COPY jobs (id, state) FROM STDIN",
    copy_out="COPY (SELECT id FROM jobs ORDER BY id) TO STDOUT",
    copy_line=b"60\tcopied\n",
    copy_bad_line=b"1\ttwice\n",
)


def ask(*parts, count=1):
    """One write, then everything up to the `count`-th ReadyForQuery."""
    return (b"".join(parts), "Z", count)


def simple(sql):
    return ask(wire.query(sql))


def prepared_run(sql, values, portal="", name="", max_rows=0):
    return wire.parse(sql, name) + wire.bind(portal, name, values) + wire.execute(portal, max_rows)


def simple_protocol(w):
    return {
        "one statement": [simple(w.select)],
        "a write": [simple(w.insert_plain)],
        "nothing at all": [simple(""), simple(";"), simple("-- nothing"), simple("/* nothing */")],
        "several statements": [simple(f"{w.select}; {w.insert_plain}; SELECT 1")],
        "several, the last fails": [simple(f"{w.insert_plain}; {w.bad_column}"), simple(w.select)],
        "several, the middle fails when it runs": [
            simple(f"{w.insert_plain}; {w.bad_division}; SELECT 1"),
            simple(w.select),
        ],
        "several queries in one write": [
            ask(wire.query(w.select), wire.query(w.insert_plain), wire.query("SELECT 2"), count=3)
        ],
        "several queries in one write, one fails": [
            ask(wire.query(w.select), wire.query(w.bad_insert), wire.query(w.select), count=3)
        ],
        "errors of every kind": [
            simple(w.bad_insert),
            simple(w.bad_division),
            simple(w.bad_column),
            simple(w.select + " WHERE"),
            simple(w.select_by),
        ],
        "a transaction": [simple("BEGIN"), simple(w.insert_plain), simple(w.select), simple("COMMIT")],
        "a transaction in one write": [
            ask(
                wire.query("BEGIN"),
                wire.query(w.insert_plain),
                wire.query(w.select),
                wire.query("COMMIT"),
                count=4,
            )
        ],
        "a transaction in one write that fails": [
            ask(
                wire.query("BEGIN"),
                wire.query(w.bad_insert),
                wire.query(w.select),
                wire.query("COMMIT"),
                wire.query(w.select),
                count=5,
            )
        ],
        "a transaction in one text": [simple(f"BEGIN; {w.insert_plain}; {w.select}; COMMIT")],
        "a failed transaction": [
            simple("BEGIN"),
            simple(w.bad_insert),
            simple(w.select),
            simple(""),
            simple("ROLLBACK"),
            simple(w.select),
        ],
        "leaving a failed transaction in one text": [
            simple("BEGIN"),
            simple("SELECT 1 / 0"),
            simple(f"ROLLBACK; {w.insert_plain}"),
            simple(w.select),
        ],
        "savepoints": [
            simple("BEGIN"),
            simple("SAVEPOINT a"),
            simple(w.insert_plain),
            simple("ROLLBACK TO a"),
            simple(w.select),
            simple("SAVEPOINT b"),
            simple(w.bad_insert),
            simple("ROLLBACK TO b"),
            simple(w.insert_plain),
            simple("RELEASE a"),
            simple("COMMIT"),
        ],
        "a chain": [
            simple("BEGIN"),
            simple(w.insert_plain),
            simple("COMMIT AND CHAIN"),
            simple(w.select),
            simple("ROLLBACK"),
        ],
        "levels": [
            simple("BEGIN"),
            simple("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"),
            simple(w.select),
            simple("COMMIT"),
            simple(f"BEGIN ISOLATION LEVEL REPEATABLE READ; {w.select}"),
            simple(w.select),
            simple("COMMIT"),
            simple("BEGIN"),
            simple(w.select),
            simple("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"),
            simple("ROLLBACK"),
        ],
        "cursors": [
            simple("BEGIN"),
            simple(f"DECLARE c CURSOR FOR {w.select}"),
            simple("FETCH 2 FROM c"),
            ask(wire.describe_portal("c"), wire.execute("c", 1), wire.sync()),
            simple("CLOSE c"),
            simple("COMMIT"),
            simple(f"DECLARE c CURSOR FOR {w.select}"),
        ],
        "prepared by SQL": [
            simple(f"PREPARE p AS {w.select_by}"),
            simple("EXECUTE p (2)"),
            simple("BEGIN"),
            simple("EXECUTE p (2)"),
            simple("COMMIT"),
            simple("DEALLOCATE p"),
            simple("EXECUTE p (2)"),
        ],
        "a block": [
            simple(f"DO $$ BEGIN {w.insert_plain}; RAISE NOTICE 'done'; END $$"),
            simple(f"DO $$ BEGIN {w.bad_insert}; END $$"),
            simple(w.select),
        ],
        "an error and its place": [
            simple(f"SELECT 1; {w.bad_column}"),
            simple(f"  /* before */ {w.bad_column}"),
        ],
        "the unnamed statement goes": [
            ask(wire.parse("SELECT 7"), wire.sync()),
            simple(w.select),
            ask(wire.bind(), wire.execute(), wire.sync()),
        ],
    }


def extended_protocol(w):
    run = wire.bind(values=[2]) + wire.describe_portal() + wire.execute()
    return {
        "one statement": [ask(wire.extended(w.select_by, [2]))],
        "a write": [ask(wire.extended(w.insert, [2])), ask(wire.extended(w.insert_plain))],
        "binary results": [
            ask(
                wire.parse(w.select_by, types=[23]),
                wire.bind(values=[wire.int4(2)], formats=[1], result_formats=[1]),
                wire.describe_portal(),
                wire.execute(),
                wire.sync(),
            )
        ],
        "a NULL and the wrong number": [
            ask(wire.extended(w.select_by, [None])),
            ask(wire.extended(w.select_by, [1, 2])),
            ask(wire.extended(w.select_by)),
        ],
        "described before it is bound": [
            ask(wire.parse(w.select_by), wire.describe_statement(), wire.flush(), wire.sync()),
            ask(run, wire.sync()),
        ],
        "described, by Flush": [
            (wire.parse(w.select_by, "s") + wire.describe_statement("s") + wire.flush(), "T", 1),
            (wire.bind("p", "s", [2]) + wire.describe_portal("p") + wire.flush(), "T", 1),
            (wire.execute("p") + wire.flush(), "C", 1),
            ask(wire.close_portal("p"), wire.close_statement("s"), wire.sync()),
        ],
        "named, run again and closed": [
            ask(wire.parse(w.insert, "s"), wire.describe_statement("s"), wire.sync()),
            ask(
                wire.bind("", "s", [1]), wire.execute(), wire.bind("", "s", [2]), wire.execute(), wire.sync()
            ),
            ask(wire.bind("p", "s", [3]), wire.execute("p"), wire.close_portal("p"), wire.sync()),
            ask(wire.close_statement("s"), wire.sync()),
            ask(wire.bind("", "s", [4]), wire.execute(), wire.sync()),
        ],
        "the same name twice": [
            ask(wire.parse(w.select_by, "s"), wire.sync()),
            ask(wire.parse(w.insert, "s"), wire.sync()),
            ask(wire.bind("", "s", [2]), wire.execute(), wire.sync()),
        ],
        "portions": [
            simple("BEGIN"),
            ask(prepared_run(w.select, (), "p", "", 2), wire.sync()),
            ask(wire.execute("p", 2), wire.execute("p", 2), wire.sync()),
            simple("COMMIT"),
        ],
        "errors in a batch": [
            ask(wire.extended(w.bad_insert)),
            ask(wire.extended(w.bad_column)),
            ask(prepared_run(w.insert_plain, ()), prepared_run(w.bad_insert, ()), wire.sync()),
            simple(w.select),
        ],
        "errors at Bind and Execute": [
            ask(wire.bind("", "none"), wire.execute(), wire.sync()),
            ask(wire.execute("none"), wire.sync()),
            ask(wire.describe_portal("none"), wire.sync()),
            ask(wire.describe_statement("none"), wire.sync()),
            ask(wire.extended(w.bad_division)),
            ask(wire.extended(w.select_by, ["no number"])),
        ],
        "an error that nobody synchronises": [
            (wire.parse(w.bad_column), "E", 1),
            ask(wire.parse(w.select), wire.sync()),
            simple(w.select),
        ],
        "nothing at all": [ask(wire.extended("")), ask(wire.extended("-- nothing"))],
        "only Sync": [ask(wire.sync()), ask(wire.sync(), wire.sync(), count=2)],
        "several in one batch": [
            ask(
                prepared_run(w.select_by, [1]),
                prepared_run(w.insert, [2]),
                prepared_run("SELECT 1", ()),
                prepared_run(w.select_by, [3]),
                wire.sync(),
            )
        ],
        "a pipeline": [
            ask(
                *[
                    wire.extended(sql, values)
                    for sql, values in [
                        (w.select_by, [1]),
                        (w.insert, [2]),
                        ("SELECT 1", ()),
                        (w.bad_insert, ()),
                        (w.insert, [3]),
                    ]
                ],
                count=5,
            )
        ],
        "a transaction in a batch": [
            ask(
                prepared_run("BEGIN", ()),
                prepared_run(w.insert, [2]),
                prepared_run("COMMIT", ()),
                wire.sync(),
            ),
            simple(w.select),
        ],
        "a transaction over a pipeline": [
            ask(
                wire.extended("BEGIN"),
                wire.extended(w.insert, [2]),
                wire.extended("SAVEPOINT a"),
                wire.extended(w.bad_insert),
                wire.extended(w.select),
                wire.extended("ROLLBACK TO a"),
                wire.extended(w.insert, [3]),
                wire.extended("COMMIT"),
                count=8,
            )
        ],
        "a failing transaction in a batch": [
            ask(
                prepared_run("BEGIN", ()),
                prepared_run(w.bad_insert, ()),
                prepared_run("COMMIT", ()),
                wire.sync(),
            ),
            ask(wire.extended(w.select)),
            ask(wire.extended("ROLLBACK")),
            ask(wire.extended(w.select)),
        ],
        "simple queries between": [
            ask(wire.extended(w.select_by, [1]), wire.query(w.select), wire.extended(w.insert, [2]), count=3)
        ],
        "a block and a call": [
            ask(wire.extended(f"DO $$ BEGIN {w.insert_plain}; END $$")),
            ask(wire.extended("CALL no_such_procedure()")),
        ],
        "closing what does not exist": [
            ask(wire.close_statement("none"), wire.close_portal("none"), wire.close_statement(), wire.sync())
        ],
        "closing late": [
            ask(wire.parse(w.insert, "s"), wire.sync()),
            ask(
                wire.bind("", "s", [2]),
                wire.execute(),
                wire.sync(),
                wire.close_statement("s"),
                wire.query("BEGIN"),
                count=2,
            ),
            simple("COMMIT"),
        ],
        "discarding": [
            ask(wire.parse(w.select_by, "s"), wire.sync()),
            simple("DISCARD ALL"),
            ask(wire.bind("", "s", [1]), wire.execute(), wire.sync()),
            ask(wire.parse("DISCARD ALL"), wire.bind(), wire.execute(), wire.sync()),
        ],
    }


def copies(w):
    data = wire.copy_data(w.copy_line)
    bad = wire.copy_data(w.copy_bad_line)
    into = wire.parse(w.copy_in) + wire.bind() + wire.execute()
    return {
        "out": [simple(w.copy_out), simple("BEGIN"), simple(w.copy_out), simple("COMMIT")],
        "out, extended": [ask(wire.extended(w.copy_out))],
        "in": [(wire.query(w.copy_in), "G", 1), ask(data, wire.copy_done())],
        "in, everything at once": [ask(wire.query(w.copy_in), data, wire.copy_done())],
        "in, cut anywhere": [
            (wire.query(w.copy_in), "G", 1),
            ask(wire.copy_data(w.copy_line[:2]), wire.copy_data(w.copy_line[2:]), wire.copy_done()),
        ],
        "in, with Flush and Sync between": [
            (wire.query(w.copy_in), "G", 1),
            ask(wire.flush(), data, wire.sync(), wire.copy_done()),
        ],
        "in, given up": [
            (wire.query(w.copy_in), "G", 1),
            ask(data, wire.copy_fail("given up")),
            simple(w.select),
        ],
        "in, refused by the server": [
            (wire.query(w.copy_in), "G", 1),
            ask(bad, data, wire.copy_done()),
            simple(w.select),
        ],
        "in, does not start": [
            ask(wire.query("COPY no_such_table FROM STDIN"), data, wire.copy_done()),
            simple(w.select),
        ],
        "in, extended": [ask(into, wire.sync(), data, wire.copy_done(), wire.sync())],
        "in, extended, in its turn": [
            (into + wire.flush(), "G", 1),
            ask(data, wire.copy_done(), wire.sync()),
        ],
        "in, in a transaction": [
            simple("BEGIN"),
            ask(wire.query(w.copy_in), data, wire.copy_done()),
            simple(w.select),
            simple("COMMIT"),
        ],
        "in, in the middle of a text": [
            ask(wire.query(f"SELECT 1; {w.copy_in}; SELECT 2"), data, wire.copy_done())
        ],
    }
