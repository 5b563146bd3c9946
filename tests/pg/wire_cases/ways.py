"""The three ways through a sidecar: what each changes in the configuration of the tests."""

# Without the closure: the triggers of the ledger's tables lead to the control row, which is always gated.
NOTHING_MATCHES = {
    "gate": {
        "tables": [{"name": "a_table_that_nobody_has"}],
        "functions": [],
        "pin_before_locks": None,
        "catalog": {"closure": False},
    }
}
CHANGES = {"relaying": {"gate": {"mode": "off"}}, "unmatched": NOTHING_MATCHES, "gated": {}}
