"""Scores of rows that several choices share: what is known of them need not be made again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import BoolArray, FloatArray, IntArray, Singles
from tellapart.compiling import compiled
from tellapart.evidence.columns import FAR, standardised
from tellapart.scan.cells import FAR_OUT
from tellapart.scan.scores import Scores
from tellapart.scan.wide import WideScores
from tellapart.threads import MadeOnce, in_slices

# Ranks within two samples by one order of all rows, which many choices share.
#
# Rows in the order of a column's pooled values are, sample by sample, in the order of its values
# there: no choice needs to sort again.


COLUMNS_AT_A_TIME = 64


@dataclass(frozen=True, eq=False)
class RanksWithin:
    """Of some columns: mid-ranks in the rows of each sample, and the share of rows off the median.

    Attributes
    ----------
    x, y : arrays of shape (rows, columns)
        Ranks from 1 on, the mean rank where values are equal.
    off_median : array of shape (2, columns)
        The share of the rows of x, and of y, that are not at its median.
    """

    x: FloatArray
    y: FloatArray
    off_median: FloatArray


class PooledRanks:
    """The order of all rows in each of some columns.

    Parameters
    ----------
    values : array of shape (N, P)
        All rows, without missing values.
    columns : array of length P
        Which columns of the samples these are, rising.
    n_jobs : int
        Threads that sort, where anyone asks for ranks.
    """

    def __init__(self, values: FloatArray, columns: IntArray, n_jobs: int = 1) -> None:
        self._values, self._columns, self._n_jobs = values, columns, n_jobs
        self._made = MadeOnce()

    def within(self, columns: IntArray, order: IntArray, n_x: int) -> RanksWithin:
        """Return the ranks within two samples: `order` holds the rows of x, `n_x`, then of y."""
        places = np.searchsorted(self._columns, columns)
        begins, rising = self._made.get("order", self._sorted)
        position = np.empty(order.size, dtype=np.int32)
        position[order] = np.arange(order.size, dtype=np.int32)
        ranks = np.empty((order.size, columns.size), order="F")
        off_median = np.empty((2, columns.size))
        _rank(begins, rising, places, position, n_x, ranks, off_median)
        return RanksWithin(ranks[:n_x], ranks[n_x:], off_median)

    def _sorted(self) -> tuple[BoolArray, NDArray[np.int32]]:
        """Return the rows by rising values, column after column, and where a new value begins."""
        shape = self._values.shape[::-1]
        begins, rising = np.ones(shape, dtype=np.bool_), np.empty(shape, dtype=np.int32)

        def sort(some_columns: slice) -> None:
            values = np.ascontiguousarray(self._values[:, some_columns].T)
            rising[some_columns] = np.argsort(values, axis=1)
            sorted_values = np.take_along_axis(values, rising[some_columns], axis=1)
            begins[some_columns, 1:] = sorted_values[:, 1:] != sorted_values[:, :-1]

        in_slices(sort, shape[0], COLUMNS_AT_A_TIME, self._n_jobs)
        return begins, rising


@compiled
def _rank(begins, rising, places, position, n_x, ranks, off_median):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write the ranks of all rows within their sample; the rows of x stand first."""
    n_rows = rising.shape[1]
    n_y = n_rows - n_x
    for s in range(places.size):
        begin, order = begins[places[s]], rising[places[s]]
        first, below_x, below_y = 0, 0, 0
        while first < n_rows:
            last, of_x = first, 0
            while last < n_rows and (last == first or not begin[last]):
                of_x += position[order[last]] < n_x
                last += 1
            of_y = last - first - of_x
            middle_x, middle_y = below_x + (of_x + 1) / 2, below_y + (of_y + 1) / 2
            for place in range(first, last):
                row = position[order[place]]
                ranks[row, s] = middle_x if row < n_x else middle_y
            if below_x <= n_x // 2 < below_x + of_x:
                off_median[0, s] = 1 - of_x / n_x
            if below_y <= n_y // 2 < below_y + of_y:
                off_median[1, s] = 1 - of_y / n_y
            first, below_x, below_y = last, below_x + of_x, below_y + of_y


@dataclass(frozen=True, eq=False)
class OtherColumns:
    """Columns of a wide table of which U is known, and no other score.

    Attributes
    ----------
    scores : WideScores
        U of these columns and others.
    places : array
        Where these stand among them.
    zscores : array
        The z-scores of U.
    """

    scores: WideScores
    places: IntArray
    zscores: FloatArray

    @property
    def columns(self) -> IntArray:
        """Their places among the columns of the samples."""
        return self.scores.columns[self.places]


@dataclass(frozen=True, eq=False)
class KnownScores:
    """The scores of all rows of two samples, made without labels, and their z-scores.

    Attributes
    ----------
    scores : Scores
        Of all rows, in an order of their own.
    order : array of length N
        Which of them are the rows of X, then those of Y.
    zscores : mapping from name to array
        Of every score column.
    constant : array
        Which columns of the samples do not vary.
    others : OtherColumns or None
        Columns that have no such scores.
    ranks : PooledRanks or None
        The rows in the order of every column that has such scores.
    """

    scores: Scores
    order: IntArray
    zscores: Mapping[str, FloatArray]
    constant: BoolArray
    others: OtherColumns | None = None
    ranks: PooledRanks | None = None

    @cached_property
    def of_samples(self) -> Scores:
        """U in the order of the samples."""
        return replace(self.scores, held={"normal": self.scores.normal[self.order]})

    def column(self, name: str, place: int) -> Singles:
        """Return one score of one score column, in the order of the samples."""
        if name != FAR:
            return np.asarray(self.scores.of(name)[self.order, place])
        beyond = np.abs(self.scores.clipped[self.order, place]) - np.float32(FAR_OUT)
        return standardised(np.maximum(beyond, 0)[:, np.newaxis])[:, 0]

    def other(self, place: int) -> Singles:
        """Return U of one of the other columns, in the order of the samples."""
        assert self.others is not None
        places = self.others.places[place : place + 1]
        return np.asarray(self.others.scores.dense(places)[self.order, 0])
