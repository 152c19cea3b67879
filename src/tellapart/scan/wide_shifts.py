"""Location of every column of a wide table under shared orders of the rows: the largest of each.

For all comparisons at once: with S the sum of U over the smaller sample of n rows,
|δ(U)| = |S|·N/(n(N − n)), as the sum over all rows is 0. What is kept of each permutation are the
largest δ² of all columns, and the largest scores −log p of the columns that are named by their
location alone; p by the tail of the column's own |δ|^(2/3) as in `tellapart.scan.tails`. Every
permutation, the true labels among them, is treated alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.compiling import compiled
from tellapart.interrupts import check_interrupts
from tellapart.permutation.row_orders import RowOrders
from tellapart.scan.tails import FEWEST, TAIL_SHARE, TIE
from tellapart.scan.wide_scores import Singles, WideScores
from tellapart.threads import in_threads

KEPT_SHIFTS, KEPT_SCORES = 5, 8
"""Of each permutation: largest δ², and largest scores with their columns."""
COLUMNS_AT_A_TIME = 128
LANES = 8
"""Parts of the columns that are looked at side by side: the same for any number of threads."""
FEWEST_ORDERS = math.ceil(FEWEST / TAIL_SHARE)
"""Fewer permutations have no tail."""


@dataclass(frozen=True, eq=False)
class WideShifts:
    """What was found for one comparison, the true labels first among B + 1 permutations.

    Attributes
    ----------
    largest : array of shape (B + 1, KEPT_SHIFTS)
        The largest δ² of all columns, rising.
    scores, places : arrays of shape (B + 1, KEPT_SCORES)
        The largest scores of the columns that are named here, rising, and their places among the
        columns of the scores; −1 where there are fewer.
    own : array of length C
        The score of every column at the true labels.
    zscores : array of length C
        δ/√var(δ) there, of x less y.
    named : array of length C
        Which columns are named here.
    columns : array of length C
        Their places among the columns of the samples.
    """

    largest: Singles
    scores: Singles
    places: NDArray[np.int32]
    own: FloatArray
    zscores: FloatArray
    named: BoolArray
    columns: IntArray

    def top_sums(self, few: int) -> list[FloatArray]:
        """Return the largest δ² of each permutation, and the sum of the `few` largest."""
        largest = self.largest.astype(np.float64)
        return [largest[:, -1], largest[:, -few:].sum(axis=1)]

    def maximum_without(self, gone: set[int]) -> FloatArray:
        """Return the largest score under each permutation that belongs to none of the columns.

        Where all the scores kept belong to them, the least of those kept stands for the next one,
        which is no larger.
        """
        free = ~np.isin(self.places, np.array(sorted(gone), dtype=np.int32))
        best = np.where(free, self.scores, -1.0).max(axis=1)
        return np.asarray(np.where(best < 0, self.scores[:, 0], best), dtype=np.float64)


def wide_shifts(
    scores: WideScores,
    orders: RowOrders,
    rows: Sequence[IntArray],
    named: BoolArray,
    n_jobs: int = 1,
) -> list[WideShifts]:
    """Return the shifts of the comparison of each set of rows with all others."""
    count, n_rows = orders.count + 1, scores.n_rows
    n_x = np.array([own.size for own in rows])
    places = np.searchsorted(orders.sizes, np.minimum(n_x, n_rows - n_x))
    members = np.zeros((len(rows), n_rows), dtype=np.bool_)
    for k, own in enumerate(rows):
        members[k, own] = True
    cuts = np.linspace(0, scores.size, LANES + 1).astype(np.intp)

    def lane(which: int) -> tuple[Singles, Singles, NDArray[np.int32], FloatArray, FloatArray]:
        size = int(cuts[which + 1] - cuts[which])
        largest = np.zeros((len(rows), count, KEPT_SHIFTS), dtype=np.float32)
        best = np.zeros((len(rows), count, KEPT_SCORES), dtype=np.float32)
        where = np.full((len(rows), count, KEPT_SCORES), -1, dtype=np.int32)
        own, sums = np.zeros((len(rows), size)), np.zeros((len(rows), size))
        for begin in range(int(cuts[which]), int(cuts[which + 1]), COLUMNS_AT_A_TIME):
            check_interrupts()
            end = min(begin + COLUMNS_AT_A_TIME, int(cuts[which + 1]))
            part = slice(begin - int(cuts[which]), end - int(cuts[which]))
            _shifts(
                scores.starts[begin : end + 1], scores.rows, scores.more, scores.common[begin:end],
                orders.first, orders.sizes, members, places, named[begin:end], begin,
                TAIL_SHARE, TIE, largest, best, where, own[:, part], sums[:, part],
            )  # fmt: skip
        return largest, best, where, own, sums

    parts = in_threads(lane, range(LANES), n_jobs)
    largest = np.sort(np.concatenate([p[0] for p in parts], axis=2), axis=2)[..., -KEPT_SHIFTS:]
    best, where = (np.concatenate([p[k] for p in parts], axis=2) for k in (1, 2))
    order = np.argsort(best, axis=2, kind="stable")[..., -KEPT_SCORES:]
    best, where = (np.take_along_axis(table, order, axis=2) for table in (best, where))
    own, sums = (np.concatenate([p[k] for p in parts], axis=1) for k in (3, 4))
    # δ = S·N/(mn), and var(δ) = N²/(mn(N − 1)) over permutations.
    units = np.sqrt((n_rows - 1) / (n_x * (n_rows - n_x)))
    return [
        WideShifts(largest[k], best[k], where[k], own[k], sums[k] * units[k], named, scores.columns)
        for k in range(len(rows))
    ]


@compiled
def _shifts(  # type: ignore[no-untyped-def]  # pragma: no cover
    starts, rows, more, common, orders, sizes, members, places, named, first,
    share, tie, largest, best, where, own, sums,
):  # fmt: skip
    """Take a block of columns into what is kept of every comparison."""
    width, n_rows, count = common.size, members.shape[1], orders.shape[0]
    begin, at, extra = _by_row(starts, rows, more, n_rows)
    # Sums of what the first rows of every order have more, for every size.
    found = np.empty((sizes.size, width, count), dtype=np.float32)
    held = np.empty(width, dtype=np.float32)
    for k in range(count):
        held[:] = 0.0
        t = 0
        for place in range(sizes.size):
            while t < sizes[place]:
                row = orders[k, t]
                for e in range(begin[row], begin[row + 1]):
                    held[at[e]] += extra[e]
                t += 1
            for q in range(width):
                found[place, q, k] = held[q]
    values = np.empty(count + 1, dtype=np.float32)
    for c in range(members.shape[0]):
        n = sizes[places[c]]
        scale = np.float32(n_rows / (n * (n_rows - n)))
        true = np.zeros(width)
        n_x = 0
        for row in range(n_rows):
            if members[c, row]:
                n_x += 1
                for e in range(begin[row], begin[row + 1]):
                    true[at[e]] += extra[e]
        for q in range(width):
            sums[c, q] = true[q] + n_x * common[q]
            values[0] = abs(np.float32(sums[c, q])) * scale
            offset = np.float32(n * common[q])
            source = found[places[c], q]
            for k in range(count):
                values[k + 1] = abs(source[k] + offset) * scale
            _keep(values, largest[c])
            if named[q]:
                own[c, q] = _keep_scores(values, share, tie, first + q, best[c], where[c])


@compiled
def _by_row(starts, rows, more, n_rows):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return the entries of a block of columns row after row: where rows begin, places, entries."""
    low, high = starts[0], starts[-1]
    begin = np.zeros(n_rows + 1, dtype=np.int32)
    for e in range(low, high):
        begin[rows[e] + 1] += 1
    for i in range(n_rows):
        begin[i + 1] += begin[i]
    at = np.empty(high - low, dtype=np.int16)
    extra = np.empty(high - low, dtype=np.float32)
    to = begin[:-1].copy()
    for q in range(starts.size - 1):
        for e in range(starts[q], starts[q + 1]):
            place = to[rows[e]]
            at[place], extra[place] = q, more[e]
            to[rows[e]] += 1
    return begin, at, extra


