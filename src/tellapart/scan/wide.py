"""Location of every column of a wide table under shared orders of the rows: the largest of each.

For all comparisons at once: with S the sum of U over the smaller sample of n rows,
δ(U) = ±S·N/(n(N − n)), as the sum over all rows is 0. Over all permutations S has the mean 0 and
the variance n(N − n)/(N − 1). What is kept of each permutation are the largest δ² of all columns,
and the largest scores of the columns that are named by their location alone: s of
`tellapart.scan.tails` at S in its deviations. Every permutation, the true labels among
them, is treated alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from tellapart.arrays import BoolArray, FloatArray, IntArray, Singles
from tellapart.compiling import compiled
from tellapart.data.column_store import SparseColumns, Values
from tellapart.data.samples import Samples
from tellapart.interrupts import check_interrupts
from tellapart.permutation.shared_orders import RowOrders
from tellapart.scan.column_tests import Unadjusted, exponential
from tellapart.scan.tails import MOST_LACKING, BinMoments, exponent
from tellapart.threads import in_threads

# U of every numeric column of a wide table, held as what differs from its value at 0.
#
# Of counts most values are 0 and share one normal score. So U is that score, and a sparse matrix of
# what the other values have more: memory and sums are those of the entries.


# So many columns are taken at a time, whatever the number of threads.
SCORED_COLUMNS_AT_A_TIME = 512


@dataclass(frozen=True, eq=False)
class WideScores:
    """U of C numeric columns that vary, over all N rows.

    Attributes
    ----------
    columns : array of length C
        Their places among the columns of the samples.
    common : array of length C
        U of the value 0.
    starts, rows, more : arrays
        U less that, of the values that are not 0, column after column, by rising rows.
    ties : array of length C
        Σ (share of the rows with one value)³ over values: 1 where all rows share one.
    skewness, kurtosis : arrays of length C
        Means of U³ and U⁴.
    n_rows : int
        N.
    """

    columns: IntArray
    common: Singles
    starts: IntArray
    rows: NDArray[np.int32]
    more: Singles
    ties: FloatArray
    skewness: FloatArray
    kurtosis: FloatArray
    n_rows: int

    @classmethod
    def of(cls, samples: Samples, n_jobs: int = 1) -> WideScores:
        """Return the scores of all rows of the samples, those of X first."""
        numeric = np.flatnonzero([kind == "numeric" for kind in samples.kinds])

        def score(begin: int) -> tuple[NDArray[Any], ...]:
            return _score_columns(samples, numeric[begin : begin + SCORED_COLUMNS_AT_A_TIME])

        begins = range(0, max(numeric.size, 1), SCORED_COLUMNS_AT_A_TIME)
        columns, common, counts, rows, more, ties, skewness, kurtosis = (
            np.concatenate(arrays)
            for arrays in zip(*in_threads(score, begins, n_jobs), strict=True)
        )
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
        n_rows = samples.n_x + samples.n_y
        return cls(columns, common, starts, rows, more, ties, skewness, kurtosis, n_rows)

    @property
    def size(self) -> int:
        """Number of columns, C."""
        return int(self.columns.size)

    def moments(self, share: float) -> BinMoments:
        """Return the moments of U of single rows, a share of which are those of x."""
        mean, deviation = np.zeros(self.size), np.ones(self.size)
        return BinMoments(self.n_rows, share, mean, deviation, self.skewness, self.kurtosis)

    def dense(self, columns: IntArray) -> Singles:
        """Return U of some of the columns (N × k)."""
        scores = np.repeat(self.common[columns][np.newaxis], self.n_rows, axis=0)
        for k, column in enumerate(columns):
            entries = slice(self.starts[column], self.starts[column + 1])
            scores[self.rows[entries], k] += self.more[entries]
        return scores


def _entries(values: Values, columns: IntArray) -> sparse.csc_array:
    """Return some columns as a sparse matrix."""
    if isinstance(values, SparseColumns):
        return sparse.csc_array(values.matrix[:, columns])
    return sparse.csc_array(values[:, columns])


def _score_columns(samples: Samples, columns: IntArray) -> tuple[NDArray[Any], ...]:
    """Return place, common score, number of entries, rows, entries, ties, moments of columns."""
    parts = [_entries(values, columns) for values in (samples.x, samples.y)]
    held = sparse.csc_array(sparse.vstack(parts, format="csc"))
    held.sort_indices()
    n_rows = held.shape[0]
    quantile = np.empty(held.nnz)
    zero, ties = np.empty(columns.size), np.empty(columns.size)
    _mid_ranks(held.indptr, held.data, n_rows, quantile, zero, ties)
    score, common = special.ndtri(quantile), special.ndtri(zero)
    varies, powers = np.empty(columns.size, dtype=np.bool_), np.zeros((2, columns.size))
    _standardise(held.indptr, n_rows, score, common, varies, powers)
    counts = np.diff(held.indptr)
    kept = slice(None) if varies.all() else np.repeat(varies, counts)
    return (
        columns[varies],
        common[varies].astype(np.float32),
        counts[varies],
        held.indices[kept].astype(np.int32),
        score[kept].astype(np.float32),
        ties[varies],
        *powers[:, varies],
    )


@compiled
def _mid_ranks(indptr, data, n_rows, quantile, zero, ties):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write the mid-ranks in (0, 1) of all entries and of the value 0 of every column, and ties."""
    for q in range(zero.size):
        first, last = indptr[q], indptr[q + 1]
        values = data[first:last]
        order = np.argsort(values)
        below = 0
        while below < order.size and values[order[below]] < 0.0:
            below += 1
        zeros = n_rows - order.size
        above = below
        while above < order.size and values[order[above]] == 0.0:
            above += 1
        zeros += above - below
        zero[q] = (below + 0.5 * zeros) / n_rows if zeros > 0 else 0.5
        ties[q] = (zeros / n_rows) ** 3
        i = 0
        while i < order.size:
            j = i
            while j < order.size and values[order[j]] == values[order[i]]:
                j += 1
            # Values that are stored as 0 are among the others that are.
            middle = 0.5 * (i + j) if i < below else zeros - (above - below) + 0.5 * (i + j)
            if i == below and above > below:
                middle = below + 0.5 * zeros
            else:
                ties[q] += ((j - i) / n_rows) ** 3
            for k in range(i, j):
                quantile[first + order[k]] = middle / n_rows
            i = j


