"""What a horde sends: the texts and transactions of clients that know nothing of the gate.

Simple queries with literals in the text, one statement each, as SQLAlchemy over psycopg2 sends them;
BEGIN comes by itself right before the first statement. The mode is pinned by a row lock, once per
transaction and often late, and the transaction keeps to the mode that it read there.
"""

APPLIER_KEY = 0x4B55444F
PAYER_NAMESPACE = 0x4B554452

CONTROL_ROW = (
    "SELECT kudos_ledger_control.id AS kudos_ledger_control_id, "
    "kudos_ledger_control.mode AS kudos_ledger_control_mode, "
    "kudos_ledger_control.changed_at AS kudos_ledger_control_changed_at \n"
    "FROM kudos_ledger_control \nWHERE kudos_ledger_control.id = 1 \n LIMIT 1 FOR ")
LEGACY_PIN = CONTROL_ROW + "KEY SHARE"
LEGACY_TRANSITION = CONTROL_ROW + "UPDATE"

READ_USER = ("SELECT users.id, users.username, users.kudos, users.evaluating_kudos \n"
             "FROM users \nWHERE users.id = %s")
PAYER_LOCK = f"SELECT pg_advisory_xact_lock({PAYER_NAMESPACE}, %s)"
POST = ("INSERT INTO kudos_ledger (event_id, entry_type, user_id, escrow, amount, applied) "
        "VALUES (%s, %s, %s, %s, %s, %s)")
RECORD = "INSERT INTO kudos_stat_events (user_id, action) VALUES (%s, %s)"
RESERVE = "INSERT INTO kudos_reservations (event_id, user_id, amount) VALUES (%s, %s, %s)"
RELEASE = "DELETE FROM kudos_reservations WHERE kudos_reservations.event_id = %s"
CREDIT = ("UPDATE users SET kudos=(users.kudos + %s), evaluating_kudos=(users.evaluating_kudos + %s) "
          "WHERE users.id = %s")
COUNT = ("UPDATE user_stats SET quantity=(user_stats.quantity + %s) "
         "WHERE user_stats.user_id = %s AND user_stats.action = 'postings'")

TRY_APPLIER = f"SELECT pg_try_advisory_xact_lock({APPLIER_KEY})"
TAKE_APPLIER = f"SELECT pg_advisory_xact_lock({APPLIER_KEY})"
UNFOLDED = ("SELECT kudos_ledger.id, kudos_ledger.user_id, kudos_ledger.escrow, kudos_ledger.amount \n"
            "FROM kudos_ledger \nWHERE NOT kudos_ledger.applied ORDER BY kudos_ledger.id \n LIMIT %s "
            "FOR UPDATE SKIP LOCKED")
LOCK_TARGETS = "SELECT users.id \nFROM users \nWHERE users.id IN %s ORDER BY users.id FOR UPDATE"
MARK_FOLDED = "UPDATE kudos_ledger SET applied=true WHERE kudos_ledger.id IN %s"
COUNT_FOLDED = ("UPDATE kudos_ledger_applier_state SET folded=(kudos_ledger_applier_state.folded + %s) "
                "WHERE kudos_ledger_applier_state.applier = %s")
SET_MODE = "UPDATE kudos_ledger_control SET mode=%s, changed_at=now() WHERE kudos_ledger_control.id = 1"


def pin(client):
    """The legacy pin. Returns the mode, which the caller keeps for the rest of its transaction."""
    return client.row(LEGACY_PIN)[1]


def settle(client, job):
    """A worker is paid for a finished job: the pin is the fourth message."""
    client.row(READ_USER, (job.payer,))
    client.row(READ_USER, (job.payee,))
    mode = pin(client)
    client.row(PAYER_LOCK, (job.payer,))
    post_both(client, job, mode, "settlement")
    client.run(RECORD, (job.payee, "fulfilment"))


def transfer(client, job):
    """A gift from user to user: the pin comes late, after the payer's lock and two inserts."""
    client.row(PAYER_LOCK, (job.payer,))
    client.row(READ_USER, (job.payer,))
    client.row(READ_USER, (job.payee,))
    client.run(RESERVE, (job.event, job.payer, job.amount))
    client.run(RECORD, (job.payer, "transfer"))
    mode = pin(client)
    post_both(client, job, mode, "transfer")
    client.run(RELEASE, (job.event,))


def post_both(client, job, mode, entry_type):
    """Debit and credit: in shadow at once in the balances, in ledger folded later by the projector."""
    inline = mode == "shadow"
    sides = sorted([(job.payer, -job.amount, False), (job.payee, job.amount, job.escrow)])
    for user, amount, escrow in sides:
        client.run(POST, (job.event, entry_type, user, escrow, amount, inline))
    client.think()
    if inline:
        for user, amount, escrow in sides:
            add_to_balance(client, user, [(escrow, amount)])


def add_to_balance(client, user, postings):
    kudos = sum(amount for escrow, amount in postings if not escrow)
    evaluating = sum(amount for escrow, amount in postings if escrow)
    client.run(CREDIT, (kudos, evaluating, user))
    client.run(COUNT, (len(postings), user))


def fold_cycle(client, applier, limit=500):
    """Folds up to `limit` postings, targets in id order; pins late. Returns how many there were."""
    rows = client.rows(UNFOLDED, (limit,))
    if not rows:
        return 0
    by_user = {}
    for _, user, escrow, amount in rows:
        by_user.setdefault(user, []).append((escrow, amount))
    client.rows(LOCK_TARGETS, (tuple(sorted(by_user)),))
    for user in sorted(by_user):
        add_to_balance(client, user, by_user[user])
    client.run(MARK_FOLDED, (tuple(row[0] for row in rows),))
    pin(client)
    client.run(COUNT_FOLDED, (len(rows), applier))
    return len(rows)


def project(client):
    """One cycle of the projector, which steps aside for a transition. True: it folded something."""
    return client.row(TRY_APPLIER)[0] and fold_cycle(client, "projector") > 0


def change_mode(client, mode):
    """The legacy transition: applier lock, control row, on the way to shadow the fold cycles, mode."""
    client.row(TAKE_APPLIER)
    if client.row(LEGACY_TRANSITION)[1] == mode:
        return
    if mode == "shadow":
        while fold_cycle(client, "final fold"):
            pass
    client.run(SET_MODE, (mode,))
