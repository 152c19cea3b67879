"""Bandwidths by the median heuristic, column by column, from the pooled sample.

τ_s = median |u_s − v_s| over all pairs of pooled rows, so the kernels see x_s / τ_s and do not
depend on the unit of measurement. Only the sorted pooled values enter: neither the order of
the rows nor the labels can change a bandwidth, which the permutation test relies on.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import FloatArray
from tellapart.compiling import compiled
from tellapart.data.by_column import map_columns
from tellapart.data.samples import Samples
from tellapart.errors import InputError

Rule = Literal["median", "paper"]
RULES: tuple[Rule, ...] = ("median", "paper")

# Pooled rows up to which the median is exact. Above, this many evenly spaced order statistics
# stand in for the column. Like a quadrature rule they err by about 1 / EXACT_ROWS, a hundredth
# of the sampling error of the median, and unlike a random subsample they need no seed.
EXACT_ROWS = 32_768

# The search for the exact median starts from every _STRIDE-th value, which tells it to about
# this relative margin.
_STRIDE = 16
_HINT_MARGIN = 0.002

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
    >>> from tellapart.data.samples import Samples
    >>> x = np.array([[0.0, 5.0], [1.0, 5.0]])
    >>> y = np.array([[3.0, 5.0], [7.0, 5.0]])
    >>> tau, constant = median_bandwidths(Samples(x, y, ("u", "v"), ("numeric", "numeric")))
    >>> tau.tolist(), constant.tolist()
    ([3.5, 1.0], [False, True])
    """
    if samples.shared is not None:
        return samples.shared.once(
            ("bandwidths", rule), lambda whole: median_bandwidths(whole, rule, n_jobs=n_jobs)
        )
    bandwidths = np.ones(samples.n_columns)
    constant = np.zeros(samples.n_columns, dtype=np.bool_)

    def fit(s: int, x: FloatArray, y: FloatArray) -> None:
        pooled = np.concatenate([x, y])
        if samples.kinds[s] == "categorical":
            constant[s] = pooled.min() == pooled.max()
            return
        pooled.sort()
        constant[s] = pooled[0] == pooled[-1]
        if not constant[s]:
            bandwidths[s] = _bandwidth(pooled, rule, samples.names[s])

    map_columns(fit, samples, np.arange(samples.n_columns), n_jobs)
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
        pairs, zeros = pairs - zeros, 0
    # Ranks among the positive distances, counted from 0.
    low, high = (pairs - 1) // 2 - zeros, pairs // 2 - zeros
    second, up_to = _ranked_distance(values, weights, max(low, 0))
    first = second if low >= 0 else 0.0
    if high >= up_to:
        second = float(_next_distance(values, second))
    # Not (first + second) / 2, which may overflow.
    return first + (second - first) / 2


def _bandwidth(ordered: FloatArray, rule: str, name: str) -> float:
    extent = float(ordered[-1]) / 2 - float(ordered[0]) / 2
    if not math.isfinite(2 * extent):
        raise InputError(
            f"column {name!r} must have a finite range; got values from {ordered[0]:g} "
            f"to {ordered[-1]:g}; rescale or clip it"
        )
    distance = median_distance(ordered)
    bandwidth = distance if rule == "median" else math.sqrt(distance)
    check_extent(name, float(ordered[0]), float(ordered[-1]), bandwidth)
    return bandwidth


def check_extent(name: str, low: float, high: float, bandwidth: float) -> None:
    """Raise if the range of a column is so many bandwidths that it is no finite number."""
    extent = high / 2 - low / 2
    if bandwidth < _SMALLEST_BANDWIDTH or not math.isfinite(2 * extent / bandwidth):
        raise InputError(
            f"column {name!r} must have a range / bandwidth that is a finite number; got range "
            f"{2 * extent:g} and bandwidth {bandwidth:g}; rescale or clip it"
        )


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


