"""Cells of a column, from its sorted pooled values, and the scores of each cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.compiling import compiled

# Values in robust units: V, clipped, and G, its square without what V says of it.


CLIP = 3.5
FAR_OUT = 1.8
"""Robust standard deviations beyond which a value counts as far out."""
# A spread below this share of the largest distance from the median is none.
LEAST_SPREAD = 1e-12
# What is left of a score after its regression on another must vary by at least this share.
LEAST_REST = 1e-3


@dataclass(frozen=True, eq=False)
class Units:
    """How score columns turn values v into c = clip((v/2 − centre/2)/half_spread), V and G.

    V = (c − mean)·scale and G = square·c² + slope·c + offset, all arrays of length P. `far_scale`
    is 1/deviation of max(|V| − 1.8, 0). `is_level` marks indicators of levels, whose V is their U.
    """

    centre: FloatArray
    half_spread: FloatArray
    mean: FloatArray
    scale: FloatArray
    square: FloatArray
    slope: FloatArray
    offset: FloatArray
    far_scale: FloatArray
    is_level: NDArray[np.bool_]

    @classmethod
    def of_levels(cls, size: int) -> Units:
        """Return the units of indicators, which need none."""
        zero = np.zeros(size)
        one = np.ones(size)
        return cls(zero, one, zero, zero, zero, zero, zero, zero, np.ones(size, dtype=bool))

    @classmethod
    def joined(cls, parts: Sequence[Units]) -> Units:
        """Return the units of several parts, one after the other."""
        empty = cls.of_levels(0)
        names = [field.name for field in fields(cls)]
        return cls(
            *(np.concatenate([getattr(part, name) for part in (empty, *parts)]) for name in names)
        )

    @cached_property
    def turning(self) -> FloatArray:
        """What turns values into V and G: the arrays from `centre` to `offset`, one per row."""
        return np.stack(
            [
                self.centre,
                self.half_spread,
                self.mean,
                self.scale,
                self.square,
                self.slope,
                self.offset,
            ]
        )

    def some(self, places: IntArray | slice) -> Units:
        """Return the units of some score columns."""
        return Units(*(getattr(self, field.name)[places] for field in fields(self)))


def measure_units(values: FloatArray) -> Units:
    """Return the units of numeric columns, from pooled rows of shape (rows, columns)."""
    centre, half_spread = robust_scale(values)
    clipped = robust_units(values, centre, half_spread)
    mean, scale = _moments(clipped)
    square_mean, square_scale = _moments(np.square(clipped))
    standard = (clipped - mean) * scale
    unit = (np.square(clipped) - square_mean) * square_scale
    slope = np.mean(unit * standard, axis=0)
    rest = np.mean(np.square(unit - slope * standard), axis=0)
    keep = rest >= LEAST_REST
    # G = ((c² − m₂)/s₂ − slope·(c − m₁)/s₁)/deviation of that.
    inverse = np.where(keep, 1 / np.sqrt(np.where(keep, rest, 1.0)), 0.0)
    return Units(
        centre=centre,
        half_spread=half_spread,
        mean=mean,
        scale=scale,
        square=square_scale * inverse,
        slope=-slope * scale * inverse,
        offset=(slope * scale * mean - square_mean * square_scale) * inverse,
        far_scale=_moments(np.maximum(np.abs(standard) - FAR_OUT, 0))[1],
        is_level=np.zeros(mean.size, dtype=bool),
    )


def _moments(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return means and inverse deviations; 0 for what does not vary."""
    mean = values.mean(axis=0)
    deviation = values.std(axis=0)
    flat = deviation <= 1e-9 * np.maximum(np.abs(values).max(axis=0), 1e-300)
    return mean, np.where(flat, 0.0, 1 / np.where(flat, 1.0, deviation))


