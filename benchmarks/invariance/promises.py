"""What is promised of each call under each change, and the judge of whether it was kept.

The table of docs/developers/invariance.md is made from this one, and both the tests and the script
judge by it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from invariance.calls import CALLS, Answer

BITS, ROUNDING, CHANCE = "exact", "rounding", "chance"
NONE = "–"
WAYS = (
    "rows",
    "columns",
    "swapped",
    "powers of two",
    "factors",
    "shifts",
    "forms",
    "threads",
    "chunks",
)
"""The changes, in the order of the columns of `PROMISES`."""

_SINGLE = {"two_sample_test", "select_variables", "compare_groups", "compare_to_reference"}
"""Calls by evidence, which is summed in single precision."""


def _row(*grades: str) -> dict[str, str]:
    return dict(zip(WAYS, grades, strict=True))


# Rows from chunks lie column by column in memory: sums over them are rounded in another order.
_SEARCH = _row(BITS, ROUNDING, BITS, BITS, ROUNDING, ROUNDING, BITS, BITS, ROUNDING)
_EXACT = _row(ROUNDING, ROUNDING, ROUNDING, BITS, ROUNDING, ROUNDING, BITS, BITS, BITS)
PROMISES: dict[str, Mapping[str, str]] = dict(
    zip(
        CALLS,
        (
            _row(CHANCE, CHANCE, CHANCE, BITS, ROUNDING, ROUNDING, BITS, BITS, BITS),
            _EXACT,
            _EXACT,
            _EXACT,
            _EXACT,
            _SEARCH,
            _SEARCH,
            _row(ROUNDING, ROUNDING, ROUNDING, BITS, ROUNDING, ROUNDING, BITS, BITS, NONE),
            _row(CHANCE, CHANCE, NONE, BITS, ROUNDING, ROUNDING, BITS, BITS, NONE),
            _row(CHANCE, CHANCE, NONE, BITS, ROUNDING, ROUNDING, BITS, BITS, NONE),
        ),
        strict=True,
    )
)

PERMUTATIONS = 999
# Two p-values of the same rows: in standard errors of the difference of two shares of so many
# permutations, and in permutations. A scan learns the tails of every statistic from the same
# permutations, so that its p-value moves up to three times as much from seed to seed.
_ERRORS, _STEPS = 12.0, 3
# What one call finds as sure as this another finds too.
_SURE = 0.002
# A proof ends where the gap that was asked for is reached, in whichever order it went.
_GAP = 1e-4


def broken(call: str, grade: str, one: Answer, other: Answer) -> str:
    """Return in what two answers differ although the grade says they do not; empty if in nothing.

    "Up to rounding" is the same choice, the same findings and p-values, numbers to nine digits and
    weights to four: searches end a little before the top, where weights move by the root of what
    the value does; numbers to four digits and weights to three where sums are in single precision.
    Bounds are the same to the gap asked for.
    "Up to chance" is the same choice, p-values as two draws of permutations have them, and the
    findings with p ≤ 0.002.
    """
    if grade == BITS:
        return "" if one == other else "bits"
    if one.choice != other.choice:
        return "choice"
    numbers, weights = (1e-4, 1e-3) if call in _SINGLE else (1e-9, 1e-4)
    if any(abs(one.weights[name] - other.weights[name]) > weights for name in one.weights):
        return "weights"
    drawn = ("statistic", "threshold") if grade == CHANCE else ()
    for name, number in one.numbers.items():
        share = max(numbers, _GAP) if name.endswith("bound") else numbers
        if not name.endswith(drawn or ("\n",)) and not _close(number, other.numbers[name], share):
            return name
    if grade == ROUNDING:
        if one.pvalues != other.pvalues:
            return "p-value"
        return "" if one.findings.keys() == other.findings.keys() else "findings"
    if any(map(_further_than_chance, one.pvalues, other.pvalues)):
        return "p-value"
    sure = [{what for what, p in a.findings.items() if p <= _SURE} for a in (one, other)]
    lost = sure[0] - other.findings.keys() | sure[1] - one.findings.keys()
    return "findings" if lost else ""


def _close(one: float | None, other: float | None, share: float) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=share, abs_tol=1e-12)


def _further_than_chance(one: float, other: float) -> bool:
    middle = (one + other) / 2
    error = math.sqrt(2 * middle * (1 - middle) / PERMUTATIONS)
    return abs(one - other) > _ERRORS * error + _STEPS / (PERMUTATIONS + 1)


def table_of_promises() -> str:
    """Return the promises as a Markdown table."""
    lines = [f"| call | {' | '.join(WAYS)} |", "|---" * (len(WAYS) + 1) + "|"]
    lines += [
        f"| `{call}` | {' | '.join(grades[way] for way in WAYS)} |"
        for call, grades in PROMISES.items()
    ]
    return "\n".join(lines)
