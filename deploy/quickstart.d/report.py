"""The end of the demonstration: the table, and the check of the balances."""

from cluster import SUPERUSER
from screen import duration


def show(screen, cluster, rows):
    """Prints both tables; True when every line of both holds."""
    screen.heading("Result")
    screen.table(
        ("transition", "transactions", "errors", "result", "took", "max wait"),
        [(row.title, f"{row.tally.transactions:,}", str(row.tally.errors), row.result,
          duration(row.outcome.seconds), duration(row.tally.longest_wait)) for row in rows],
        right=(1, 2, 4, 5))
    screen.prose("""took: the transition, from its first statement to its commit or cancellation.
                 max wait: the longest that any writer waited for any one statement.""")
    screen.heading("Is every posting in a balance exactly once?")
    checks = cluster.run_file(SUPERUSER, "check.sql", posted=sum(row.tally.postings for row in rows))
    screen.table(
        ("check", "expected", "found", ""),
        [(*check, "ok" if check[1] == check[2] else "WRONG") for check in checks],
        right=(1, 2))
    screen.prose(folded_by(cluster))
    good = all(row.holds for row in rows) and all(expected == found for _, expected, found in checks)
    screen.line()
    if good:
        screen.verdict(True, "The transition that starves without the gate is let in with it, and no posting "
                             "is lost or counted twice.")
    else:
        screen.verdict(False, "Not everything is as it should be: see the lines marked !!, errors and WRONG.")
    return good


def folded_by(cluster):
    connection = cluster.connect(SUPERUSER)
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT applier, folded FROM kudos_ledger_applier_state")
            folded = dict(cursor.fetchall())
            cursor.execute("SELECT count(*) FROM kudos_ledger")
            postings = cursor.fetchone()[0]
    finally:
        connection.close()
    inline = postings - sum(folded.values())
    return (f"Of {postings:,} postings, {inline:,} went into a balance with their own transaction (shadow), "
            f"{folded['projector']:,} by the projector (ledger), and {folded['final fold']:,} by the final "
            "folds of the transitions back to shadow.")
