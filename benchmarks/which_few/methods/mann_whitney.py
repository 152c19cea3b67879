"""The columns whose rank sums differ most."""

from __future__ import annotations

from scipy.stats import mannwhitneyu

from which_few.methods.base import method
from which_few.table import IntArray, Table, encode


@method("mann-whitney", "scipy.stats.mannwhitneyu, the d smallest p-values")
def select(X: Table, Y: Table, d: int, seed: int) -> IntArray:  # noqa: ARG001
    """Select by Mann and Whitney's test of each column."""
    data = encode(X, Y)
    first, second = data.values[data.labels == 0], data.values[data.labels == 1]
    found = mannwhitneyu(first, second, axis=0, method="asymptotic")
    return data.best(-found.pvalue, d)
