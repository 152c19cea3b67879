"""Columns of two answers, of which one says yes: people read the share of "yes", not of "no"."""

from __future__ import annotations

from collections.abc import Sequence

# No and yes, in small letters.
PAIRS = (
    ("false", "true"),
    ("f", "t"),
    ("0", "1"),
    ("no", "yes"),
    ("n", "y"),
    ("off", "on"),
    ("absent", "present"),
    ("negative", "positive"),
)


def place_of_yes(labels: Sequence[str]) -> int | None:
    """Return which of two labels says yes; None where they are no such pair.

    >>> place_of_yes(["False", "True"]), place_of_yes(["Y", "N"]), place_of_yes(["male", "female"])
    (1, 0, None)
    """
    lower = [label.strip().lower() for label in labels]
    for no, yes in PAIRS:
        if sorted(lower) == sorted((no, yes)):
            return lower.index(yes)
    return None