def robust_units(values: FloatArray, centre: FloatArray, half_spread: FloatArray) -> FloatArray:
    """Return (v − median)/spread clipped at ±3.5."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.clip((values / 2 - centre / 2) / half_spread, -CLIP, CLIP)


def robust_scale(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the median and half the spread of each column: the MAD, else the deviation.

    Halves, as the difference of two huge numbers of opposite sign is not a number.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        median = np.median(values, axis=0)
        half = values / 2 - median / 2
        largest = np.abs(half).max(axis=0)
        scaled = half / np.where(largest > 0, largest, 1.0)
        spread = 1.4826 * np.median(np.abs(scaled), axis=0)
        spread = np.where(spread > LEAST_SPREAD, spread, scaled.std(axis=0)) * largest
    return median, np.where(spread > 0, spread, 1.0)


CELL_SCORES = (
    "normal",
    "spread",
    "wave 2",
    "wave 3",
    "wave 4",
    "skew",
    "fourth",
    "atom",
    "frequent",
    "rank",
    "sign",
)
"""The scores of a cell, in the order of its row; see `tellapart.scan.tables`."""
CELL_WIDTH = 16
"""Length of a row, a line of the cache: what is left of it is 0."""
# Columns with almost all rows on one side have no sign: products of three rare values are a matter
# of single rows.
LEAST_SIDE = 0.1


@dataclass(frozen=True, eq=False)
class Cut:
    """Columns cut into cells.

    Attributes
    ----------
    edges, edge_start : arrays
        The edges of all columns, and where those of each begin.
    weight, quantile : arrays
        Rows in each cell, and its mid-rank in (0, 1).
    cell_start : array
        Where the cells of each column begin. With gaps, cell 2j of a column lies before edge j and
        cell 2j + 1 is that edge; without, cell j is edge j.
    gaps : bool
        Whether there are cells between the edges.
    """

    edges: FloatArray
    edge_start: IntArray
    weight: FloatArray
    quantile: FloatArray
    cell_start: IntArray
    gaps: bool


def cut_columns(rising: FloatArray, most: int, *, gaps: bool) -> Cut:
    """Cut columns, rows of `rising` with their values in order, at no more than `most` edges."""
    levels = _levels(rising.shape[1], most)
    edges = np.empty((rising.shape[0], min(most, rising.shape[1])))
    counts = np.zeros(rising.shape[0], dtype=np.int64)
    _distinct(rising, levels, most, edges, counts)
    edge_start = np.concatenate([[0], np.cumsum(counts)])
    kept = edges[np.arange(edges.shape[1]) < counts[:, np.newaxis]]
    sizes = 2 * counts + 1 if gaps else counts
    cell_start = np.concatenate([[0], np.cumsum(sizes)])
    weight = np.zeros(int(cell_start[-1]))
    _weigh(rising, kept, edge_start, cell_start, gaps, weight)
    below = np.cumsum(weight) - weight
    before = np.repeat(below[cell_start[:-1]], sizes)
    quantile = (below - before + weight / 2) / rising.shape[1]
    # What lies beyond the rows drawn is as far out as the outermost of them.
    edge = 0.5 / rising.shape[1]
    return Cut(kept, edge_start, weight, np.clip(quantile, edge, 1 - edge), cell_start, gaps)


def _levels(n_rows: int, most: int) -> IntArray:
    """Return the ranks at which columns of many values are cut: equal shares, finer far out."""
    if most >= n_rows:
        return np.empty(0, dtype=np.intp)
    fine = most // 4
    shares = (np.arange(most - fine) + 0.5) / (most - fine)
    # In the tails steps of equal factors, down to single rows.
    tail = np.geomspace(1, n_rows / (most - fine), fine // 2)
    ranks = np.concatenate([shares * n_rows, tail - 1, n_rows - tail])
    return np.unique(np.clip(ranks, 0, n_rows - 1).astype(np.intp))


@compiled
def _distinct(rising, levels, most, edges, counts):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write the edges of every column and how many there are: all values, or at levels."""
    for q in range(rising.shape[0]):
        count = 0
        full = True
        for i in range(rising.shape[1]):
            if i == 0 or rising[q, i] != rising[q, i - 1]:
                if count == most:
                    full = False
                    break
                edges[q, count] = rising[q, i]
                count += 1
        if not full:
            count = 0
            for rank in levels:
                if count == 0 or rising[q, rank] != edges[q, count - 1]:
                    edges[q, count] = rising[q, rank]
                    count += 1
        counts[q] = count


