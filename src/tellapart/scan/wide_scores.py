"""U of every numeric column of a wide table, held as what differs from its value at 0.

Of counts most values are 0 and share one normal score. So U is that score, and a sparse matrix of
what the other values have more: memory and sums are those of the entries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from tellapart.arrays import FloatArray, IntArray
from tellapart.compiling import compiled
from tellapart.data.column_store import SparseColumns
from tellapart.data.samples import Samples, Values
from tellapart.scan.permuted_tails import BinMoments
from tellapart.threads import in_threads

Singles = NDArray[np.float32]

# So many columns are taken at a time, whatever the number of threads.
COLUMNS_AT_A_TIME = 512


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
            return _scored(samples, numeric[begin : begin + COLUMNS_AT_A_TIME])

        begins = range(0, max(numeric.size, 1), COLUMNS_AT_A_TIME)
        columns, common, counts, rows, more, ties, skewness, kurtosis = (
            np.concatenate(part) for part in zip(*in_threads(score, begins, n_jobs), strict=True)
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
        deviation = np.ones(self.size)
        return BinMoments(self.n_rows, share, deviation, self.skewness, self.kurtosis)

    def dense(self, places: IntArray) -> Singles:
        """Return U of some of the columns (N × k)."""
        found = np.repeat(self.common[places][np.newaxis], self.n_rows, axis=0)
        for k, place in enumerate(places):
            own = slice(self.starts[place], self.starts[place + 1])
            found[self.rows[own], k] += self.more[own]
        return found


def _sparse(values: Values) -> bool:
    return isinstance(values, SparseColumns)


def _entries(values: Values, columns: IntArray) -> sparse.csc_array:
    """Return some columns as a sparse matrix."""
    if isinstance(values, SparseColumns):
        return sparse.csc_array(values.matrix[:, columns])
    return sparse.csc_array(values[:, columns])


def _scored(samples: Samples, columns: IntArray) -> tuple[NDArray[Any], ...]:
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
            own = (score[k] - mean) / deviation
            third += own * own * own
            fourth += own * own * own * own
            score[k] = own - common[q]
        powers[0, q], powers[1, q] = third / n_rows, fourth / n_rows
