"""The joint scale σ² of a sample: one number for all columns together.

Since ‖z‖₂ = 1, the index t = Σ_s z_s² ψ_s is a weighted *average* of squared differences, so the
scale that matches it is the median of their plain average, not of their sum.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.data.by_column import transposed
from tellapart.data.samples import Samples, extremes_of
from tellapart.kernels.differences import LARGEST_DIFFERENCE

# Pooled rows up to which the median is over all pairs; above, over the pairs of as many rows.
EXACT_ROWS = 1_000

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
    n_rows = samples.n_x + samples.n_y
    if n_rows <= EXACT_ROWS:
        return np.concatenate([samples.x[:, varying], samples.y[:, varying]])
    # The order of the table must not count: columns by their range, in bandwidths.
    (low_x, high_x), (low_y, high_y) = extremes_of(samples.x), extremes_of(samples.y)
    halves = np.maximum(high_x, high_y) / 2 - np.minimum(low_x, low_y) / 2
    with np.errstate(over="ignore"):
        ranges = halves[varying] / bandwidths[varying]
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
    ranks = (2 * np.arange(EXACT_ROWS, dtype=np.int64) + 1) * n_rows // (2 * EXACT_ROWS)
    chosen = order[ranks]
    of_x = chosen < samples.n_x
    rows = np.empty((EXACT_ROWS, varying.shape[0]))
    rows[of_x] = samples.x[chosen[of_x]][:, varying]
    rows[~of_x] = samples.y[chosen[~of_x] - samples.n_x][:, varying]
    return rows
