"""Wire cases that are conversations: what is sent, and up to which message is read, one entry for each row
of README.md."""

import dataclasses

from conversations import ask, prepared_run, simple
from support import wire

LEDGER = "SELECT user_id FROM kudos_ledger WHERE event_id <= 3 ORDER BY event_id"
LEDGER_BY = "SELECT user_id FROM kudos_ledger WHERE event_id = $1"
INSERT = "INSERT INTO kudos_ledger (user_id, amount, note) VALUES (3, 1, 'row')"
BAD_INSERT = "INSERT INTO kudos_ledger (user_id, amount) VALUES (9999, 1)"
COUNT = "SELECT count(*) FROM kudos_ledger"
COPY_IN = "COPY kudos_ledger (user_id, amount) FROM STDIN"


@dataclasses.dataclass(frozen=True)
class Row:
    steps: list
    user: str = "app"
    parameters: dict = dataclasses.field(default_factory=dict)


def texts(*all_texts, **start):
    """Simple queries, each in its turn."""
    return Row([simple(each) for each in all_texts], **start)


def described(sql):
    return ask(
        wire.parse(sql, "s"),
        wire.describe_statement("s"),
        wire.bind("", "s"),
        wire.describe_portal(),
        wire.execute(),
        wire.close_statement("s"),
        wire.sync(),
    )


EMPTY = ("", ";", "-- nothing", "/* nothing */")
READS_AND_WRITES = [
    "WITH x AS (DELETE FROM kudos_ledger WHERE event_id = 20 RETURNING *) SELECT count(*) FROM x",
    "SELECT count(*) FROM (SELECT 1 FROM kudos_ledger FOR UPDATE) x",
    "MERGE INTO kudos_ledger k USING (VALUES (1)) v (id) ON k.event_id = v.id"
    " WHEN MATCHED THEN UPDATE SET note = 'm'",
    "INSERT INTO jobs (id) SELECT 100 + event_id FROM kudos_ledger WHERE event_id = 1",
    "CREATE TABLE copied AS SELECT user_id FROM kudos_ledger",
    "DROP TABLE copied",
    "SELECT user_id INTO TEMP selected FROM kudos_ledger",
    "EXPLAIN (COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF, ANALYZE)"
    " INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1)",
    "TABLE kudos_balance_snapshots",
    "COPY (SELECT user_id FROM kudos_ledger ORDER BY event_id) TO STDOUT",
    "SELECT query_to_xml('select count(*) from kudos_ledger', false, false, '')",
    "DO $$ BEGIN EXECUTE 'insert into kudos_' || 'ledger (user_id, amount) values (1, 1)'; END $$",
    "BEGIN; DECLARE c CURSOR FOR SELECT user_id FROM kudos_ledger ORDER BY event_id; FETCH 2 FROM c; COMMIT",
    "TRUNCATE jobs, kudos_balance_snapshots",
    COUNT,
]
ESCAPED_QUOTE = r"SELECT '\'; UPDATE kudos_ledger SET note = 'read' WHERE event_id = 1 --'"
ESCAPED_BACKSLASH = r"SELECT '\\'; UPDATE kudos_ledger SET note = 'read' WHERE event_id = 1 --'"
NOTES = "SELECT note FROM kudos_ledger WHERE event_id = 1"