@compiled
def _standardise(indptr, n_rows, score, common, varies, powers):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Turn scores into those of mean 0 and variance 1, entries into what they are more than 0's.

    `powers` are set to the means of the third and fourth powers.
    """
    for q in range(common.size):
        first, last = indptr[q], indptr[q + 1]
        zeros = n_rows - (last - first)
        total = zeros * common[q]
        for k in range(first, last):
            total += score[k]
        mean = total / n_rows
        square = zeros * (common[q] - mean) ** 2
        for k in range(first, last):
            square += (score[k] - mean) ** 2
        deviation = (square / n_rows) ** 0.5
        varies[q] = deviation > 1e-9
        if not varies[q]:
            continue
        common[q] = (common[q] - mean) / deviation
        third, fourth = zeros * common[q] ** 3, zeros * common[q] ** 4
        for k in range(first, last):
            z = (score[k] - mean) / deviation
            third += z * z * z
            fourth += z * z * z * z
            score[k] = z - common[q]
        powers[0, q], powers[1, q] = third / n_rows, fourth / n_rows


KEPT_SHIFTS, KEPT_SCORES = 5, 8
"""Of each permutation: largest δ², and largest scores with their columns."""
SUMMED_COLUMNS_AT_A_TIME = 256
"""What a byte can tell apart, and the entries of which a core keeps at hand."""
LANES = 4
"""Parts of the columns that are looked at side by side: the same for any number of threads."""


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
    true_scores : array of length C
        The score of every column at the true labels.
    zscores : array of length C
        δ/√var(δ) there, of x less y.
    reached : array of length C
        Permutations whose |δ| comes up to that at the true labels.
    named : array of length C
        Which columns are named here.
    columns : array of length C
        Their places among the columns of the samples.
    """

    largest: Singles
    scores: Singles
    places: NDArray[np.int32]
    true_scores: FloatArray
    zscores: FloatArray
    reached: NDArray[np.int32]
    named: BoolArray
    columns: IntArray

    def top_sums(self, few: int) -> list[FloatArray]:
        """Return the largest δ² of each permutation, and the sum of the `few` largest."""
        largest = self.largest.astype(np.float64)
        return [largest[:, -1], largest[:, -few:].sum(axis=1)]

    @property
    def unadjusted(self) -> Unadjusted:
        """The unadjusted p-values of the columns that are named here, by their |δ|.

        Where few permutations come up to it, the tail is that of the score.
        """
        tail = np.exp(-exponential(self.true_scores[self.named]))
        return Unadjusted.by_tail(self.reached[self.named], tail, self.scores.shape[0])

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
    n_x = np.array([sample_rows.size for sample_rows in rows])
    size_of = np.searchsorted(orders.sizes, np.minimum(n_x, n_rows - n_x))
    longest = int(np.minimum(n_x, n_rows - n_x).max())
    true = np.zeros((len(rows), longest), dtype=np.int32)
    for k, sample_rows in enumerate(rows):
        if 2 * sample_rows.size > n_rows:
            sample_rows = np.setdiff1d(np.arange(n_rows), sample_rows, assume_unique=True)
        true[k, : sample_rows.size] = orders.true_order(sample_rows).first[0]
    signs = np.where(2 * n_x > n_rows, -1.0, 1.0)
    shapes = np.array([scores.moments(size / n_rows).of_sum().shape for size in orders.sizes])
    cuts = np.linspace(0, scores.size, LANES + 1).astype(np.intp)

    def lane(which: int) -> tuple[NDArray[Any], ...]:
        size = int(cuts[which + 1] - cuts[which])
        largest = np.zeros((len(rows), count, KEPT_SHIFTS), dtype=np.float32)
        best = np.zeros((len(rows), count, KEPT_SCORES), dtype=np.float32)
        where = np.full((len(rows), count, KEPT_SCORES), -1, dtype=np.int32)
        true_scores, sums = np.zeros((len(rows), size)), np.zeros((len(rows), size))
        reached = np.zeros((len(rows), size), dtype=np.int32)
        for begin in range(int(cuts[which]), int(cuts[which + 1]), SUMMED_COLUMNS_AT_A_TIME):
            check_interrupts()
            end = min(begin + SUMMED_COLUMNS_AT_A_TIME, int(cuts[which + 1]))
            of_lane = slice(begin - int(cuts[which]), end - int(cuts[which]))
            _shifts(
                n_rows, scores.starts[begin : end + 1], scores.rows, scores.more,
                scores.common[begin:end],
                orders.first, orders.sizes, true, size_of, named[begin:end], begin,
                np.ascontiguousarray(shapes[:, :, begin:end]), largest, best, where,
                true_scores[:, of_lane], sums[:, of_lane], reached[:, of_lane],
            )  # fmt: skip
        return largest, best, where, true_scores, sums, reached

    parts = in_threads(lane, range(LANES), n_jobs)
    largest = np.sort(np.concatenate([p[0] for p in parts], axis=2), axis=2)[..., -KEPT_SHIFTS:]
    best, where = (np.concatenate([p[k] for p in parts], axis=2) for k in (1, 2))
    order = np.argsort(best, axis=2, kind="stable")[..., -KEPT_SCORES:]
    best, where = (np.take_along_axis(table, order, axis=2) for table in (best, where))
    true_scores, sums, reached = (np.concatenate([p[k] for p in parts], axis=1) for k in (3, 4, 5))
    # δ = S·N/(mn), and var(δ) = N²/(mn(N − 1)) over permutations.
    units = signs * np.sqrt((n_rows - 1) / (n_x * (n_rows - n_x)))
    return [
        WideShifts(
            largest[k],
            best[k],
            where[k],
            true_scores[k],
            sums[k] * units[k],
            reached[k],
            named,
            scores.columns,
        )
        for k in range(len(rows))
    ]


