"""The start-up packet is relayed as it came: any parameters, options, versions. Encryption is answered N."""

import pytest

from support import wire

NO_SERVERS_VERSION = 0x0003270F   # 3.9999: every server offers its newest instead
WHO = "SELECT current_database(), session_user, current_setting('application_name')"


def start(endpoint, pairs, version=wire.PROTOCOL_3_0, then=WHO):
    """Everything the server says to a start-up packet and to one query behind it, without process ids."""
    with wire.WireClient(endpoint, start=False) as client:
        client.send(wire.startup_pairs(pairs, version))
        try:
            messages = client.read_until("ZE")
            if messages[-1].kind == "Z":
                messages += client.simple(then)
        except wire.ConnectionClosed as closed:
            messages = closed.messages
        return [m for m in messages if m.kind != "K"]


USER = ("user", "app")
DATABASE = ("database", "horde")


PACKETS = [
    [USER, DATABASE],
    [DATABASE, ("application_name", "first"), USER],
    [USER, DATABASE, ("application_name", "once"), ("application_name", "twice")],
    [("user", "postgres")],
    [USER],
    [DATABASE],
    [],
    [USER, DATABASE, ("no_such_setting", "1")],
    [USER, DATABASE, ("options", "-c geqo=off --statement_timeout=5s -cwork_mem=3MB")],
    [USER, DATABASE, ("options", "-c application_name=with\\ blank -c search_path=public")],
    [USER, DATABASE, ("options", "-c no_such=1")],
    [USER, DATABASE, ("options", "-c search_path=nowhere,public")],
    [USER, DATABASE, ("client_encoding", "LATIN1"), ("DateStyle", "German")],
    [USER, DATABASE, ("application_name", "x" * 9000)],
    [USER, DATABASE, ("replication", "no")],
    [USER, DATABASE, ("replication", "perhaps")],
    [USER, DATABASE, ("extra_float_digits", "2"), ("TimeZone", "Europe/Berlin")],
    [USER, DATABASE, ("default_transaction_isolation", "repeatable read")],
    [("user", ""), DATABASE],
    [USER, ("database", "")],
]


@pytest.mark.parametrize("pairs", PACKETS)
def test_parameters_are_relayed_as_they_came(direct, proxied, pairs):
    assert start(proxied, pairs) == start(direct, pairs)


VERSIONS = [0x00030000, 0x00030001, 0x00030002, NO_SERVERS_VERSION, 0x00020000, 0x00040000, 0x00010001]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_server_answers_to_the_version(direct, proxied, version):
    pairs = [USER, DATABASE]
    assert start(proxied, pairs, version) == start(direct, pairs, version)


@pytest.mark.parametrize("version", [wire.PROTOCOL_3_0, NO_SERVERS_VERSION])
def test_the_server_answers_to_protocol_options(direct, proxied, version):
    pairs = [USER, DATABASE, ("_pq_.test_protocol_negotiation", ""), ("_pq_.another", "1")]
    answer = start(proxied, pairs, version)
    assert answer == start(direct, pairs, version)
    assert [m.kind for m in answer].count("v") == 1
    assert b"_pq_.test_protocol_negotiation" in answer[0].body


@pytest.mark.parametrize(
    "requests",
    [
        [wire.SSL_REQUEST],
        [wire.GSSENC_REQUEST],
        [wire.GSSENC_REQUEST, wire.SSL_REQUEST],
        [wire.SSL_REQUEST, wire.GSSENC_REQUEST],
    ],
)
def test_requests_for_encryption_are_answered_no(proxied, requests):
    with wire.WireClient(proxied, start=False) as client:
        for request in requests:
            client.send(request)
            assert client.read_byte() == b"N"
        client.send(wire.startup(user="app", database="horde"))
        assert client.read_until_ready()[-1].body == b"I"
        assert client.rows(WHO)[0][:2] == ["horde", "app"]


def test_a_request_for_encryption_may_come_in_pieces(proxied):
    with wire.WireClient(proxied, start=False) as client:
        client.send(wire.SSL_REQUEST[:4])
        client.send(wire.SSL_REQUEST[4:])
        assert client.read_byte() == b"N"


@pytest.mark.parametrize("request_", [wire.SSL_REQUEST, wire.GSSENC_REQUEST])
def test_nothing_may_be_stuffed_behind_a_request_for_encryption(proxied, request_):
    """What arrives in the same write could have been injected: it must never become a session."""
    with wire.WireClient(proxied, start=False) as client:
        client.send(request_, wire.startup(user="app", database="horde"))
        assert client.read_byte() == b"N"
        messages = client.read_to_end()
        assert [m.kind for m in messages] in ([], ["E"])
        assert all(m.fields()["C"] == "08P01" for m in messages)


def test_the_packet_may_come_byte_by_byte(direct, proxied):
    def slowly(endpoint):
        with wire.WireClient(endpoint, start=False) as client:
            packet = wire.startup_pairs([USER, DATABASE, ("application_name", "slow")])
            for offset in range(len(packet)):
                client.send(packet[offset : offset + 1])
            return [m for m in client.read_until_ready() if m.kind != "K"] + client.simple(WHO)

    assert slowly(proxied) == slowly(direct)


def test_the_first_query_may_come_with_the_packet(direct, proxied, oracle):
    def eagerly(endpoint):
        with wire.WireClient(endpoint, start=False) as client:
            client.send(wire.startup_pairs([USER, DATABASE]), wire.query("SELECT count(*) FROM kudos_ledger"))
            return [m for m in client.read_until_ready(2) if m.kind != "K"]

    expected = eagerly(direct)
    oracle.mark()
    assert eagerly(proxied) == expected
    oracle.assert_clean()


def test_a_default_level_from_the_packet_is_known_to_the_gate(cluster, proxied, oracle):
    """The server does not report default_transaction_isolation, and an autocommit touch must still be pinned
    before its snapshot."""
    with wire.WireClient(proxied, options="-c default_transaction_isolation=repeatable\\ read") as client:
        for _ in range(2):
            assert client.rows("SELECT count(*) FROM kudos_ledger") == [["20"]]
            client.simple("INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 0)")
            client.simple("DELETE FROM kudos_ledger WHERE amount = 0 AND event_id > 20")
    oracle.assert_clean(at_least=6)


@pytest.mark.parametrize("database", ["postgres", "template1"])
def test_other_databases_are_relayed_untouched(cluster, proxied, sidecar, database):
    pins = sidecar.metric("ledgergate_pins_total")
    with wire.WireClient(proxied.replace(dbname=database, user="postgres")) as client:
        messages = client.simple("SELECT 'kudos_ledger'; BEGIN; SELECT 'kudos_ledger'; COMMIT")
        assert wire.kinds(messages)[-1] == "Z:I"
        client.simple("DO $$ BEGIN PERFORM 1; END $$")
    assert sidecar.metric("ledgergate_pins_total") == pins


def test_each_log_in_negotiates_its_version_once(direct, proxied):
    pairs = [USER, DATABASE]
    for user in ("app", "loader"):
        answer = start(proxied, [("user", user), DATABASE], NO_SERVERS_VERSION)
        assert [m.kind for m in answer].count("v") == 1
    assert start(proxied, pairs, NO_SERVERS_VERSION) == start(direct, pairs, NO_SERVERS_VERSION)