@compiled
def _weigh(rising, edges, edge_start, cell_start, gaps, weight):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Count the values of each cell: both run upwards together."""
    for q in range(rising.shape[0]):
        first, last = edge_start[q], edge_start[q + 1]
        j = first
        for i in range(rising.shape[1]):
            value = rising[q, i]
            while j < last and edges[j] < value:
                j += 1
            hit = j < last and edges[j] == value
            if gaps:
                weight[cell_start[q] + 2 * (j - first) + (1 if hit else 0)] += 1.0
            else:
                weight[cell_start[q] + j - first] += 1.0


def score_cells(cut: Cut, normal: FloatArray, least: float) -> tuple[Singles, FloatArray]:
    """Return the scores of all cells, and the most frequent value of each column, where frequent.

    `normal` holds the normal quantile of every cell; `least` rows must share a value, and as many
    have others, for it to be frequent.
    """
    cells = np.zeros((normal.size, CellScores.count), dtype=np.float32)
    frequent = np.full(cut.edge_start.size - 1, np.nan)
    # Cells run upwards, and so do their quantiles.
    upwards = np.arange(np.diff(cut.cell_start).max(initial=0))
    _score(
        normal, cut.quantile, cut.weight, cut.cell_start, cut.gaps, cut.edges, cut.edge_start,
        least, upwards, np.empty((5, upwards.size)), np.empty((8, upwards.size)), cells, frequent,
    )  # fmt: skip
    return cells, frequent


# Plain loops on room that is handed in: array expressions take seconds to compile.


@compiled(error_model="numpy")
def _score(  # type: ignore[no-untyped-def]  # pragma: no cover
    normal, quantile, weight, cell_start, gaps, edges, edge_start, least, upwards, room, shapes,
    cells, frequent,
):  # fmt: skip
    u, unit, spread, spread_unit, rest = room[0], room[1], room[2], room[3], room[4]
    for q in range(cell_start.size - 1):
        begin, end = cell_start[q], cell_start[q + 1]
        w, out = weight[begin:end], cells[begin:end]
        _standard(normal[begin:end], w, u)
        _standard(u, w, unit)
        rows = 0.0
        top = -1
        for c in range(w.size):
            x, share = u[c], quantile[begin + c]
            out[c, 0] = x
            shapes[1, c] = min(max(x * x - 1, -2.5), 4.0)
            shapes[2, c] = math.cos(2 * math.pi * share)
            shapes[3, c] = math.cos(3 * math.pi * share)
            shapes[4, c] = math.cos(4 * math.pi * share)
            shapes[5, c] = min(max((x * x - 3) * x, -5.0), 5.0)
            shapes[6, c] = min(max(x * x * x * x - 6 * x * x + 3, -6.0), 12.0)
            shapes[7, c] = 0.0
            rows += w[c]
            if (c % 2 == 1 or not gaps) and (top < 0 or w[c] > w[top]):
                top = c
        last = 6
        if least <= w[top] <= rows - least:
            last = 7
            shapes[7, top] = 1.0
            out[top, 8] = 1.0
            frequent[q] = edges[edge_start[q] + (top // 2 if gaps else top)]
        for j in range(1, last + 1):
            score = spread if j == 1 else rest
            _without(shapes[j], unit, w, score)
            if j == 1:
                _standard(spread, w, spread_unit)
            elif j == 6:
                _without(rest, spread_unit, w, rest)
            for c in range(w.size):
                out[c, j] = score[c]
        _rank_and_sign(u, w, upwards, shapes[0], rest, out)


@compiled(error_model="numpy")
def _rank_and_sign(u, w, upwards, room, unit, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Fill in Φ(U), standardised, and ±1 about the median, ties on the side that is more even.

    Also the squares. `upwards` are the places of the values in rising order.
    """
    rows = 0.0
    for c in range(w.size):
        room[c] = 0.5 * math.erfc(-u[c] / math.sqrt(2.0))
        rows += w[c]
    _standard(room, w, unit)
    for c in range(w.size):
        out[c, 9] = unit[c]
    # Of an even number of rows the median is the mean of two.
    lower, upper = 0.0, 0.0
    below = 0.0
    for i in range(w.size):
        c = upwards[i]
        if w[c] > 0.0:
            upper = u[c]
            if below < rows / 2:
                lower = upper
            below += w[c]
            if below > rows / 2:
                break
    middle = lower if lower == upper else (lower + upper) / 2
    above = 0.0
    least = 0.0
    for c in range(w.size):
        if u[c] > middle:
            above += w[c]
        if u[c] >= middle:
            least += w[c]
    uneven = abs(above / rows - 0.5) > abs(least / rows - 0.5)
    share = least / rows if uneven else above / rows
    if abs(share - 0.5) <= 0.5 - LEAST_SIDE:
        for c in range(w.size):
            room[c] = 1.0 if u[c] > middle or (uneven and u[c] == middle) else 0.0
        _standard(room, w, unit)
        for c in range(w.size):
            out[c, 10] = unit[c]
    for c in range(w.size):
        for place in range(3):
            out[c, 11 + place] = out[c, place] * out[c, place]