@compiled
def _shifts(  # type: ignore[no-untyped-def]  # pragma: no cover
    n_rows, starts, rows, more, common, orders, sizes, true, size_of, named, first, shapes,
    largest, best, where, true_scores, sums, reached,
):  # fmt: skip
    """Take a block of columns into what is kept of every comparison."""
    width = common.size
    begin, at, extra = _by_row(starts, rows, more, n_rows)
    held, sums_of_x = np.empty(width, dtype=np.float32), np.empty(width, dtype=np.float32)
    least = np.empty((true.shape[0], width), dtype=np.float32)
    for c in range(true.shape[0]):
        n = sizes[size_of[c]]
        held[:] = 0.0
        for row in true[c, :n]:
            for e in range(begin[row], begin[row + 1]):
                held[at[e]] += extra[e]
        shape, size = shapes[size_of[c]], np.float32(n)
        for q in range(width):
            sums_of_x[q] = held[q] + size * common[q]
            sums[c, q] = sums_of_x[q]
            # Rounding must not make less of a tie.
            least[c, q] = abs(sums_of_x[q]) * np.float32(1 - 1e-5) - np.float32(1e-4)
            if named[q]:
                true_scores[c, q] = _scored(sums_of_x[q], _unit(n, n_rows), shape, q)
        _keep(sums_of_x, n, n_rows, shape, named, first, largest[c, 0], best[c, 0], where[c, 0])
    # Sums of what the first rows of an order have more, on to every size.
    for k in range(orders.shape[0]):
        held[:] = 0.0
        t = 0
        for at_size in range(sizes.size):
            n = sizes[at_size]
            for row in orders[k, t:n]:
                for e in range(begin[row], begin[row + 1]):
                    held[at[e]] += extra[e]
            t = n
            size = np.float32(n)
            for q in range(width):
                sums_of_x[q] = held[q] + size * common[q]
            for c in range(size_of.size):
                if size_of[c] == at_size:
                    _count(sums_of_x, least[c], reached[c])
                    _keep(
                        sums_of_x, n, n_rows, shapes[at_size], named, first,
                        largest[c, k + 1], best[c, k + 1], where[c, k + 1],
                    )  # fmt: skip