@compiled
def _keep(values, largest):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Merge the square of each value into the row of its permutation, which rises."""
    last = largest.shape[1]
    for k in range(values.size):
        square = values[k] * values[k]
        if square > largest[k, 0]:
            place = 0
            while place + 1 < last and largest[k, place + 1] < square:
                largest[k, place] = largest[k, place + 1]
                place += 1
            largest[k, place] = square


@compiled
def _keep_scores(values, share, tie, column, best, where):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Merge the scores of one column into the best of each permutation; return that of the first.

    Values short of the tail have the score 0, be they those of the true labels or not. A tail of
    one value, up to rounding, has the share of the permutations that reach it.
    """
    count = values.size
    inside = int(share * count)
    edge = _nth_largest(values, inside)
    start = np.cbrt(edge * edge)
    # Those above the edge are `inside`, or fewer where others equal it.
    above, scores = np.empty(count, dtype=np.int32), np.empty(count)
    size, excess, top = 0, 0.0, 0.0
    for k in range(count):
        if values[k] > edge:
            above[size], scores[size] = k, np.cbrt(values[k] * values[k])
            excess += scores[size] - start
            top = max(top, scores[size])
            size += 1
    excess /= inside
    if excess > tie * max(top, 1e-300):
        base = math.log(count / (inside + 1))
        for i in range(size):
            scores[i] = (scores[i] - start) / excess + base
    else:
        reached = edge - tie * values.max()
        size = 0
        for k in range(count):
            if values[k] >= reached:
                above[size] = k
                size += 1
        scores[:size] = -math.log(size / count)
    last = best.shape[1]
    for i in range(size):
        k, score = above[i], np.float32(scores[i])
        if score > best[k, 0]:
            place = 0
            while place + 1 < last and best[k, place + 1] < score:
                best[k, place] = best[k, place + 1]
                where[k, place] = where[k, place + 1]
                place += 1
            best[k, place] = score
            where[k, place] = column
    # The true labels are the first permutation, and the first above where they are at all.
    return float(np.float32(scores[0])) if size > 0 and above[0] == 0 else 0.0


@compiled
def _nth_largest(values, n):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return the value that n others are no smaller than: the (n + 1)-th largest."""
    total = 0.0
    for k in range(values.size):
        total += values[k]
    # Of the values above their mean the wanted one is likely to be one; they are half as many.
    guess = 1.3 * total / values.size
    few = np.empty(values.size, dtype=np.float32)
    size = 0
    for k in range(values.size):
        few[size] = values[k]
        size += 1 if values[k] > guess else 0
    if size <= n:
        few[:] = values
        size = values.size
    return np.partition(few[:size], size - n - 1)[size - n - 1]