def state_rows():
    """Section D: transactions, settings, and what SQL means."""
    return {
        "D4 BEGIN, COMMIT and ROLLBACK in the extended protocol": Row(
            [
                described(sql)
                for sql in ("BEGIN", INSERT, "COMMIT", "BEGIN", INSERT, "ROLLBACK", "COMMIT", COUNT)
            ]
        ),
        "D5 a transaction whose first statement is an advisory lock": texts(
            "BEGIN",
            "SELECT pg_advisory_xact_lock(77)",
            INSERT,
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 77"
            " AND pid = pg_backend_pid()",
            "COMMIT",
        ),
        "D8 a touch behind ROLLBACK TO in a failed transaction": texts(
            "BEGIN", "SAVEPOINT s", "SELECT 1 / 0", "ROLLBACK TO s", INSERT, "COMMIT", COUNT
        ),
        "D8 a touch before and behind ROLLBACK TO": texts(
            "BEGIN", "SAVEPOINT s", INSERT, "SELECT 1 / 0", "ROLLBACK TO s", INSERT, "COMMIT", COUNT
        ),
        "D9 statements in a failed transaction": texts(
            "BEGIN", BAD_INSERT, LEDGER, INSERT, "SHOW work_mem", "COMMIT", COUNT
        ),
        "D10 empty texts with no transaction": texts(*EMPTY),
        "D10 empty texts in a transaction": texts("BEGIN", *EMPTY, LEDGER, *EMPTY, "COMMIT"),
        "D10 empty texts in a failed transaction": texts("BEGIN", "SELECT 1 / 0", *EMPTY, "ROLLBACK"),
        "D10 empty texts in batches": Row([ask(wire.extended(text)) for text in EMPTY]),
        "D12 settings of every kind": texts(
            "SET work_mem = '1MB'",
            "BEGIN",
            "SET LOCAL work_mem = '2MB'",
            "SET SESSION statement_timeout = '60s'",
            "SHOW work_mem",
            "COMMIT",
            "SHOW work_mem",
            "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
            "SHOW transaction_isolation",
            "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
            INSERT,
            "SHOW default_transaction_read_only",
            "RESET default_transaction_read_only",
            INSERT,
            "RESET ALL",
            "SHOW work_mem",
        ),
        "D15 nothing of a failed batch is committed": Row(
            [ask(prepared_run(INSERT, ()), prepared_run(BAD_INSERT, ()), wire.sync()), simple(COUNT)]
        ),
        "D18 settings and touches among comments": texts(
            "/* app:a,action:b */ SET work_mem = '3MB' /* traceparent='00-1' */",
            "SHOW work_mem -- comment",
            f"/* outer /* inner */ kudos_ledger */ {INSERT} -- route=%2Fx",
            "/* kudos_ledger */ SELECT 1",
            COUNT,
        ),
        "D21 backslashes, standard": texts(ESCAPED_QUOTE, ESCAPED_BACKSLASH, NOTES),
        "D21 backslashes, by SET": texts(
            "SET standard_conforming_strings = off",
            "SET escape_string_warning = off",
            ESCAPED_QUOTE,
            NOTES,
            ESCAPED_BACKSLASH,
            NOTES,
        ),
        "D21 backslashes, by options": texts(
            ESCAPED_QUOTE,
            NOTES,
            ESCAPED_BACKSLASH,
            NOTES,
            parameters={"options": "-c standard_conforming_strings=off -c escape_string_warning=off"},
        ),
        "D25 a prepared transaction": texts(
            "BEGIN",
            INSERT,
            "PREPARE TRANSACTION 'wire case'",
            COUNT,
            "COMMIT PREPARED 'wire case'",
            COUNT,
            "BEGIN",
            "SAVEPOINT a",
            INSERT,
            "RELEASE a",
            "PREPARE TRANSACTION 'wire case'",
            "ROLLBACK PREPARED 'wire case'",
        ),
        "D27 an empty search_path": texts(
            "SELECT set_config('search_path', '', false)",
            "SHOW search_path",
            "SELECT count(*) FROM public.kudos_ledger",
            "INSERT INTO public.kudos_ledger (user_id, amount) VALUES (1, 1)",
            COUNT,
        ),
        "D28 chained transactions": texts(
            "BEGIN",
            INSERT,
            "COMMIT AND CHAIN",
            INSERT,
            "ROLLBACK AND CHAIN",
            COUNT,
            "COMMIT",
            f"BEGIN; {INSERT}; COMMIT AND CHAIN; {INSERT}; COMMIT",
            COUNT,
        ),
        "D30 reads and writes in hiding": texts(*READS_AND_WRITES),
        "D33 a temporary table in the way": texts(
            "CREATE TEMP TABLE kudos_ledger (user_id int, amount int)",
            "INSERT INTO kudos_ledger VALUES (1, 2)",
            COUNT,
            "SELECT count(*) FROM public.kudos_ledger",
            "DROP TABLE kudos_ledger",
            COUNT,
            INSERT,
        ),
        "D33 another schema in the way": texts(
            "CREATE SCHEMA IF NOT EXISTS elsewhere",
            "CREATE TABLE elsewhere.kudos_ledger (user_id int)",
            "SET search_path = elsewhere, public",
            COUNT,
            "DROP TABLE elsewhere.kudos_ledger",
            COUNT,
            "DROP SCHEMA elsewhere",
            user="postgres",
        ),
        "D34 deep nesting": texts(
            f"SELECT {'(' * 3000}1{')' * 3000}",
            f"SELECT count(*) FROM kudos_ledger WHERE {'(' * 3000}true{')' * 3000}",
            "SELECT " + "- " * 5000 + "1",
        ),
        "D34 a list of 5 MB": texts(
            "SELECT count(*) FROM kudos_ledger WHERE note IN ("
            + ", ".join(f"'{n:0250d}'" for n in range(20_000))
            + ")"
        ),
    }


