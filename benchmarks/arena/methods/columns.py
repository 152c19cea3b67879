"""One test for each column, with Holm's correction.

Holm rejects some column just when the smallest p-value times the number of columns is at most
the level; that product is the p-value of "no column differs". Categories are tested by Pearson's
χ² of the table of levels and samples, as users of such tools do.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy import stats

from arena.methods.base import Method, Verdict, by_pvalue
from arena.table import FloatArray, Table

NumericTest = Callable[[FloatArray, FloatArray], FloatArray]
"""The p-value of each column of two tables of numbers."""


def holm(test: NumericTest, X: Table, Y: Table) -> Verdict:
    """Return the verdict of the smallest of the columns' p-values after correction."""
    pvalues = _pvalues(test, X, Y)
    # A constant column has no p-value, and nothing to tell; it was looked at and is counted.
    smallest = np.nanmin(pvalues) if np.isfinite(pvalues).any() else 1.0
    return by_pvalue(min(1.0, float(smallest) * len(pvalues)))


def _pvalues(test: NumericTest, X: Table, Y: Table) -> FloatArray:
    if not isinstance(X, pd.DataFrame) or not isinstance(Y, pd.DataFrame):
        return test(np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64))
    numbers = list(X.select_dtypes("number").columns)
    found = [_chi_square(X[name], Y[name]) for name in X.columns if name not in numbers]
    if numbers:
        found += list(test(X[numbers].to_numpy(dtype=float), Y[numbers].to_numpy(dtype=float)))
    return np.asarray(found)


def _chi_square(x: pd.Series, y: pd.Series) -> float:
    sample = np.repeat(["X", "Y"], [len(x), len(y)])
    counts = pd.crosstab(pd.concat([x, y]).to_numpy(), sample).to_numpy()
    return float(stats.chi2_contingency(counts).pvalue) if len(counts) > 1 else 1.0


def _kolmogorov_smirnov(X: FloatArray, Y: FloatArray) -> FloatArray:
    return np.asarray([stats.ks_2samp(x, y).pvalue for x, y in zip(X.T, Y.T, strict=True)])


def _mann_whitney(X: FloatArray, Y: FloatArray) -> FloatArray:
    return np.asarray(stats.mannwhitneyu(X, Y, axis=0).pvalue)


def _welch(X: FloatArray, Y: FloatArray) -> FloatArray:
    return np.asarray(stats.ttest_ind(X, Y, axis=0, equal_var=False).pvalue)


def ks_holm(X: Table, Y: Table, seed: int) -> Verdict:  # noqa: ARG001
    """Test each column by Kolmogorov and Smirnov."""
    return holm(_kolmogorov_smirnov, X, Y)


def mann_whitney_holm(X: Table, Y: Table, seed: int) -> Verdict:  # noqa: ARG001
    """Test each column by Mann and Whitney."""
    return holm(_mann_whitney, X, Y)


def welch_holm(X: Table, Y: Table, seed: int) -> Verdict:  # noqa: ARG001
    """Test each column by Welch's t."""
    return holm(_welch, X, Y)


METHODS = (
    Method("columns-ks", "scipy.stats.ks_2samp for each column, Holm", ks_holm),
    Method("columns-mw", "scipy.stats.mannwhitneyu for each column, Holm", mann_whitney_holm),
    Method("columns-t", "Welch's t for each column, Holm", welch_holm),
)
