"""Bandwidths by the median heuristic, column by column, from the pooled sample.

τ_s = median |u_s − v_s| over all pairs of pooled rows, so the kernels see x_s / τ_s and do not
depend on the unit of measurement. Only the sorted pooled values enter: neither the order of
the rows nor the labels can change a bandwidth, which the permutation test relies on.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tellapart.arguments import check_choice
from tellapart.errors import InputError
from tellapart.samples import FloatArray, Samples

Rule = Literal["median", "paper"]
RULES: tuple[Rule, ...] = ("median", "paper")

# Pooled rows up to which the median is exact. Above it 2^16 evenly spaced order statistics stand
# in for the column; like a quadrature rule they err by about 1 / 2^16, far below the spread of
# the median itself, and unlike a random subsample they need no seed.
EXACT_ROWS = 65_536

# Below this 1/τ is no longer a finite number of full precision.
_SMALLEST_BANDWIDTH = 1e-300


def median_bandwidths(
    samples: Samples, rule: str = "median", *, n_jobs: int = 1
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the bandwidth of every column, and which columns never vary.

    τ_s = median |u_s − v_s| over the pairs of the pooled sample; where that is 0 (ties), the
    median of the positive distances. A constant column, and every categorical one, has τ_s = 1.

    Parameters
    ----------
    samples : Samples
        The two samples; their rows are pooled.
    rule : {"median", "paper"}
        "paper" is the literal rule of the paper, τ_s² = median distance, which changes with the
        unit of measurement; for reproduction only.
    n_jobs : int
        Threads over the columns.

    Returns
    -------
    bandwidths : array of shape (D,)
    constant : bool array of shape (D,)

    Raises
    ------
    InputError
        If range / τ_s of a column is not a finite number; the message names the column.

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.samples import Samples
    >>> x = np.array([[0.0, 5.0], [1.0, 5.0]])
    >>> y = np.array([[3.0, 5.0], [7.0, 5.0]])
    >>> tau, constant = median_bandwidths(Samples(x, y, ("u", "v"), ("numeric", "numeric")))
    >>> tau.tolist(), constant.tolist()
    ([3.5, 1.0], [False, True])
    """
    check_choice("bandwidth", rule, RULES)
    bandwidths = np.ones(samples.n_columns)
    constant = np.zeros(samples.n_columns, dtype=np.bool_)

    def fit(s: int) -> None:
        pooled = np.concatenate([samples.x[:, s], samples.y[:, s]])
        if samples.kinds[s] == "categorical":
            constant[s] = pooled.min() == pooled.max()
            return
        pooled.sort()
        constant[s] = pooled[0] == pooled[-1]
        if not constant[s]:
            bandwidths[s] = _bandwidth(pooled, rule, samples.names[s])

    _for_each_column(fit, samples.n_columns, n_jobs)
    return bandwidths, constant


