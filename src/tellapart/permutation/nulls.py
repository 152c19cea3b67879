"""From the statistics of all permutations to a p-value and a critical value."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray


@dataclass(frozen=True)
class PermutationNull:
    """The observed statistic, its null distribution and what follows from them.

    Attributes
    ----------
    statistic : float
        MMD²_u(z) of the true labels.
    null_distribution : array
        The statistic of each permutation; the true labels are among them only if `exact`.
    pvalue : float
        (1 + #{T_i ≥ T})/(N_p + 1), or #{T_i ≥ T}/count over all permutations if `exact`.
    threshold : float
        The critical value: `pvalue <= alpha` exactly when `statistic > threshold`;
        infinite where no statistic could reach `alpha`.
    exact : bool
        Whether every distinct permutation was enumerated.
    n_permutations : int
        Number of permutations in `null_distribution`.
    rows_per_bin : int
        Rows whose labels were permuted together: 1 where rows are few.
    note : str
        How the statistic was made cheaper for large samples; empty where it was not.
    """

    statistic: float
    null_distribution: FloatArray
    pvalue: float
    threshold: float
    exact: bool
    n_permutations: int
    rows_per_bin: int = 1
    note: str = ""


def null_of(
    statistics: FloatArray,
    tolerance: float,
    alpha: float,
    *,
    exact: bool,
    rows_per_bin: int = 1,
    note: str = "",
) -> PermutationNull:
    """Return p-value and threshold; `statistics[0]` is the observed one.

    Both compare T with T_i + tolerance, the same sum in the same order, so that
    p ≤ α ⇔ T > threshold holds to the last bit.
    """
    observed = float(statistics[0])
    null = statistics if exact else statistics[1:]
    count = statistics.shape[0]
    at_least = int(np.count_nonzero(statistics + tolerance >= observed))
    # p ≤ α allows `allowed` of the `count` statistics, the observed one among them, at or
    # above T. So the largest `allowed` of all, or `allowed` − 1 of the others, may lie there.
    allowed = _largest_count(count, alpha)
    rank = allowed + 1 if exact else allowed
    threshold = math.inf if rank == 0 else float(np.sort(null)[-rank]) + tolerance
    return PermutationNull(
        statistic=observed,
        null_distribution=null,
        pvalue=at_least / count,
        threshold=threshold,
        exact=exact,
        n_permutations=int(null.shape[0]),
        rows_per_bin=rows_per_bin,
        note=note,
    )


def _largest_count(count: int, alpha: float) -> int:
    """Return the largest k < count with k/count ≤ alpha, in the arithmetic of the p-value."""
    k = min(math.floor(alpha * count) + 1, count - 1)
    while k > 0 and k / count > alpha:
        k -= 1
    return k
