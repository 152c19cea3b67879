"""Sums of the indicator kernel 1[u = v], by counting levels."""

from __future__ import annotations

import numpy as np
from numba import njit

from tellapart.arrays import FloatArray, IntArray


class CountExpansion:
    """The kernel sums of 1[u = v] over two samples: sums over the shares of the levels.

    Examples
    --------
    >>> import numpy as np
    >>> sums = CountExpansion(np.array([0.0, 1.0]), np.array([1.0]))
    >>> sums.mean_xx, sums.mean_yy, sums.mean_xy
    (0.5, 1.0, 0.5)
    >>> sums.witness(np.array([0.0, 1.0, 2.0])).tolist()
    [0.5, -0.5, 0.0]
    """

    def __init__(self, x: FloatArray, y: FloatArray) -> None:
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


def shares(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the distinct values of both samples, sorted, and the share of each in x and in y.

    Examples
    --------
    >>> import numpy as np
    >>> values, parts = shares(np.array([2.0, 1.0]), np.array([2.0]))
    >>> values.tolist(), parts.tolist()
    ([1.0, 2.0], [[0.5, 0.5], [0.0, 1.0]])
    """
    # Each sample by itself: to sort values is much faster than to sort their places.
    counted = [np.unique(sample, return_counts=True) for sample in (x, y)]
    values = np.union1d(counted[0][0], counted[1][0])
    parts = np.zeros((2, values.shape[0]))
    for part, (own, counts) in zip(parts, counted, strict=True):
        part[np.searchsorted(values, own)] = counts / counts.sum()
    return values, parts


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


@njit(nogil=True, cache=True)
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
