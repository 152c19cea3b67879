"""Laplace kernel sums of one column in O(n log n), by sorting.

On sorted points, Σ_{i ≤ k} wᵢ exp(−(t_k − tᵢ)/τ) follows from its value at t_{k−1} by one
multiplication and one addition of positive numbers; likewise from the right. Nothing can
overflow or cancel, whatever the range of the column.
"""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.compiling import compiled
from tellapart.kernels.fastsum.counting import LevelCounts, shares


class SortedExpansion:
    """The kernel sums of exp(−|u − v|/τ) over two samples of one column.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.array([0.0, 1.0]), np.array([2.0])
    >>> sums = SortedExpansion(LevelCounts.of(x), LevelCounts.of(y), bandwidth=1.0)
    >>> round(sums.mean_xy, 6)
    0.251607
    """

    def __init__(self, x: LevelCounts, y: LevelCounts, bandwidth: float) -> None:
        self._bandwidth = bandwidth
        self._points, weights = shares(x, y)
        decay = np.exp(-np.diff(self._points) / bandwidth)
        left, right = _sweep(weights, decay)
        # Both sweeps count the point itself.
        sums = left + right - weights
        self.mean_xx = float(weights[0] @ sums[0])
        self.mean_yy = float(weights[1] @ sums[1])
        self.mean_xy = float(weights[0] @ sums[1])
        # Zeros at the ends: nothing comes from beyond the first and the last point.
        self._left = np.concatenate([[0.0], left[0] - left[1]])
        self._right = np.concatenate([right[0] - right[1], [0.0]])

    def witness(self, values: FloatArray) -> FloatArray:
        """Return mean_i k(x_i, v) − mean_j k(y_j, v) for each v in `values`."""
        # In order, so that neighbouring values find their places in the same part of memory.
        order = np.argsort(values)
        ordered = values[order]
        place = np.searchsorted(self._points, ordered, side="right")
        last = self._points.shape[0] - 1
        before = ordered - self._points[np.maximum(place - 1, 0)]
        after = self._points[np.minimum(place, last)] - ordered
        # The sums are exactly 0 outside the range, where `before` or `after` is negative.
        from_left = self._left[place] * np.exp(-np.maximum(before, 0.0) / self._bandwidth)
        from_right = self._right[place] * np.exp(-np.maximum(after, 0.0) / self._bandwidth)
        result = np.empty(values.shape[0])
        result[order] = from_left + from_right
        return result


def laplace_group_sums(values: FloatArray, starts: IntArray, bandwidth: float) -> FloatArray:
    """Return S (G × G) with S_gh the sum of exp(−|u_i − u_j|/τ) over i in g and j in h: O(N G).

    The values stand group after group; `starts` says where each group begins, and ends.

    Examples
    --------
    >>> import numpy as np
    >>> values, starts = np.array([0.0, 1e9, 0.0, 1.0]), np.array([0, 2, 4])
    >>> laplace_group_sums(values, starts, 1.0).round(4).tolist()
    [[2.0, 1.3679], [1.3679, 2.7358]]
    """
    sizes = np.diff(starts)
    order = np.argsort(values, kind="stable")
    group = np.repeat(np.arange(sizes.shape[0]), sizes)[order]
    with np.errstate(over="ignore"):
        decay = np.exp(-np.diff(values[order]) / bandwidth)
    once = np.zeros((sizes.shape[0], sizes.shape[0]))
    _sweep_groups(group, decay, once)
    sums = once + once.T
    sums[np.diag_indices_from(sums)] += sizes
    return np.asarray(sums)


@compiled
def _sweep_groups(group, decay, once):  # type: ignore[no-untyped-def]
    """Add to the row of each value's group what comes from the values before it."""
    state = np.zeros(once.shape[0])
    state[group[0]] = 1.0
    for k in range(1, group.shape[0]):
        row = once[group[k]]
        for g in range(state.shape[0]):
            state[g] *= decay[k - 1]
            row[g] += state[g]
        state[group[k]] += 1.0


@compiled
def _sweep(weights, decay):  # type: ignore[no-untyped-def]
    left = weights.copy()
    right = weights.copy()
    n = weights.shape[1]
    for s in range(weights.shape[0]):
        for k in range(1, n):
            left[s, k] += decay[k - 1] * left[s, k - 1]
        for k in range(n - 2, -1, -1):
            right[s, k] += decay[k] * right[s, k + 1]
    return left, right