def extended_rows():
    """Section E: batches, pipelines, formats."""
    format_cases = [
        ((), ()),
        ((0,), (0,)),
        ((1,), (1,)),
        ((0, 1), (1, 0)),
        ((1, 0), (0, 1)),
        ((0, 1, 1), ()),
        ((2,), (0,)),
        ((), (1,)),
    ]
    two = "SELECT user_id, $2::int4 FROM kudos_ledger WHERE event_id = $1::int8"

    def formatted(formats, results):
        def value(index, packed, plain):
            code = formats[0] if len(formats) == 1 else formats[index] if index < len(formats) else 0
            return packed if code == 1 else plain

        values = [value(0, wire.int8(2), "2"), value(1, wire.int4(5), "5")]
        return ask(
            wire.parse(two, types=[20, 23]),
            wire.bind("", "", values, formats, results),
            wire.execute(),
            wire.sync(),
        )

    return {
        "E1 five hundred Syncs in flight": Row(
            [ask(*[wire.extended(LEDGER_BY, [n % 20 + 1]) for n in range(500)], count=500)]
        ),
        "E1 a thousand simple queries in flight": Row(
            [
                ask(
                    *[wire.query(f"SELECT {n}") if n % 3 else wire.query(LEDGER) for n in range(1000)],
                    count=1000,
                )
            ]
        ),
        "E3 a simple query in front of the Sync": Row(
            [
                simple("BEGIN"),
                ask(wire.query("SAVEPOINT PGJDBC_AUTOSAVE"), prepared_run(INSERT, ()), wire.sync(), count=2),
                ask(prepared_run(BAD_INSERT, ()), wire.sync()),
                ask(
                    wire.query("ROLLBACK TO SAVEPOINT PGJDBC_AUTOSAVE"),
                    prepared_run(LEDGER, ()),
                    wire.sync(),
                    count=2,
                ),
                simple("COMMIT"),
                simple(COUNT),
            ]
        ),
        "E4 an error in the second of five": Row(
            [
                ask(
                    prepared_run(INSERT, ()),
                    prepared_run(BAD_INSERT, ()),
                    *[prepared_run(INSERT, ())] * 3,
                    wire.sync(),
                    prepared_run(INSERT, ()),
                    wire.sync(),
                    count=2,
                ),
                simple(COUNT),
            ]
        ),
        "E7 format codes": Row([formatted(*case) for case in format_cases]),
        "E8 names of portals and statements": Row(
            [simple("BEGIN")]
            + [
                ask(
                    wire.close_statement(s),
                    wire.parse(LEDGER_BY, s),
                    wire.bind(p, s, [2]),
                    wire.execute(p),
                    wire.sync(),
                )
                for p, s in (("", ""), ("p", "s"), ("", "s"), ("q", ""))
            ]
            + [
                ask(
                    wire.parse("SELECT 1", "plain"),
                    wire.parse(LEDGER, "touch"),
                    wire.bind("touch", "plain"),
                    wire.bind("plain", "touch"),
                    wire.execute("touch"),
                    wire.execute("plain"),
                    wire.sync(),
                ),
                simple("COMMIT"),
            ]
        ),
    }