def median_distance(ordered: FloatArray) -> float:
    """Return the median of |u − v| over all pairs of a sorted, non-constant sample.

    Where more than half of the distances are 0, the median of the positive ones.

    Examples
    --------
    >>> import numpy as np
    >>> median_distance(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 5.0]))
    3.0
    """
    values, weights = _weighted(ordered)
    total = int(weights.sum())
    pairs = total * (total - 1) // 2
    zeros = int((weights * (weights - 1) // 2).sum())
    if pairs // 2 < zeros:
        low, high = zeros + (pairs - zeros - 1) // 2, zeros + (pairs - zeros) // 2
    else:
        low, high = (pairs - 1) // 2, pairs // 2
    cumulated = np.concatenate([[0], np.cumsum(weights)])
    first, second = _ranked_distances(values, weights, cumulated, low, high)
    # Not (first + second) / 2, which may overflow.
    return float(first + (second - first) / 2)


def _bandwidth(ordered: FloatArray, rule: str, name: str) -> float:
    extent = float(ordered[-1]) / 2 - float(ordered[0]) / 2
    if not math.isfinite(2 * extent):
        raise InputError(
            f"column {name!r} must have a finite range; got values from {ordered[0]:g} "
            f"to {ordered[-1]:g}; rescale or clip it"
        )
    distance = median_distance(ordered)
    bandwidth = distance if rule == "median" else math.sqrt(distance)
    if bandwidth < _SMALLEST_BANDWIDTH or not math.isfinite(2 * extent / bandwidth):
        raise InputError(
            f"column {name!r} must have a range / bandwidth that is a finite number; got range "
            f"{2 * extent:g} and bandwidth {bandwidth:g}; rescale or clip it"
        )
    return bandwidth


def _weighted(ordered: FloatArray) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return distinct sorted values with integer weights that stand for the column."""
    n = ordered.shape[0]
    if n <= EXACT_ROWS:
        return _distinct(ordered)
    # Zero is the median distance only if one value holds about half of the rows or more, and
    # then it is the middle one. It is kept apart with its weight, so that the thinning has all
    # its points for the others, however rare.
    middle = ordered[n // 2]
    start, stop = np.searchsorted(ordered, [middle, np.nextafter(middle, np.inf)])
    rest = np.concatenate([ordered[:start], ordered[stop:]])
    thinned = rest
    if rest.shape[0] > EXACT_ROWS:
        # The middle of each of EXACT_ROWS equal slices of the ranks.
        ranks = (2 * np.arange(EXACT_ROWS, dtype=np.int64) + 1) * rest.shape[0]
        thinned = rest[ranks // (2 * EXACT_ROWS)]
    values, weights = _distinct(thinned)
    # Weights count rows in units of rest / thinned; the middle value gets its due share.
    share = max(1, round((stop - start) * thinned.shape[0] / rest.shape[0]))
    position = int(np.searchsorted(values, middle))
    return np.insert(values, position, middle), np.insert(weights, position, share)


def _distinct(ordered: FloatArray) -> tuple[FloatArray, NDArray[np.int64]]:
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return ordered[first], np.diff(first, append=ordered.shape[0]).astype(np.int64)


def _for_each_column(work: Callable[[int], None], n_columns: int, n_jobs: int) -> None:
    if n_jobs == 1:
        for s in range(n_columns):
            work(s)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        # The list consumes the iterator, so that an error in a thread is raised here.
        list(pool.map(work, range(n_columns)))


@njit(nogil=True, cache=True)
def _scan(values, weights, cumulated, bound):  # type: ignore[no-untyped-def]
    """Count the pairs at distance ≤ bound; return also the nearest distances on either side."""
    n = values.shape[0]
    count = 0
    below = 0.0
    above = np.inf
    end = 0
    for i in range(n):
        while end < n and values[end] - values[i] <= bound:
            end += 1
        weight = weights[i]
        count += weight * (weight - 1) // 2 + weight * (cumulated[end] - cumulated[i + 1])
        below = max(below, values[end - 1] - values[i])
        if end < n:
            above = min(above, values[end] - values[i])
    return count, below, above


@njit(nogil=True, cache=True)
def _ranked_distances(values, weights, cumulated, low, high):  # type: ignore[no-untyped-def]
    """Return the distances of ranks `low` and `high` ∈ {low, low + 1}, counted from 0.

    A bracket (left, right] of distances closes in on rank `low` by counting, O(n) each time.
    `right` is always a distance that occurs and `next_left` the smallest one above `left`: when
    they meet, the answer is exact.
    """
    left = 0.0
    count_left, _, next_left = _scan(values, weights, cumulated, left)
    right = values[-1] - values[0]
    count_right = cumulated[-1] * (cumulated[-1] - 1) // 2
    next_right = np.inf
    step = 0
    if count_left > low:
        right, count_right, next_right = left, count_left, next_left
        next_left = left
    while next_left < right:
        # Interpolated counts, aimed in turn just above and just below the rank so that the
        # bracket closes from both sides; every third step halves the bracket, on the scale of
        # the exponent while it is wide, so that heavy tails cannot stall the search.
        inside = count_right - count_left
        if step % 3 == 2:
            guess = math.sqrt(next_left) * math.sqrt(right)
        else:
            margin = 2.0 * math.sqrt(inside) * (1.0 if step % 3 == 0 else -1.0)
            share = (low + 0.5 + margin - count_left) / inside
            guess = next_left + (right - next_left) * min(max(share, 0.0), 1.0)
        guess = min(max(guess, next_left), np.nextafter(right, 0.0))
        step += 1
        count, below, above = _scan(values, weights, cumulated, guess)
        if count > low:
            right, count_right, next_right = below, count, above
        else:
            left, count_left, next_left = guess, count, above
    if count_right > high:
        return right, right
    return right, next_right
