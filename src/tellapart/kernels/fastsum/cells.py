"""Gaussian kernel sums between groups of rows of one column, whatever its tails.

The sorted values fall into clusters with gaps of more than 8.6 τ between them, across which the
kernel is 0 to 1e-16, and a cluster into cells of that width, so that only neighbouring cells see
each other. Pairs of cells with many rows are summed by Fourier features, which are few over so
short a range; pairs with few rows one by one. A heavy tail has many cells with few rows, and the
middle of a column few cells with many: neither takes the square of the rows.
"""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.compiling import compiled
from tellapart.kernels.fastsum.boxes import REACH
from tellapart.kernels.fastsum.fourier import fourier_sums

# Pairs of rows in multiples of the squared number of groups, up to which they go one by one.
PAIRS_PER_ENTRY = 2


def gaussian_group_sums(values: FloatArray, starts: IntArray, bandwidth: float) -> FloatArray:
    """Return S (G × G) with S_gh the sum of exp(−(u_i − u_j)²/2τ²) over i in g and j in h.

    Parameters
    ----------
    values : array of length N
        Group after group.
    starts : array of length G + 1
        Where each group begins, and where the last ends.
    bandwidth : float
        τ.

    Examples
    --------
    >>> import numpy as np
    >>> values, starts = np.array([0.0, 1e9, 0.0, 1.0]), np.array([0, 2, 4])
    >>> gaussian_group_sums(values, starts, 1.0).round(4).tolist()
    [[2.0, 1.6065], [1.6065, 3.2131]]
    """
    n_groups = starts.shape[0] - 1
    group = np.repeat(np.arange(n_groups), np.diff(starts))
    order = np.argsort(values, kind="stable")
    ordered, group = values[order], group[order]
    cells, linked = _cut(ordered, bandwidth)
    sizes = np.diff(cells)
    few = PAIRS_PER_ENTRY * n_groups * n_groups
    # Pairs once, i before j; what counts them both ways is halved.
    once = np.zeros((n_groups, n_groups))
    _add_pairs(ordered, group, cells, linked, bandwidth, few, once)

    def sums_of(cell: int, centre: float) -> FloatArray:
        rows = slice(int(cells[cell]), int(cells[cell + 1]))
        mine = np.argsort(group[rows], kind="stable")
        edges = np.searchsorted(group[rows][mine], np.arange(n_groups + 1))
        return fourier_sums(ordered[rows][mine], edges, bandwidth, 2 * REACH, centre)

    for cell in range(sizes.shape[0]):
        within = sizes[cell] * sizes[cell] > few
        across = bool(linked[cell]) and sizes[cell] * sizes[cell + 1] > few
        if not (within or across):
            continue
        centre = float(ordered[cells[cell]])
        mine = sums_of(cell, centre)
        if within:
            once += (0.5 * mine) @ mine.T
        if across:
            once += mine @ sums_of(cell + 1, centre).T
    _mirror(once)
    # Each row with itself, where pairs went one by one.
    alone = np.repeat(sizes * sizes <= few, sizes)
    once[np.diag_indices(n_groups)] += np.bincount(group[alone], minlength=n_groups)
    return once


@compiled
def _cut(ordered, bandwidth):  # type: ignore[no-untyped-def]
    """Return where the cells begin, and whether each touches the next."""
    n = ordered.shape[0]
    width = REACH * bandwidth
    starts = np.empty(n + 1, dtype=np.int64)
    linked = np.zeros(n, dtype=np.bool_)
    count = 0
    first = ordered[0]
    place = 0.0
    starts[0] = 0
    for i in range(1, n):
        if ordered[i] - ordered[i - 1] > width:
            first = ordered[i]
            place = 0.0
        else:
            here = np.floor((ordered[i] - first) / width)
            if here == place:
                continue
            linked[count] = here == place + 1.0
            place = here
        count += 1
        starts[count] = i
    starts[count + 1] = n
    return starts[: count + 2].copy(), linked[: count + 1].copy()


@compiled
def _add_pairs(ordered, group, cells, linked, bandwidth, few, once):  # type: ignore[no-untyped-def]
    """Add the pairs i < j of each cell, and of it and the next, where they are few."""
    reach = REACH * bandwidth
    for cell in range(linked.shape[0]):
        start, stop = cells[cell], cells[cell + 1]
        size = stop - start
        if size * size <= few:
            for i in range(start, stop):
                for j in range(i + 1, stop):
                    gap = (ordered[j] - ordered[i]) / bandwidth
                    once[group[i], group[j]] += np.exp(-0.5 * gap * gap)
        if linked[cell] and size * (cells[cell + 2] - stop) <= few:
            for i in range(start, stop):
                for j in range(stop, cells[cell + 2]):
                    if ordered[j] - ordered[i] > reach:
                        break
                    gap = (ordered[j] - ordered[i]) / bandwidth
                    once[group[i], group[j]] += np.exp(-0.5 * gap * gap)


@compiled
def _mirror(once):  # type: ignore[no-untyped-def]
    """Add the transpose, in place: the matrix may be large."""
    for i in range(once.shape[0]):
        for j in range(i + 1):
            both = once[i, j] + once[j, i]
            once[i, j] = both
            once[j, i] = both
