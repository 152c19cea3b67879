"""Rows of an array, a memory-mapped file or a column store: the case of one chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.chunks.fold import A, Cut, Fold, RowsDone, RowStore
from tellapart.data.column_store import ColumnStore
from tellapart.data.samples import Values
from tellapart.interrupts import check_interrupts
from tellapart.threads import in_threads


@dataclass(frozen=True, eq=False)
class ArrayRows(RowStore):
    """Rows held as one array, or store of columns; no more than a block of each thread is copied.

    Parameters
    ----------
    values : array or ColumnStore
        One sample, rows × columns.
    n_jobs : int
        Lanes that are summed at the same time, in threads; the sum is the same for any number.

    Examples
    --------
    >>> import numpy as np
    >>> store = ArrayRows(np.arange(6.0).reshape(3, 2))
    >>> store.shape
    (3, 2)
    >>> store.rows(np.array([0, 2]))
    array([[0., 1.],
           [4., 5.]])
    """

    values: Values
    n_jobs: int = 1

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        rows, columns = self.values.shape
        return int(rows), int(columns)

    def fold(self, fold: Fold[A], step: int, progress: RowsDone | None = None) -> A:
        """Return the sum over all rows: see `tellapart.data.chunks.fold`."""
        cut = Cut(self.shape[0], step)
        lanes = cut.lanes

        def lane_sum(lane: Sequence[int]) -> A:
            held = fold.start()
            for block in lane:
                check_interrupts()
                rows = cut.rows(block)
                held = fold.add(held, rows.start, self._block(rows))
            return held

        total: A | None = None
        # As many lanes as threads at a time: no more sums than that are held at once.
        for first in range(0, len(lanes), self.n_jobs):
            batch = lanes[first : first + self.n_jobs]
            for held in in_threads(lane_sum, batch, self.n_jobs):
                total = held if total is None else fold.merge(total, held)
            if progress is not None:
                progress(cut.rows(batch[-1][-1]).stop)
        return fold.start() if total is None else total

    def rows(self, index: IntArray) -> FloatArray:
        """Return some rows."""
        if isinstance(self.values, ColumnStore):
            few = self.values.rows(index)
            return few[:, np.arange(self.shape[1])]
        return np.asarray(self.values[index], dtype=np.float64)

    def _block(self, rows: slice) -> FloatArray:
        if isinstance(self.values, ColumnStore):
            return self.values.transposed(np.arange(self.shape[1]), rows).T
        return np.asfortranarray(self.values[rows], dtype=np.float64)