@compiled(fastmath={"nnan", "nsz"})
def _count(sums_of_x, least, reached):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Count the sums of a block of columns that come up to those at the true labels."""
    for q in range(sums_of_x.size):
        reached[q] += abs(sums_of_x[q]) >= least[q]


@compiled
def _by_row(starts, rows, more, n_rows):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return the entries of a block of columns row after row: where rows begin, places, entries."""
    low, high = starts[0], starts[-1]
    begin = np.zeros(n_rows + 1, dtype=np.int32)
    for e in range(low, high):
        begin[rows[e] + 1] += 1
    for i in range(n_rows):
        begin[i + 1] += begin[i]
    at = np.empty(high - low, dtype=np.uint8)
    extra = np.empty(high - low, dtype=np.float32)
    to = begin[:-1].copy()
    for q in range(starts.size - 1):
        for e in range(starts[q], starts[q + 1]):
            place = to[rows[e]]
            at[place], extra[place] = q, more[e]
            to[rows[e]] += 1
    return begin, at, extra


@compiled
def _unit(n, n_rows):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return 1 over the deviation of S."""
    return math.sqrt((n_rows - 1) / (n * (n_rows - n)))


@compiled
def _scored(total, unit, shape, q):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return the score of the sum of one column over the smaller sample."""
    z = total * unit
    score = exponent(
        z, z * z, shape[0, q], shape[1, q], shape[2, q], shape[3, q], shape[4, q], shape[5, q]
    )
    return float(np.float32(score))


@compiled
def _keep(sums_of_x, n, n_rows, shape, named, first, largest, best, where):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Merge the sums of a block of columns under one permutation into what is kept of it.

    Nearly all of them are too small to be kept, which one look at their size tells: s is at most
    z²/2, times (1 + l(z² − 3))² where tails are light, l ≤ MOST_LACKING/24.
    """
    scale = n_rows / (n * (n_rows - n))
    unit = _unit(n, n_rows)
    light = max(1.0 + MOST_LACKING / 24 * (2.0 * best[0] - 3.0), 1.0)
    cut = min(math.sqrt(largest[0]) / scale, math.sqrt(2.0 * best[0]) / light / unit)
    # Rounding must not keep any out.
    cut = np.float32(cut * (1 - 1e-5))
    if _largest_size(sums_of_x) <= cut:
        return
    for q in range(sums_of_x.size):
        if abs(sums_of_x[q]) <= cut:
            continue
        square = np.float32((sums_of_x[q] * scale) ** 2)
        if square > largest[0]:
            largest[_place(largest, square)] = square
        if named[q]:
            score = np.float32(_scored(sums_of_x[q], unit, shape, q))
            if score > best[0]:
                at = _place(best, score)
                for i in range(at):
                    where[i] = where[i + 1]
                best[at], where[at] = score, first + q


@compiled(fastmath={"nnan", "nsz"})
def _largest_size(values):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return the largest |v|."""
    top = np.float32(0.0)
    for v in values:
        top = max(top, abs(v))
    return top


@compiled
def _place(rising, value):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Move what is smaller than a value down by one, the least of all out; return its place."""
    at = 0
    while at + 1 < rising.size and rising[at + 1] < value:
        rising[at] = rising[at + 1]
        at += 1
    return at
