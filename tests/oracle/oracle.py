"""The checker: reads the records that oracle.sql left in the server log, and names every violation.

Every touch must have been pinned, still pinned at commit, all touches of one transaction must have seen
one mode and that mode must have been the one in force, and nobody else may have touched anything between
the grant and the commit of a transition. What the records cannot show is said at the top of oracle.sql.
"""

import collections
import dataclasses
import json

TOUCH_KINDS = {"write", "read", "lock", "commit", "read_control", "lock_control"}
SNAPSHOT_LEVELS = {"repeatable read", "serializable"}


@dataclasses.dataclass(frozen=True)
class Record:
    at: float
    kind: str
    object: str
    new_mode: str
    pid: int
    transaction: str
    xid: str
    mode: str
    shared: bool
    exclusive: bool
    other_exclusive: bool
    isolation: str
    read_only: bool
    user: str
    application: str
    statement: str

    @property
    def is_exempt(self):
        """READ ONLY with a snapshot that fixes the mode: such a transaction is never pinned."""
        return self.read_only and self.isolation in SNAPSHOT_LEVELS


@dataclasses.dataclass(frozen=True)
class Violation:
    kind: str
    record: Record
    detail: str = ""

    def __str__(self):
        r = self.record
        where = f"{r.kind} of {r.object} by pid {r.pid} ({r.transaction})"
        return f"{self.kind}: {where} {self.detail}: {r.statement}"


class Oracle:
    """Records of `cluster` since the last `mark()`. Records of `ignored_users` are not looked at (the test
    itself prepares tables as the superuser); `operators` may read the control row without a pin."""

    def __init__(self, cluster, ignored_users=("postgres",), operators=("gate_operator",)):
        self.cluster = cluster
        self.ignored_users = set(ignored_users)
        self.operators = set(operators)
        self.mark()

    def mark(self):
        """Forgets everything so far."""
        self.offset = self.cluster.log_file.stat().st_size
        rows = self.cluster.execute("SELECT mode FROM kudos_ledger_control WHERE id = 1")
        self.first_mode = rows[0][0] if rows else "shadow"

    def records(self):
        """Each backend writes its line itself, and before it goes on: nothing has to be waited for."""
        with open(self.cluster.log_file, "rb") as log:
            log.seek(self.offset)
            text = log.read().decode("utf-8", "replace")
        records = []
        for line in text.splitlines():
            _, found, payload = line.partition("LOG:  oracle ")
            if found:
                values = json.loads(payload)
                values["at"] = float(values["at"])
                records.append(Record(**values))
        return sorted((r for r in records if r.user not in self.ignored_users), key=lambda r: r.at)

    def touches(self):
        return [r for r in self.records() if r.kind in TOUCH_KINDS and not self._is_operators_look(r)]

    def unbalanced(self):
        return self.cluster.execute("SELECT * FROM oracle.unbalanced")

    def commits(self, records):
        """The committed changes of the mode as [(commit time, transaction, mode)], in order of commit."""
        changes = {}
        for record in records:
            if record.kind == "changed" and record.xid:
                changes[record.xid] = record
        commits = []
        for xid, record in changes.items():
            rows = self.cluster.execute(
                "SELECT extract(epoch FROM pg_xact_commit_timestamp(%s::xid))"
                " WHERE pg_xact_status(%s::xid8) = 'committed'",
                parameters=(xid, xid),
            )
            if rows:
                commits.append((float(rows[0][0]), record.transaction, record.new_mode))
        return sorted(commits)

    def violations(self):
        records = self.records()
        commits = self.commits(records)
        exclusive_since = {}
        for record in records:
            if record.exclusive:
                exclusive_since.setdefault(record.transaction, record.at)
        found = []
        modes = collections.defaultdict(set)
        for record in records:
            found += self._violations_of(record, commits, exclusive_since)
            if (
                record.kind in TOUCH_KINDS
                and record.transaction not in exclusive_since
                and not self._is_operators_look(record)
            ):
                modes[record.transaction].add(record.mode)
                if len(modes[record.transaction]) == 2:
                    found.append(Violation("mixed modes", record, str(sorted(modes[record.transaction]))))
                    modes[record.transaction].add("reported")
        return found

    def _is_operators_look(self, record):
        return record.kind == "read_control" and record.user in self.operators

    def _violations_of(self, record, commits, exclusive_since):
        if record.kind in ("transition", "changed", "step"):
            if not record.exclusive:
                yield Violation("transition without the gate", record)
            return
        if record.kind not in TOUCH_KINDS or self._is_operators_look(record) or record.is_exempt:
            return
        if not record.shared and not record.exclusive:
            yield Violation("not pinned", record)
        if record.other_exclusive:
            yield Violation("touch while another holds the gate", record)
        if record.exclusive or record.transaction in exclusive_since:
            return
        for committed_at, transaction, _ in commits:
            since = exclusive_since.get(transaction)
            if since is not None and since <= record.at <= committed_at:
                yield Violation("touch between grant and commit", record, f"of {transaction}")
        in_force = self.first_mode
        for committed_at, _, mode in commits:
            if committed_at <= record.at:
                in_force = mode
        if record.mode is not None and record.mode != in_force:
            yield Violation("stale mode", record, f"saw {record.mode}, in force was {in_force}")

    def assert_clean(self, at_least=1):
        """No violation, and enough touches for that to mean something."""
        found = self.violations()
        assert not found, "\n".join(str(v) for v in found[:5])
        count = len(self.touches())
        assert count >= at_least, f"the oracle saw only {count} touches"

    def assert_violations(self, kind="not pinned"):
        """The control: without the proxy the same run must be caught."""
        kinds = {violation.kind for violation in self.violations()}
        assert kind in kinds, f"the oracle found no violation '{kind}', only {sorted(kinds)}"
