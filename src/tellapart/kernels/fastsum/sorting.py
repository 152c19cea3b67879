"""Laplace kernel sums of one column in O(n log n), by sorting.

On sorted points, Σ_{i ≤ k} wᵢ exp(−(t_k − tᵢ)/τ) follows from its value at t_{k−1} by one
multiplication and one addition of positive numbers; likewise from the right. Nothing can
overflow or cancel, whatever the range of the column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.compiling import compiled

# Sums of the indicator kernel 1[u = v], by counting levels.


@dataclass(frozen=True)
class LevelCounts:
    """How often each value occurs in one sample, or in some of its rows; counts add up.

    Attributes
    ----------
    levels : array of length L
        The distinct values, sorted.
    counts : int array of length L
        How many rows have each of them.

    Examples
    --------
    >>> import numpy as np
    >>> both = LevelCounts.of(np.array([2.0, 1.0])).merge(LevelCounts.of(np.array([2.0])))
    >>> both.levels.tolist(), both.counts.tolist(), both.count
    ([1.0, 2.0], [1, 2], 3)
    """

    levels: FloatArray
    counts: IntArray

    @classmethod
    def of(cls, values: FloatArray) -> LevelCounts:
        """Count the values."""
        levels, counts = np.unique(values, return_counts=True)
        return cls(levels, counts)

    @property
    def count(self) -> int:
        """Number of values counted."""
        return int(self.counts.sum())

    def merge(self, other: LevelCounts) -> LevelCounts:
        """Return the counts of both sets of values together."""
        levels = np.union1d(self.levels, other.levels)
        return LevelCounts(levels, self.on(levels) + other.on(levels))

    def on(self, levels: FloatArray) -> IntArray:
        """Return the counts on a sorted superset of the levels."""
        counts = np.zeros(levels.shape[0], dtype=self.counts.dtype)
        counts[np.searchsorted(levels, self.levels)] = self.counts
        return counts


class CountExpansion:
    """The kernel sums of 1[u = v] over two samples: sums over the shares of the levels.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.array([0.0, 1.0]), np.array([1.0])
    >>> sums = CountExpansion(LevelCounts.of(x), LevelCounts.of(y))
    >>> sums.mean_xx, sums.mean_yy, sums.mean_xy
    (0.5, 1.0, 0.5)
    >>> sums.witness(np.array([0.0, 1.0, 2.0])).tolist()
    [0.5, -0.5, 0.0]
    """

    def __init__(self, x: LevelCounts, y: LevelCounts) -> None:
        self._levels, (share_x, share_y) = shares(x, y)
        self.mean_xx = float(share_x @ share_x)
        self.mean_yy = float(share_y @ share_y)
        self.mean_xy = float(share_x @ share_y)
        self._difference = share_x - share_y

    def witness(self, values: FloatArray) -> FloatArray:
        """Return mean_i 1[x_i = v] − mean_j 1[y_j = v] for each v in `values`."""
        position = np.searchsorted(self._levels, values)
        np.minimum(position, self._levels.shape[0] - 1, out=position)
        return np.where(self._levels[position] == values, self._difference[position], 0.0)


def shares(x: LevelCounts, y: LevelCounts) -> tuple[FloatArray, FloatArray]:
    """Return the distinct values of both samples, sorted, and the share of each in x and in y.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.array([2.0, 1.0]), np.array([2.0])
    >>> values, parts = shares(LevelCounts.of(x), LevelCounts.of(y))
    >>> values.tolist(), parts.tolist()
    ([1.0, 2.0], [[0.5, 0.5], [0.0, 1.0]])
    """
    values = np.union1d(x.levels, y.levels)
    return values, np.stack([sample.on(values) / sample.count for sample in (x, y)])


def indicator_group_sums(values: FloatArray, starts: IntArray) -> FloatArray:
    """Return S (G × G) with S_gh the number of equal pairs, one value in g and one in h.

    The values stand group after group; `starts` says where each group begins, and ends.

    Examples
    --------
    >>> import numpy as np
    >>> indicator_group_sums(np.array([0.0, 1.0, 1.0, 1.0]), np.array([0, 2, 4])).tolist()
    [[2.0, 2.0], [2.0, 4.0]]
    """
    sizes = np.diff(starts)
    order = np.argsort(values, kind="stable")
    group = np.repeat(np.arange(sizes.shape[0]), sizes)[order]
    ordered = values[order]
    edges = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1], [True]]))
    sums = np.zeros((sizes.shape[0], sizes.shape[0]))
    _add_levels(group, edges, sums)
    return sums


@compiled
def _add_levels(group, edges, sums):  # type: ignore[no-untyped-def]
    """Add each level's pairs: one by one, or by its counts in the groups where it has many rows."""
    counts = np.zeros(sums.shape[0])
    for level in range(edges.shape[0] - 1):
        start, stop = edges[level], edges[level + 1]
        if stop - start <= counts.shape[0]:
            for i in range(start, stop):
                for j in range(start, stop):
                    sums[group[i], group[j]] += 1.0
        else:
            counts[:] = 0.0
            for i in range(start, stop):
                counts[group[i]] += 1.0
            for g in range(counts.shape[0]):
                if counts[g] > 0.0:
                    for h in range(counts.shape[0]):
                        sums[g, h] += counts[g] * counts[h]


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
        position = np.searchsorted(self._points, ordered, side="right")
        last = self._points.shape[0] - 1
        before = ordered - self._points[np.maximum(position - 1, 0)]
        after = self._points[np.minimum(position, last)] - ordered
        # The sums are exactly 0 outside the range, where `before` or `after` is negative.
        from_left = self._left[position] * np.exp(-np.maximum(before, 0.0) / self._bandwidth)
        from_right = self._right[position] * np.exp(-np.maximum(after, 0.0) / self._bandwidth)
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
