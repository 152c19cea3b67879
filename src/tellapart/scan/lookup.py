"""Compiled look-ups: from values to their cells, and from cells to scores."""

from __future__ import annotations

from tellapart.compiling import compiled
from tellapart.scan.units import CLIP

# Edges of one bucket that are counted one by one: no branch to guess wrong.
_FEW = 8


@compiled
def gather(values, order, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Set out[i] to values[order[i]]."""
    for i in range(order.size):
        out[i] = values[order[i]]


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
