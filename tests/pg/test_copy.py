"""COPY both ways, by psql, psycopg2 and psycopg 3, in and outside transactions, with errors."""

import drivers
import psycopg
import pytest

ROWS = "".join(f"{n % 20 + 1}\t{n}.50\trow {n}\n" for n in range(500))
COLUMNS = "kudos_ledger (user_id, amount, note)"


@pytest.fixture
def loader(direct, proxied):
    """Row level security, the oracle's means, forbids COPY FROM to ordinary roles."""
    return direct.replace(user="loader"), proxied.replace(user="loader")


def psql(*arguments, stdin=None):
    return lambda endpoint: drivers.run(endpoint, ["psql", "-X", *arguments], stdin)


@pytest.mark.parametrize(
    "script",
    [
        f"COPY {COLUMNS} FROM STDIN;\n{ROWS}\\.\nSELECT count(*), sum(amount) FROM kudos_ledger;\n",
        f"BEGIN;\nCOPY {COLUMNS} FROM STDIN;\n{ROWS}\\.\nCOMMIT;\nSELECT count(*) FROM kudos_ledger;\n",
        f"BEGIN;\nCOPY {COLUMNS} FROM STDIN;\n{ROWS}\\.\nROLLBACK;\nSELECT count(*) FROM kudos_ledger;\n",
        f"COPY {COLUMNS} FROM STDIN;\n{ROWS}9999\t1\tbad\n\\.\nSELECT count(*) FROM kudos_ledger;\n",
        f"COPY {COLUMNS} FROM STDIN;\n1\tno number\tbad\n{ROWS}\\.\nSELECT count(*) FROM kudos_ledger;\n",
        "COPY no_such_table FROM STDIN;\n\\.\nINSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1);\n",
        "SELECT 1 \\; INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1) \\; "
        f"COPY {COLUMNS} FROM STDIN \\; SELECT 2;\n{ROWS}\\.\nSELECT count(*) FROM kudos_ledger;\n",
    ],
)
def test_psql_copies_in(cluster, oracle, loader, script):
    drivers.compare(cluster, oracle, *loader, psql(stdin=script), at_least=1)


@pytest.mark.parametrize(
    "script",
    [
        "COPY kudos_ledger TO STDOUT;\nSELECT 1;\n",
        "COPY (SELECT user_id, amount FROM kudos_ledger ORDER BY event_id) TO STDOUT (FORMAT csv, HEADER);\n",
        "BEGIN;\nCOPY kudos_ledger TO STDOUT;\nCOPY (SELECT 1) TO STDOUT;\nCOMMIT;\n",
        "COPY (SELECT 10 / (event_id - 15) FROM kudos_ledger ORDER BY event_id) TO STDOUT;\nSELECT 1;\n",
        "\\copy kudos_ledger to pstdout\n",
        "\\copy (select user_id from kudos_ledger order by event_id) to pstdout csv\n",
    ],
)
def test_psql_copies_out(cluster, oracle, direct, proxied, script):
    drivers.compare(cluster, oracle, direct, proxied, psql(stdin=script), at_least=1)


def test_psql_copies_between_files(cluster, oracle, loader, tmp_path):
    data = tmp_path / "rows"
    data.write_text(ROWS)
    out = tmp_path / "out"

    def client(endpoint):
        output = psql(
            "-c",
            f"\\copy {COLUMNS} from '{data}'",
            "-c",
            f"\\copy (select note from kudos_ledger order by event_id) to '{out}'",
        )(endpoint)
        return output, out.read_text()

    drivers.compare(cluster, oracle, *loader, client, at_least=1)


def psycopg3_copy(in_transaction):
    def client(endpoint):
        seen = []
        with psycopg.connect(endpoint.dsn(), autocommit=not in_transaction) as connection:
            with connection.cursor() as cursor:
                with cursor.copy(f"COPY {COLUMNS} FROM STDIN") as copy:
                    for n in range(300):
                        copy.write_row((n % 20 + 1, n, f"row {n}"))
                seen.append(cursor.statusmessage)
                with cursor.copy(
                    "COPY (SELECT user_id, note FROM kudos_ledger WHERE user_id = %s "
                    "ORDER BY event_id) TO STDOUT",
                    (3,),
                ) as copy:
                    seen += list(copy.rows())
                try:
                    with connection.transaction(), cursor.copy(f"COPY {COLUMNS} FROM STDIN") as copy:
                        copy.write_row((1, 1, "given up"))
                        raise RuntimeError("the client changes its mind")
                except psycopg.errors.QueryCanceled as error:
                    seen.append(str(error))
                cursor.execute("SELECT count(*) FROM kudos_ledger")
                seen.append(cursor.fetchone())
        return seen

    return client


@pytest.mark.parametrize("in_transaction", [False, True])
def test_psycopg3_copies_both_ways(cluster, oracle, loader, in_transaction):
    drivers.compare(cluster, oracle, *loader, psycopg3_copy(in_transaction), at_least=3)


def test_large_copies_stream(cluster, oracle, loader):
    """Both directions carry more than any buffer, while the other side is not yet reading."""

    def client(endpoint):
        with psycopg.connect(endpoint.dsn(), autocommit=True) as connection, connection.cursor() as cursor:
            with cursor.copy(f"COPY {COLUMNS} FROM STDIN") as copy:
                for n in range(200):
                    copy.write_row((n % 20 + 1, n, "x" * 60_000))
            with cursor.copy(
                "COPY (SELECT n, repeat('x', 4000) FROM generate_series(1, 10000) n, "
                "(SELECT count(*) FROM kudos_ledger) c) TO STDOUT"
            ) as copy:
                size = sum(len(data) for data in copy)
            return cursor.statusmessage, size

    drivers.compare(cluster, oracle, *loader, client, at_least=2)