@compiled(error_model="numpy")
def _standard(values, w, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Set values with mean 0 and variance 1 under the weights; 0 where they do not vary."""
    rows, mean, largest = 0.0, 0.0, 1e-300
    for c in range(w.size):
        rows += w[c]
        mean += w[c] * values[c]
        largest = max(largest, abs(values[c]))
    mean /= rows
    squares = 0.0
    for c in range(w.size):
        out[c] = values[c] - mean
        squares += w[c] * out[c] * out[c]
    deviation = math.sqrt(squares / rows)
    still = deviation <= 1e-9 * largest
    for c in range(w.size):
        out[c] = 0.0 if still else out[c] / deviation


@compiled(error_model="numpy")
def _without(values, base, w, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Set values less their regression on `base`, both standardised; 0 where little is left."""
    _standard(values, w, out)
    rows, slope = 0.0, 0.0
    for c in range(w.size):
        rows += w[c]
        slope += w[c] * out[c] * base[c]
    slope /= rows
    left = 0.0
    for c in range(w.size):
        out[c] -= slope * base[c]
        left += w[c] * out[c] * out[c]
    if left / rows < LEAST_REST:
        for c in range(w.size):
            out[c] = 0.0
        return
    _standard(out, w, out)


class CellScores:
    """Rows of scores: their length, and those of the indicator of a level."""

    count: ClassVar[int] = CELL_WIDTH

    @staticmethod
    def of_level(indicator: FloatArray, counts: FloatArray, gaps: bool) -> Singles:
        """Return the cells of an indicator of levels that occur `counts` times.

        With gaps, what lies between two levels is a level that no row drawn has: it is not the one
        indicated.
        """
        if gaps:
            spread = np.zeros(2 * indicator.size + 1), np.zeros(2 * indicator.size + 1)
            spread[0][1::2], spread[1][1::2] = indicator, counts
            indicator, counts = spread
        cells = np.zeros((indicator.size, CellScores.count), dtype=np.float32)
        normal, unit = np.empty((2, indicator.size))
        _standard(indicator, counts, normal)
        cells[:, 0] = normal
        _rank_and_sign(normal, counts, np.argsort(normal), np.empty(normal.size), unit, cells)
        return cells


# Compiled look-ups: from values to their cells, and from cells to scores.
#
# Columns are many where rows are few: what is done for each of them is done in one call for a
# slice.


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
        of_column = edges[edge_start[q] : edge_start[q + 1]]
        count_before(of_column, low[q], scale[q], out[starts[q] : starts[q + 1]])


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
def clip_values(values, centre, half_spread, mean, scale, square, slope, offset, v, g):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Set v[i] and g[i] to V and G of values[i]; see `tellapart.scan.cells.Units`."""
    for i in range(values.size):
        c = (values[i] / 2 - centre / 2) / half_spread
        c = min(max(c, -CLIP), CLIP)
        v[i] = (c - mean) * scale
        g[i] = (square * c + slope) * c + offset


@compiled
def score_columns(  # type: ignore[no-untyped-def]  # pragma: no cover
    values, order, columns, edges, edge_start, gaps, buckets, bucket_start, low, scale,
    cells, cell_start, missing, is_level, units, first, of_column, absent, cell_numbers, v, g,
):  # fmt: skip
    """Write the cells, V and G of score columns, from `first` on, one per row of what is written.

    `order` says which rows come one after the other, `units` has one row for each number of
    `tellapart.scan.cells.Units` that turns values into V and G. Of a level V is U, and there is no
    G; a value that is missing has the last cell of its column, and neither. `of_column` and
    `absent` are room for one column.
    """
    for q in range(cell_numbers.shape[0]):
        p = first + q
        column_edges = edges[edge_start[p] : edge_start[p + 1]]
        for i in range(order.size):
            of_column[i] = values[order[i], columns[p]]
            if missing:
                absent[i] = math.isnan(of_column[i])
                of_column[i] = column_edges[0] if absent[i] else of_column[i]
        steps = buckets[bucket_start[p] : bucket_start[p + 1]]
        find_cells(of_column, column_edges, gaps[p], steps, low[p], scale[p], cell_numbers[q])
        if missing:
            last = cell_start[p + 1] - cell_start[p] - 1
            for i in range(order.size):
                cell_numbers[q, i] = last if absent[i] else cell_numbers[q, i]
        if is_level[p]:
            for i in range(order.size):
                v[q, i] = cells[cell_start[p] + cell_numbers[q, i], 0]
                g[q, i] = 0.0
            continue
        clip_values(
            of_column, units[0, p], units[1, p], units[2, p], units[3, p], units[4, p], units[5, p],
            units[6, p], v[q], g[q],
        )  # fmt: skip
        if missing:
            for i in range(order.size):
                if absent[i]:
                    v[q, i] = 0.0
                    g[q, i] = 0.0


@compiled
def take_columns(cell_numbers, cells, cell_start, first, kind, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write one score of the cells found of score columns, from `first` on."""
    for q in range(cell_numbers.shape[0]):
        start = cell_start[first + q]
        for i in range(cell_numbers.shape[1]):
            out[q, i] = cells[start + cell_numbers[q, i], kind]