def name_rows():
    """Section E: Close, portals, parameters, names that failed."""
    many = ", ".join(f"${n}" for n in range(1, 65_536))
    return {
        "E11 an error arrives before the Sync": Row(
            [
                (wire.parse("SELECT no_such FROM kudos_ledger"), "E", 1),
                ask(wire.sync()),
                (wire.parse(INSERT) + wire.bind(), "", 0),
                (wire.bind("", "no such"), "E", 1),
                ask(wire.sync()),
                simple(COUNT),
            ]
        ),
        "E12 Close behind the Sync": Row(
            [
                ask(wire.parse(INSERT, "s"), wire.parse(LEDGER, "t"), wire.sync()),
                ask(
                    wire.bind("", "s"),
                    wire.execute(),
                    wire.sync(),
                    wire.close_statement("s"),
                    wire.close_statement("t"),
                    wire.query("BEGIN"),
                    count=2,
                ),
                simple(INSERT),
                simple("COMMIT"),
            ]
        ),
        "E16 a portal made by DECLARE": Row(
            [
                simple("BEGIN"),
                simple(f"DECLARE c CURSOR FOR {LEDGER}"),
                ask(wire.describe_portal("c"), wire.sync()),
                simple("FETCH 2 FROM c"),
                ask(wire.execute("c"), wire.sync()),
                simple("COMMIT"),
            ]
        ),
        "E17 parameters that are NULL or empty": Row(
            [
                ask(
                    wire.extended("SELECT $1::text, $2::text, user_id FROM kudos_ledger LIMIT 1", [None, ""])
                ),
                ask(wire.extended("SELECT $1::text IS NULL", [None])),
                ask(
                    wire.extended("INSERT INTO kudos_ledger (user_id, amount, note) VALUES (1, 1, $1)", [""])
                ),
            ]
        ),
        "E17 65535 parameters": Row(
            [
                ask(
                    wire.extended(
                        f"SELECT count(*) FROM kudos_ledger WHERE user_id IN ({many})",
                        [n % 20 + 1 if n % 2 else None for n in range(65_535)],
                    )
                )
            ]
        ),
        "E18 a name whose Parse failed": Row(
            [
                ask(wire.parse("SELECT no_such FROM kudos_ledger", "s1"), wire.sync()),
                ask(wire.parse(LEDGER_BY, "s1"), wire.bind("", "s1", [2]), wire.execute(), wire.sync()),
                simple("SELECT name, statement FROM pg_prepared_statements"),
                simple("PREPARE s2 AS SELECT no_such FROM kudos_ledger"),
                simple("EXECUTE s2"),
                simple(f"PREPARE s2 AS {LEDGER}"),
                simple("EXECUTE s2"),
            ]
        ),
        "E22 counts in a pipeline": Row(
            [
                ask(
                    wire.extended(INSERT),
                    wire.extended(LEDGER),
                    wire.extended("UPDATE kudos_ledger SET note = 'u' WHERE user_id < 4"),
                    wire.extended("CREATE TEMP TABLE made (a int)"),
                    wire.extended("INSERT INTO made SELECT 1 FROM kudos_ledger"),
                    wire.extended("DELETE FROM kudos_ledger WHERE event_id > 20"),
                    wire.extended("DROP TABLE made"),
                    count=7,
                )
            ]
        ),
    }


def copy_rows():
    """Section F."""
    line = wire.copy_data(b"4\t1.5\n")
    bad = wire.copy_data(b"9999\t1.5\n")
    into = wire.parse(COPY_IN) + wire.bind() + wire.execute()
    end = wire.copy_done()
    loader = {"user": "loader"}
    return {
        "F1 Syncs in COPY": Row([ask(into, wire.sync(), line, end, wire.sync()), simple(COUNT)], **loader),
        "F1 Syncs in a COPY that does not start": Row(
            [
                ask(
                    wire.parse("COPY no_such FROM STDIN"),
                    wire.bind(),
                    wire.execute(),
                    wire.sync(),
                    line,
                    end,
                    wire.sync(),
                    count=2,
                ),
                simple(COUNT),
            ],
            **loader,
        ),
        "F3 data behind an error": Row(
            [
                ask(
                    wire.query("COPY jobs (id) FROM STDIN"),
                    wire.copy_data(b"1\n1\n"),
                    *[wire.copy_data(b"1\n" * 30_000)] * 20,
                    end,
                ),
                ask(wire.query(COPY_IN), bad, *[wire.copy_data(b"4\t1.5\n" * 10_000)] * 20, end),
                simple(COUNT),
            ],
            **loader,
        ),
        "F4 a whole COPY in one write": Row(
            [
                ask(wire.query(COPY_IN), line, line, end),
                ask(into, line, line, end, wire.sync()),
                simple(COUNT),
            ],
            **loader,
        ),
        "F5 Flush and Sync between the data": Row(
            [
                (wire.query(COPY_IN), "G", 1),
                ask(line, wire.flush(), line, wire.sync(), line, end),
                simple(COUNT),
            ],
            **loader,
        ),
        "F6 an error and the next answer in one segment": Row(
            [ask(wire.query(COPY_IN), bad, end, wire.query(COUNT), wire.query("SELECT 1"), count=3)], **loader
        ),
        "F10 COPY in a transaction": Row(
            [
                simple("BEGIN"),
                ask(wire.query(COPY_IN), line, end),
                simple("COMMIT"),
                (wire.query(COPY_IN), "G", 1),
                ask(line, wire.copy_fail("enough")),
                simple("BEGIN"),
                (wire.query(COPY_IN), "G", 1),
                ask(line, wire.copy_fail("enough")),
                simple("COMMIT"),
                simple(COUNT),
            ],
            **loader,
        ),
        "F12 COPY both ways": Row(
            [
                ask(wire.query(COPY_IN), line, end),
                simple("COPY (SELECT user_id FROM kudos_ledger ORDER BY event_id) TO STDOUT"),
            ],
            **loader,
        ),
    }


ROWS = {**state_rows(), **extended_rows(), **name_rows(), **copy_rows()}
