"""Every variable tested by itself, and p-values adjusted for how many there are.

Statistics of all variables under one shared set of permutations form a matrix T, one row per
permutation, the true labels first. A variable's own p-value compares the entries of its column; the
max-T method of Westfall and Young compares the largest entries of the rows, which keeps the
dependence between variables and needs no more permutations for more variables.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.stats import ks_2samp

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.by_column import map_columns
from tellapart.data.samples import Samples
from tellapart.permutation.columns import TIE, ColumnStatistic, by_rows

# Pairs of rows up to which the distribution of the Kolmogorov–Smirnov distance is exact: beyond,
# it takes long to count and the limit is as good.
EXACT_PAIRS = 1_000_000


def ks_tests(samples: Samples, columns: IntArray, n_jobs: int) -> tuple[FloatArray, FloatArray]:
    """Return the Kolmogorov–Smirnov distance of each column, and its p-value.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.arange(6.0)[:, None], np.arange(6.0)[:, None] + 10
    >>> distance, pvalue = ks_tests(Samples(x, y, ("u",), ("numeric",)), np.array([0]), 1)
    >>> float(distance[0]), round(float(pvalue[0]), 6)
    (1.0, 0.002165)
    """
    how: Literal["exact", "asymp"]
    how = "exact" if samples.n_x * samples.n_y <= EXACT_PAIRS else "asymp"

    def of_column(s: int, x: FloatArray, y: FloatArray) -> tuple[float, float]:  # noqa: ARG001
        result = ks_2samp(x, y, method=how)
        return float(result.statistic), float(result.pvalue)

    pairs = map_columns(of_column, samples, columns, n_jobs)
    distances, pvalues = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    return distances, np.clip(pvalues, 0.0, 1.0)


def ks_statistic(column: int, values: FloatArray, weights: FloatArray) -> FloatArray:  # noqa: ARG001
    """Return max_v |F_x(v) − F_y(v)| of one column for each row of weights."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    # Between tied values neither distribution function has arrived yet.
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    steps = weights[:, order]
    np.cumsum(steps, axis=1, out=steps)
    return np.asarray(np.abs(steps[:, ends]).max(axis=1))


def total_variation(column: int, values: FloatArray, weights: FloatArray) -> FloatArray:  # noqa: ARG001
    """Return max_A |P_x(A) − P_y(A)| = ½ Σ_v |p_x(v) − p_y(v)| for each row of weights.

    The Kolmogorov–Smirnov distance of values without an order: A is any set of them and not only
    those up to some value. With two values both are the same.
    """
    order = np.argsort(values, kind="stable")
    _, starts = np.unique(values[order], return_index=True)
    differences = np.add.reduceat(weights[:, order], starts, axis=1)
    return np.asarray(np.abs(differences).sum(axis=1) / 2)


def distance_statistic(unordered: IntArray) -> ColumnStatistic:
    """Return the distance of one column under weights, by whether its values have an order."""
    columns = frozenset(unordered.tolist())

    def distance_of(column: int, values: FloatArray, weights: FloatArray) -> FloatArray:
        distance = total_variation if column in columns else ks_statistic
        return distance(column, values, weights)

    return by_rows(distance_of)


def unordered_columns(samples: Samples) -> IntArray:
    """Return the columns of three or more categories: their codes have no order."""
    levels = [len(samples.categories.get(name, ())) for name in samples.names]
    return np.flatnonzero(np.array(levels) > 2)


def own_pvalues(standardised: FloatArray) -> FloatArray:
    """Return #{T_i ≥ T}/count of each column, the true labels counted: its unadjusted p-value."""
    return np.asarray((standardised + TIE >= standardised[0]).mean(axis=0))


def bonferroni(pvalues: FloatArray) -> FloatArray:
    """Return min(1, D p_s).

    >>> bonferroni(np.array([0.01, 0.04, 0.5])).tolist()
    [0.03, 0.12, 1.0]
    """
    return np.asarray(np.minimum(pvalues * pvalues.shape[0], 1.0))


def max_t(standardised: FloatArray) -> FloatArray:
    """Return the step-down max-T adjusted p-values of Westfall and Young.

    With the variables in order of their observed statistics, the j-th is compared with the
    largest statistic of the j-th and all later ones under each permutation.
    """
    order = np.argsort(-standardised[0], kind="stable")
    ordered = standardised[:, order]
    largest = np.maximum.accumulate(ordered[:, ::-1], axis=1)[:, ::-1]
    counts = (largest + TIE >= ordered[0]).mean(axis=0)
    adjusted = np.empty(order.shape[0])
    adjusted[order] = np.maximum.accumulate(counts)
    return adjusted
