"""Sums of the indicator kernel 1[u = v], by counting levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.compiling import compiled


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
        place = np.searchsorted(self._levels, values)
        np.minimum(place, self._levels.shape[0] - 1, out=place)
        return np.where(self._levels[place] == values, self._difference[place], 0.0)


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
