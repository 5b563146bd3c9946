"""psql, unmodified: whole scripts, whose output is compared word for word."""

import pathlib
import re

import drivers
import pytest

SCRIPTS = pathlib.Path(__file__).resolve().parent / "psql"


def psql(*arguments, stdin=None, expect_code=0):
    # Object ids of large objects come from a counter of the cluster.
    program = ["psql", "-X", "-v", "VERBOSITY=default", *arguments]
    return lambda endpoint: re.sub(
        r"\b\d{5,}\b", "OID", drivers.run(endpoint, program, stdin, None, expect_code)
    )


@pytest.fixture
def clean_schemas(cluster):
    yield
    cluster.execute("DROP SCHEMA IF EXISTS hostile CASCADE")


@pytest.mark.parametrize("script", ["statements", "transactions", "server_side"])
def test_psql_scripts_print_the_same(cluster, oracle, direct, proxied, clean_schemas, script):
    run = psql("-a", "-f", str(SCRIPTS / f"{script}.sql"))

    def client(endpoint):
        cluster.execute("DROP SCHEMA IF EXISTS hostile CASCADE")
        cluster.execute("GRANT CREATE ON DATABASE horde TO app")
        return run(endpoint)

    output = drivers.compare(cluster, oracle, direct, proxied, client, at_least=40)
    assert "server closed the connection" not in output


@pytest.mark.parametrize(
    "arguments, code",
    [
        (["-c", "SELECT count(*) FROM kudos_ledger"], 0),
        (
            [
                "-c",
                "INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1); SELECT 1; TABLE kudos_ledger",
            ],
            0,
        ),
        (["-c", "INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1); SELECT 1 / 0"], 1),
        (["-c", "INSERT INTO kudos_ledger (user_id, amount) VALUES (9999, 1)"], 1),
        (["-1", "-c", "SELECT 1", "-c", "INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1)"], 0),
        (
            [
                "-1",
                "-v",
                "ON_ERROR_STOP=1",
                "-c",
                "INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1)",
                "-c",
                "SELECT 1 / 0",
            ],
            1,
        ),
        (["-At", "-c", "BEGIN", "-c", "SELECT count(*) FROM kudos_ledger", "-c", "COMMIT"], 0),
    ],
)
def test_psql_commands_print_the_same(cluster, oracle, direct, proxied, arguments, code):
    drivers.compare(cluster, oracle, direct, proxied, psql(*arguments, expect_code=code), at_least=1)


def test_psql_one_transaction_file_as_one_message(cluster, oracle, direct, proxied):
    """A migration sends a whole file, comments first, as one Query."""
    text = (
        "-- a migration\n/* in one message */\nBEGIN;\nUPDATE jobs SET state = 'x';\n"
        "INSERT INTO kudos_ledger (user_id, amount, note) VALUES (1, 1, 'migrated');\nCOMMIT;\n"
    )
    drivers.compare(cluster, oracle, direct, proxied, psql("-c", text), at_least=1)
