"""How several rounds become one figure."""

import statistics


def median(values):
    return statistics.median(values)


def paired_ratio(values, bases):
    """The median of the ratios within each round.

    Both values of a round were taken within seconds of each other, so a machine that changes over minutes
    moves neither. It is steadier than the ratio of two medians.
    """
    return statistics.median(value / base for value, base in zip(values, bases, strict=True))


def paired_difference(values, bases):
    """The median of the differences within each round, for the same reason."""
    return statistics.median(value - base for value, base in zip(values, bases, strict=True))