def _ranked_distance(
    values: FloatArray, weights: NDArray[np.int64], rank: int
) -> tuple[float, int]:
    """Return the positive distance of that rank, from 0, and the weight of all up to it.

    A bracket of distances closes in on the rank by counting, O(n) each time, until few enough
    are left to be sorted. The result is exact whatever the guesses on the way.
    """
    hint = 0.0
    if values.shape[0] > 32 * _STRIDE:
        # A few values, each with the weight of its neighbours, tell where to look.
        groups = np.arange(0, values.shape[0], _STRIDE)
        hint, _ = _ranked_distance(values[groups], np.add.reduceat(weights, groups), rank)
    cumulated = np.concatenate([[0], np.cumsum(weights)])
    left, right, below, candidates = _bracket(values, weights, cumulated, rank, hint)
    distances, multiplicities = _between(values, weights, left, right, candidates)
    order = np.argsort(distances)
    counts = below + np.cumsum(multiplicities[order])
    # A rank from the fine values may lie just beyond the last one of the coarse values.
    place = min(int(np.searchsorted(counts, rank, side="right")), candidates - 1)
    distance = distances[order[place]]
    return float(distance), int(below + multiplicities[distances <= distance].sum())


@compiled
def _bracket(values, weights, cumulated, rank, hint):  # type: ignore[no-untyped-def]
    """Return an interval (left, right] of distances with the rank and at most n pairs in it.

    Also the weight of the pairs at distance ≤ left, and the number of pairs in the interval.
    There is such an interval: a value has at most one partner at a given distance above it.
    """
    n = values.shape[0]
    left, weight_left, pairs_left = 0.0, 0, 0
    right = values[-1] - values[0]
    weight_right, pairs_right = _count(values, weights, cumulated, right)
    smallest = np.diff(values).min()
    step = 0
    while pairs_right - pairs_left > n:
        # First the hint; then interpolated counts, aimed in turn just above and just below the
        # rank so that both ends close in. Every third step halves the interval on the scale of
        # the exponent: heavy tails cannot stall the search.
        inside = float(weight_right - weight_left)
        aim = 1.0 if step % 2 == 0 else -1.0
        if step < 2 and hint > 0.0:
            guess = hint * (1.0 + aim * _HINT_MARGIN)
        elif step % 3 == 2:
            guess = math.sqrt(max(left, smallest)) * math.sqrt(right)
        else:
            share = (rank + 0.5 + aim * 2.0 * math.sqrt(inside) - weight_left) / inside
            guess = left + (right - left) * min(max(share, 0.0), 1.0)
        guess = min(max(guess, np.nextafter(left, np.inf)), np.nextafter(right, 0.0))
        step += 1
        weight, pairs = _count(values, weights, cumulated, guess)
        if weight > rank:
            right, weight_right, pairs_right = guess, weight, pairs
        else:
            left, weight_left, pairs_left = guess, weight, pairs
    return left, right, weight_left, pairs_right - pairs_left


@compiled
def _count(values, weights, cumulated, bound):  # type: ignore[no-untyped-def]
    """Return the weight and the number of the pairs of values at distance ≤ bound."""
    n = values.shape[0]
    weight = 0
    pairs = 0
    end = 1
    for i in range(n):
        while end < n and values[end] - values[i] <= bound:
            end += 1
        weight += weights[i] * (cumulated[end] - cumulated[i + 1])
        pairs += end - i - 1
    return weight, pairs


@compiled
def _between(values, weights, left, right, size):  # type: ignore[no-untyped-def]
    """Return the distances in (left, right] of all pairs of values, and their weights."""
    n = values.shape[0]
    distances = np.empty(size)
    multiplicities = np.empty(size, dtype=np.int64)
    place = 0
    start = 1
    for i in range(n):
        start = max(start, i + 1)
        while start < n and values[start] - values[i] <= left:
            start += 1
        j = start
        while j < n and values[j] - values[i] <= right:
            distances[place] = values[j] - values[i]
            multiplicities[place] = weights[i] * weights[j]
            place += 1
            j += 1
    return distances, multiplicities


@compiled
def _next_distance(values, bound):  # type: ignore[no-untyped-def]
    """Return the smallest distance above `bound`."""
    n = values.shape[0]
    nearest = np.inf
    end = 1
    for i in range(n):
        while end < n and values[end] - values[i] <= bound:
            end += 1
        if end < n:
            nearest = min(nearest, values[end] - values[i])
    return nearest
