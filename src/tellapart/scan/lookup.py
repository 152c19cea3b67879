"""Compiled look-ups: from values to their cells, and from cells to scores.

Columns are many where rows are few: what is done for each of them is done in one call for a slice.
"""

from __future__ import annotations

import math

import numpy as np

from tellapart.compiling import compiled
from tellapart.scan.units import CLIP

# Edges of one bucket that are counted one by one: no branch to guess wrong.
_FEW = 8


@compiled
def count_before(edges, low, scale, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Set out[j], zeros, to how many edges lie in the buckets before the j-th, as `find_cells`."""
    last = out.size - 2
    for i in range(edges.size):
        place = (edges[i] - low) * scale
        step = 0
        if place > 0:  # neither below nor not a number
            step = int(min(place, float(last)))
        out[step + 1] += 1
    for j in range(1, out.size):
        out[j] += out[j - 1]


@compiled
def count_all_before(edges, edge_start, low, scale, out, starts):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Count the edges before the buckets of every column."""
    for q in range(low.size):
        own = edges[edge_start[q] : edge_start[q + 1]]
        count_before(own, low[q], scale[q], out[starts[q] : starts[q + 1]])


@compiled
def find_cells(values, edges, gaps, buckets, low, scale, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Set out[i] to the cell of values[i]; see `tellapart.scan.tables.Tables`."""
    last = buckets.size - 2
    size = edges.size
    for i in range(values.size):
        value = values[i]
        step = int(min(max((value - low) * scale, 0.0), float(last)))
        left, right = buckets[step], buckets[step + 1]
        # The first edge that is not below the value.
        while right - left > _FEW:
            middle = (left + right) >> 1
            if edges[middle] < value:
                left = middle + 1
            else:
                right = middle
        place = left
        for k in range(left, right):
            place += 1 if edges[k] < value else 0
        if gaps:
            hit = place < size and edges[place] == value
            out[i] = 2 * place + (1 if hit else 0)
        else:
            out[i] = min(place, size - 1)


@compiled
def take_scores(found, cells, kind, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Set out[i] to one score of each cell found."""
    for i in range(found.size):
        out[i] = cells[found[i], kind]


@compiled
def clip_values(values, centre, half_spread, mean, scale, square, slope, offset, v, g):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Set v[i] and g[i] to V and G of values[i]; see `tellapart.scan.units.Units`."""
    for i in range(values.size):
        c = (values[i] / 2 - centre / 2) / half_spread
        c = min(max(c, -CLIP), CLIP)
        v[i] = (c - mean) * scale
        g[i] = (square * c + slope) * c + offset


@compiled
def score_columns(  # type: ignore[no-untyped-def]  # pragma: no cover
    values, order, columns, edges, edge_start, gaps, buckets, bucket_start, low, scale,
    cells, cell_start, missing, is_level, units, first, found, v, g,
):  # fmt: skip
    """Write the cells, V and G of score columns, from `first` on, one per row of what is written.

    `order` says which rows come one after the other, `units` has one row for each number of
    `tellapart.scan.units.Units` that turns values into V and G. Of a level V is U, and there is no
    G; a value that is missing has the last cell of its column, and neither.
    """
    own = np.empty(order.size)
    absent = np.zeros(order.size, dtype=np.bool_)
    for q in range(found.shape[0]):
        p = first + q
        mine = edges[edge_start[p] : edge_start[p + 1]]
        for i in range(order.size):
            own[i] = values[order[i], columns[p]]
            if missing:
                absent[i] = math.isnan(own[i])
                own[i] = mine[0] if absent[i] else own[i]
        steps = buckets[bucket_start[p] : bucket_start[p + 1]]
        find_cells(own, mine, gaps[p], steps, low[p], scale[p], found[q])
        if missing:
            last = cell_start[p + 1] - cell_start[p] - 1
            for i in range(order.size):
                found[q, i] = last if absent[i] else found[q, i]
        if is_level[p]:
            take_scores(found[q], cells[cell_start[p] : cell_start[p + 1]], 0, v[q])
            g[q, :] = 0.0
            continue
        clip_values(
            own, units[0, p], units[1, p], units[2, p], units[3, p], units[4, p], units[5, p],
            units[6, p], v[q], g[q],
        )  # fmt: skip
        if missing:
            for i in range(order.size):
                if absent[i]:
                    v[q, i] = 0.0
                    g[q, i] = 0.0


@compiled
def take_columns(found, cells, cell_start, first, kind, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write one score of the cells found of score columns, from `first` on."""
    for q in range(found.shape[0]):
        take_scores(found[q], cells[cell_start[first + q] :], kind, out[q])
