"""Where a p-value comes from, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tellapart.testing.story import list_families
from tellapart.text import safe

if TYPE_CHECKING:
    from tellapart.testing.result import TestResult


def describe_evidence(result: TestResult) -> list[str]:
    """Return lines that say what was compared with what, on which rows."""
    split, (x, y) = any(result.n_train), map(safe, result.labels)
    count = result.null_distribution.size
    rows = "the held-out rows" if split else "all rows"
    if result.scan is not None and result.scan.rows_per_bin > 1:
        rows = f"all rows, in bins of {result.scan.rows_per_bin}"
    how = f"all {count} permutations of {rows}"
    if not result.exact:
        how = f"{count} random permutations of {rows}"
    if count == 0:
        how = "its distribution under H₀"
    used = "held out" if split else "used"
    lines = [
        f"Statistic ({result.statistic_name}): {result.statistic:.6g}, "
        f"critical value {result.threshold:.6g}, from {how}.",
        f"Rows {used} for the p-value: {result.n_test[0]} of {x}, {result.n_test[1]} of {y}.",
    ]
    if split:
        lines.append(
            f"Rows used to choose the variables: {result.n_train[0]} of {x}, "
            f"{result.n_train[1]} of {y}."
        )
    if result.scan is not None:
        lines += list_families(result.scan)
    return lines
