"""Outputs that cannot be the same as directly where something is pinned, each with the reason."""

SHOWS_PINS = "it lists every advisory lock in pg_locks, and the pins of tests beside it are such locks"

EXPLAINED = {
    ("core", "gated", "advisory_lock"): SHOWS_PINS,
    ("core", "heavily_gated", "advisory_lock"): SHOWS_PINS,
}
