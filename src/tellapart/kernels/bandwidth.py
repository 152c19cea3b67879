"""Bandwidths by the median heuristic, column by column, from the pooled sample.

τ_s = median |u_s − v_s| over all pairs of pooled rows, so the kernels see x_s / τ_s and do not
depend on the unit of measurement. Only the sorted pooled values enter: neither the order of
the rows nor the labels can change a bandwidth, which the permutation test relies on.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.budget import current_budget
from tellapart.compiling import compiled
from tellapart.data.column_store import extremes_of, transposed
from tellapart.data.samples import Samples, map_columns
from tellapart.errors import InputError
from tellapart.kernels.base import LARGEST_DIFFERENCE, FittedKernel, Kernel

Rule = Literal["median", "paper"]
RULES: tuple[Rule, ...] = ("median", "paper")

# The search for the exact median starts from every _STRIDE-th value, which gives it to about
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
    n, most = ordered.shape[0], current_budget().exact_median_rows
    if n <= most:
        return _distinct(ordered)
    # Zero is the median distance only if one value holds about half of the rows or more, and
    # then it is the middle one. It is kept apart with its weight, so that the thinning has all
    # its points for the others, however rare.
    middle = ordered[n // 2]
    start, stop = np.searchsorted(ordered, [middle, np.nextafter(middle, np.inf)])
    others = np.concatenate([ordered[:start], ordered[stop:]])
    thinned = others
    if others.shape[0] > most:
        # The middle of each of so many equal slices of the ranks.
        ranks = (2 * np.arange(most, dtype=np.int64) + 1) * others.shape[0]
        thinned = others[ranks // (2 * most)]
    values, weights = _distinct(thinned)
    # Weights count rows in units of rest / thinned; the middle value gets its due share.
    share = max(1, round((stop - start) * thinned.shape[0] / others.shape[0]))
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
        # A few values, each with the weight of its neighbours, show where to look.
        groups = np.arange(0, values.shape[0], _STRIDE)
        hint, _ = _ranked_distance(values[groups], np.add.reduceat(weights, groups), rank)
    cumulated = np.concatenate([[0], np.cumsum(weights)])
    left, right, below, candidates = _bracket(values, weights, cumulated, rank, hint)
    distances, multiplicities = np.empty(candidates), np.empty(candidates, dtype=np.int64)
    _between(values, weights, left, right, distances, multiplicities)
    order = np.argsort(distances)
    counts = below + np.cumsum(multiplicities[order])
    # A rank from the fine values may lie just beyond the last one of the coarse values.
    position = min(int(np.searchsorted(counts, rank, side="right")), candidates - 1)
    distance = distances[order[position]]
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
    smallest = right
    for i in range(1, n):
        smallest = min(smallest, values[i] - values[i - 1])
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
def _between(values, weights, left, right, distances, multiplicities):  # type: ignore[no-untyped-def]
    """Set the distances in (left, right] of all pairs of values, and their weights."""
    n = values.shape[0]
    count = 0
    start = 1
    for i in range(n):
        start = max(start, i + 1)
        while start < n and values[start] - values[i] <= left:
            start += 1
        j = start
        while j < n and values[j] - values[i] <= right:
            distances[count] = values[j] - values[i]
            multiplicities[count] = weights[i] * weights[j]
            count += 1
            j += 1


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


# Columns of the projection at a time.
_GROUP = 8
_GOLDEN = (5**0.5 - 1) / 2


def joint_scale(samples: Samples, bandwidths: FloatArray, constant: BoolArray, rule: str) -> float:
    """Return σ² by name: "median" as `median_scale` says, or the paper's.

    The paper's is the median of ‖u − v‖² over the columns as they are: summed, not averaged, and
    so as many times too large as there are columns.
    """
    if rule == "median":
        return median_scale(samples, bandwidths, constant)
    n_varying = int(np.count_nonzero(~constant))
    return n_varying * median_scale(samples, np.ones_like(bandwidths), constant)


def median_scale(samples: Samples, bandwidths: FloatArray, constant: BoolArray) -> float:
    """Return σ² = median over pooled pairs of the mean over columns of ((u_s − v_s) / τ_s)².

    Since ‖z‖₂ = 1, the index t = Σ_s z_s² ψ_s is a weighted *average* of squared differences, so
    the scale that matches it is the median of their plain average, not of their sum.

    A categorical column enters with 1[u_s ≠ v_s], a constant one not at all. Where more than half
    of the pairs are equal, the median is over the others. Only the set of the pooled rows counts:
    neither their order nor the labels.

    Parameters
    ----------
    samples : Samples
        The two samples; their rows are pooled.
    bandwidths : array of shape (D,)
        τ_s; see `tellapart.kernels.bandwidth.median_bandwidths`.
    constant : bool array of shape (D,)
        Columns that never vary.

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.data.samples import Samples
    >>> x, y = np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[3.0, 0.0], [7.0, 1.0]])
    >>> samples = Samples(x, y, ("u", "v"), ("numeric", "categorical"))
    >>> median_scale(samples, np.array([2.0, 1.0]), np.array([False, False]))
    1.8125
    """
    varying = np.flatnonzero(~constant)
    rows = _representative_rows(samples, bandwidths, varying)
    categorical = np.array([kind == "categorical" for kind in samples.kinds], dtype=np.bool_)
    codes = rows[:, categorical[varying]]
    numbers = rows[:, ~categorical[varying]]
    # The differences are what counts: without the common offset none of their digits are lost.
    numbers = (numbers - np.median(numbers, axis=0)) / bandwidths[varying[~categorical[varying]]]
    np.clip(numbers, -LARGEST_DIFFERENCE, LARGEST_DIFFERENCE, out=numbers)
    distances = np.zeros(rows.shape[0] * (rows.shape[0] - 1) // 2)
    if numbers.shape[1] > 0:
        distances += pdist(numbers, "sqeuclidean")
    if codes.shape[1] > 0:
        distances += codes.shape[1] * pdist(codes, "hamming")
    median = float(np.median(distances))
    if median == 0.0:
        positive = distances[distances > 0]
        median = float(np.median(positive)) if positive.size else 1.0
    return median / max(1, varying.shape[0])


def _representative_rows(samples: Samples, bandwidths: FloatArray, varying: IntArray) -> FloatArray:
    """Return the varying columns of all pooled rows, or of evenly spaced ones for large samples.

    Spaced along a projection of the scaled rows: like a stratified sample, and unlike a random
    one it does not change with the order of the rows or of the columns.
    """
    n_rows, most = samples.n_x + samples.n_y, current_budget().exact_scale_rows
    if n_rows <= most:
        return np.concatenate([samples.x[:, varying], samples.y[:, varying]])
    # The order of the table must not count: columns by their range, in bandwidths.
    (low_x, high_x), (low_y, high_y) = extremes_of(samples.x), extremes_of(samples.y)
    half_ranges = np.maximum(high_x, high_y) / 2 - np.minimum(low_x, low_y) / 2
    with np.errstate(over="ignore"):
        ranges = half_ranges[varying] / bandwidths[varying]
    sorted_columns = varying[np.argsort(ranges, kind="stable")]
    # Uneven weights, so that rows of integers or flags rarely tie.
    weights = 0.5 + np.arange(1, varying.shape[0] + 1) * _GOLDEN % 1.0
    score = np.zeros(n_rows)
    # Column by column: a matrix product would round a row differently in another place.
    for start in range(0, varying.shape[0], _GROUP):
        group = sorted_columns[start : start + _GROUP]
        columns = np.concatenate(
            [transposed(samples.x, group), transposed(samples.y, group)], axis=1
        )
        for s, weight, column in zip(group, weights[start:], columns, strict=False):
            with np.errstate(over="ignore"):
                column /= bandwidths[s]
            score += weight * np.clip(column, -LARGEST_DIFFERENCE, LARGEST_DIFFERENCE)
    order = np.argsort(score, kind="stable")
    ranks = (2 * np.arange(most, dtype=np.int64) + 1) * n_rows // (2 * most)
    chosen = order[ranks]
    of_x = chosen < samples.n_x
    rows = np.empty((most, varying.shape[0]))
    rows[of_x] = samples.x[chosen[of_x]][:, varying]
    rows[~of_x] = samples.y[chosen[~of_x] - samples.n_x][:, varying]
    return rows


# Bandwidths in units of the median rule: fixed, or left to be tuned with λ.


TUNED = "cv"
"""The `bandwidth` that leaves the multiplier to cross-validation."""
MULTIPLIERS = (0.25, 0.5, 1.0, 2.0)
"""What cross-validation tries, in units of the median rule."""


@runtime_checkable
class Scalable(Protocol):
    """A kernel whose bandwidths are a rule times a multiplier."""

    @property
    def bandwidth(self) -> str | float | None:
        """The rule: "cv" to be tuned, None for tuned where possible and the median elsewhere."""

    @property
    def multiplier(self) -> float:
        """What the rule is multiplied by."""


K = TypeVar("K")


def with_multiplier(kernel: K, multiplier: float) -> K:
    """Return the kernel with the median rule times `multiplier`; others as they are.

    Examples
    --------
    >>> from tellapart.kernels import Gaussian
    >>> with_multiplier(Gaussian("cv"), 0.5)
    Gaussian(bandwidth='median', multiplier=0.5)
    """
    if not isinstance(kernel, Scalable):
        return kernel
    rule = "median" if kernel.bandwidth in (None, TUNED) else kernel.bandwidth
    return replace(kernel, bandwidth=rule, multiplier=multiplier)  # type: ignore[type-var]


def multipliers_to_try(kernel: object) -> tuple[float, ...]:
    """Return the multipliers that tuning tries: one, the kernel's own, where it is fixed."""
    if not isinstance(kernel, Scalable):
        return (1.0,)
    if kernel.bandwidth in (None, TUNED):
        return MULTIPLIERS
    return (kernel.multiplier,)


