"""From the statistics of all permutations to a p-value and a critical value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.samples import Samples
from tellapart.errors import warn_caller
from tellapart.permutation.design import least_designed_pvalue
from tellapart.permutation.draws import least_binned_pvalue


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


def beyond_rounding(statistics: FloatArray, rounding: float) -> FloatArray:
    """Return a statistic of all permutations: 0 for all where it varies by rounding alone.

    `rounding` is what that of its terms may amount to. Ties are judged by the size of the
    statistic, and that may be nothing else.
    """
    return statistics if np.ptp(statistics) > rounding else np.zeros_like(statistics)


# Several tests at once: p-values adjusted so that false alarms stay rare in the whole family.


def holm(pvalues: Sequence[float], n_tests: int | None = None) -> FloatArray:
    """Return Holm's adjusted p-values, p̃_(i) = max_{j ≤ i} min(1, (m − j + 1) p_(j)).

    Rejecting where p̃ ≤ α makes any false rejection at all have a chance of at most α, however
    the tests depend on each other, provided each p-value is valid by itself.

    Parameters
    ----------
    pvalues : sequence of float
        One p-value per test, in any order.
    n_tests : int or None
        m, if more tests were planned than gave a p-value; the others count as p = 1.

    Returns
    -------
    array
        The adjusted p-values, in the order of `pvalues`.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.02]).tolist()
    [0.03, 0.04, 0.04]
    """
    p = np.asarray(pvalues, dtype=np.float64)
    m = p.size if n_tests is None else n_tests
    order = np.argsort(p, kind="stable")
    factors = m - np.arange(p.size)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * p[order]), 1.0)
    return adjusted


def benjamini_hochberg(
    pvalues: Sequence[float] | FloatArray, n_tests: int | None = None
) -> FloatArray:
    """Return Benjamini and Hochberg's q-values, q_(i) = min_{j ≥ i} min(1, m p_(j)/j).

    Rejecting where q ≤ α keeps the expected share of false rejections among all rejections at most
    α, provided each p-value is valid by itself and they are independent or positively dependent
    (PRDS).

    Parameters
    ----------
    pvalues : sequence of float
        One p-value per test, in any order.
    n_tests : int or None
        m, if more tests were planned than gave a p-value; the others count as p = 1.

    Returns
    -------
    array
        The q-values, in the order of `pvalues`.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.02]).tolist()
    [0.03, 0.04, 0.03]
    """
    p = np.asarray(pvalues, dtype=np.float64)
    m = p.size if n_tests is None else n_tests
    order = np.argsort(p, kind="stable")
    raised = p[order] * m / np.arange(1, p.size + 1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.minimum.accumulate(raised[::-1])[::-1], 1.0)
    return adjusted


# Which p-values few rows can give, and what would help where none of them is small enough.


# Rows to add to each sample before giving up: far more than any level asks for.
MOST_ADDED = 1000


def attainable_pvalue(samples: Samples, n_permutations: int, *, symmetric: bool = True) -> float:
    """Return the smallest p-value that permutations of the samples' labels can give.

    `symmetric` says whether swapping the samples leaves the statistic as it is.
    """
    if samples.design is not None:
        return least_designed_pvalue(samples.design, n_permutations, symmetric)
    n_x, n_y = samples.n_values
    least = least_binned_pvalue(n_x, n_y, n_permutations)
    if symmetric or n_x != n_y:
        return least
    return max(least / 2, 1 / (n_permutations + 1))


def warn_of_few_permutations(
    samples: Samples,
    n_permutations: int,
    alpha: float,
    *,
    symmetric: bool = True,
    held_out: bool = False,
    remedy: str = "",
) -> None:
    """Warn where no p-value can reach the level, and say what would help.

    Parameters
    ----------
    samples : Samples
        The rows whose labels are permuted.
    symmetric : bool
        Whether swapping the samples leaves the statistic as it is.
    held_out : bool
        Whether the rows are those held out by a split.
    remedy : str
        What else would help, after "or".
    """
    least = attainable_pvalue(samples, n_permutations, symmetric=symmetric)
    if least <= alpha:
        return
    never = f"no p-value can fall below {least:.3g}, so alpha = {alpha:g} is never reached"
    level = f"an alpha of at least {rounded_up(least):g}"
    design = samples.design
    if design is not None:
        warn_caller(
            f"the design ({design.describe()}) has so few permutations that {never}: use more "
            f"{design.units_name} or {level}"
        )
        return
    n_x, n_y = samples.n_values
    enough = rows_for_level(n_x, n_y, n_permutations, alpha)
    rows = "held-out rows" if held_out else "rows"
    ways = ["rows" + (f" ({enough[0]} and {enough[1]} {rows} would do)" if enough else "")]
    if held_out:
        ways.append("a greater test_size")
    ways.append(level)
    if remedy:
        ways.append(remedy)
    warn_caller(
        f"{n_x} and {n_y} {rows} have so few permutations that {never}: use more "
        f"{', '.join(ways[:-1])} or {ways[-1]}"
    )


def rows_for_level(n_x: int, n_y: int, n_permutations: int, alpha: float) -> tuple[int, int] | None:
    """Return the sizes at which some p-value reaches the level, with as many rows added to each.

    >>> rows_for_level(2, 2, 999, 0.05), rows_for_level(5, 5, 999, 0.001)
    ((4, 4), (7, 7))
    """
    for added in range(MOST_ADDED):
        if least_binned_pvalue(n_x + added, n_y + added, n_permutations) <= alpha:
            return n_x + added, n_y + added
    return None


def rounded_up(number: float) -> float:
    """Return a number in (0, 1) rounded up to two digits that count.

    >>> rounded_up(1 / 3), rounded_up(2 / 252), rounded_up(0.1)
    (0.34, 0.008, 0.1)
    """
    digits = 1 - math.floor(math.log10(number))
    # Up, but not for an error of rounding: 0.1 is 10 hundredths.
    scale = 10.0**digits
    return math.ceil(round(number * scale, 6)) / scale