def check_tuned(kernel: Scalable) -> None:
    """Raise where a bandwidth that is left to tuning has not been tuned."""
    if kernel.bandwidth == TUNED:
        raise InputError(
            "bandwidth must be a rule or a number here; got 'cv', which only two_sample_test and "
            "select_variables can choose"
        )


# Kernels fitted to samples in chunks: bandwidths come from rows drawn without regard to labels.


def fit_on_draw(kernel: Kernel, samples: Samples, *, n_jobs: int = 1) -> FittedKernel:
    """Freeze the bandwidths on the rows drawn from both samples together, at most 65,536.

    Where these are all the rows, the bandwidths are those of all the rows. A column that varies,
    but not among the drawn rows, has values too rare to be drawn: its bandwidth is the distance of
    the farthest one from the others, as if one row with it had been drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.data.samples import Samples
    >>> from tellapart.kernels import Linear
    >>> x, y = np.array([[0.0], [1.0]]), np.array([[3.0], [7.0]])
    >>> fit_on_draw(Linear(), Samples(x, y, ("u",), ("numeric",))).scalars
    (GaussianScalar(bandwidth=3.5),)
    """
    rows = samples.whole
    values, least, greatest = rows.pooled, rows.least, rows.greatest
    usual = values[0]
    rare = (values.min(axis=0) == values.max(axis=0)) & (least < greatest)
    if rare.any():
        above = greatest - usual >= usual - least
        farthest = np.where(above, greatest, least)
        values = values.copy(order="F")
        values[0, rare] = farthest[rare]
    middle = values.shape[0] // 2
    # Fitting pools the two samples: which rows are called x and which y does not matter.
    x, y = values[:middle], values[middle:]
    pooled = replace(samples.held, x=x, y=y, design=None, shared=None)
    fitted = kernel.fit(pooled, n_jobs=n_jobs)
    for s, scalar in enumerate(fitted.scalars):
        # Rows that were not drawn may lie anywhere.
        low, high = float(least[s]), float(greatest[s])
        check_extent(samples.names[s], low, high, getattr(scalar, "bandwidth", math.inf))
    return fitted


def adds_up(kernel: FittedKernel) -> bool:
    """Say whether all that a choice with the kernel needs of the rows are sums over chunks."""
    return kernel.abilities.fast_sums and all(scalar.compact for scalar in kernel.scalar_kernels)
