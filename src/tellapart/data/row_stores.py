"""The one contract by which sums over rows are taken, wherever the rows are held.

Rows are cut into blocks of `step` rows by row number, never by the chunks of a file or a cluster.
Of n_b blocks, ⌈n_b / 64⌉ consecutive ones, and 4 at least, make a lane, so that there are at most
64 lanes and what is summed up in each is worth merging. Each
lane is summed from its start in the order of its blocks, and the lanes are merged from the left:

    merge(merge(lane₀, lane₁), lane₂) …

Every engine does exactly that, so sums in floating point are the same to the last bit for any
chunks, any number of workers, and after a worker died and its work was done again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.column_store import ColumnStore, Values, dense, rows_of
from tellapart.interrupts import check_interrupts

LANES = 64
SHORTEST_LANE = 4
# Rows of a block when rows are only picked.
PICKING_STEP = 1 << 16
# Values of a block when something is computed from them, up to 30 times as many bytes.
BLOCK_ENTRIES = 1 << 22
MOST_BLOCK_ROWS = 1 << 17

A = TypeVar("A")

RowsDone = Callable[[int], None]
"""Told how many rows of the pass are done."""


class Fold(Protocol[A]):
    """A sum over rows: settings only, which can be pickled and sent to another machine."""

    def start(self) -> A:
        """Return the sum over no rows."""
        ...

    def add(self, held: A, first_row: int, values: FloatArray) -> A:
        """Return the sum with a block added; `held` may be changed, the block may not.

        The block is (rows, D) in float64 and Fortran order; its first row has the number
        `first_row`.
        """
        ...

    def merge(self, left: A, right: A) -> A:
        """Return the sum over the rows of both; `left` may be changed, `right` may not."""
        ...


def block_rows(n_columns: int) -> int:
    """Return how many rows are taken at a time: a power of two, the fewer the more columns.

    >>> block_rows(20), block_rows(100), block_rows(5_000)
    (131072, 32768, 512)
    """
    rows = max(BLOCK_ENTRIES // max(n_columns, 1), 256)
    return int(min(1 << (rows.bit_length() - 1), MOST_BLOCK_ROWS))


class RowStore(ABC):
    """One sample of shape (rows, D), given out as blocks of consecutive rows.

    `side_by_side` says whether several blocks are summed at once, so that a fold has no use for
    threads of its own.
    """

    shape: tuple[int, int]
    side_by_side: bool = False

    @abstractmethod
    def fold(self, fold: Fold[A], step: int, progress: RowsDone | None = None) -> A:
        """Return the sum over all rows, taken in blocks of `step` rows: see this module."""

    def rows(self, index: IntArray) -> FloatArray:
        """Return some rows, whose numbers rise, in one pass over all of them."""
        picked = self.fold(_Picked(index), PICKING_STEP)
        return np.concatenate([np.empty((0, self.shape[1])), *picked])


@dataclass(frozen=True)
class Cut:
    """How `n_rows` rows are cut into blocks of `step` rows, and the blocks into lanes.

    Examples
    --------
    >>> cut = Cut(n_rows=10, step=4)
    >>> [cut.rows(block) for block in range(cut.n_blocks)]
    [slice(0, 4, None), slice(4, 8, None), slice(8, 10, None)]
    >>> len(Cut(n_rows=1000, step=1).lanes)
    63
    """

    n_rows: int
    step: int

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return -(-self.n_rows // self.step)

    @property
    def lanes(self) -> list[range]:
        """The blocks of each lane."""
        return lanes_of(self.n_blocks)

    def rows(self, block: int) -> slice:
        """Return the rows of a block."""
        return slice(block * self.step, min((block + 1) * self.step, self.n_rows))


def lanes_of(n_blocks: int) -> list[range]:
    """Return the blocks of each lane: consecutive, in at most 64 lanes."""
    length = max(-(-n_blocks // LANES), SHORTEST_LANE)
    return [range(b, min(b + length, n_blocks)) for b in range(0, n_blocks, length)]


def fold_stream(
    fold: Fold[A], blocks: Iterator[FloatArray], cut: Cut, progress: RowsDone | None = None
) -> A:
    """Return the sum over blocks that come one after the other."""
    total: A | None = None
    for lane in cut.lanes:
        held = fold.start()
        for block in lane:
            check_interrupts()
            rows = cut.rows(block)
            held = fold.add(held, rows.start, next(blocks))
            if progress is not None:
                progress(rows.stop)
        total = held if total is None else fold.merge(total, held)
    return fold.start() if total is None else total


@dataclass(frozen=True, eq=False)
class _Picked:
    """The rows with some numbers, as one array per block that holds any."""

    index: IntArray

    def start(self) -> list[FloatArray]:
        return []

    def add(self, held: list[FloatArray], first_row: int, values: FloatArray) -> list[FloatArray]:
        inside = np.searchsorted(self.index, (first_row, first_row + values.shape[0]))
        here = self.index[inside[0] : inside[1]]
        if here.size:
            held.append(values[here - first_row])
        return held

    def merge(self, left: list[Any], right: list[Any]) -> list[Any]:
        left.extend(right)
        return left


# Rows of an array, a memory-mapped file or a column store: the case of one chunk.


@dataclass(frozen=True, eq=False)
class _OfColumns:
    """A fold over some of the columns."""

    inner: Any
    columns: IntArray

    def start(self) -> Any:
        return self.inner.start()

    def add(self, held: Any, first_row: int, values: FloatArray) -> Any:
        return self.inner.add(held, first_row, np.asfortranarray(values[:, self.columns]))

    def merge(self, left: Any, right: Any) -> Any:
        return self.inner.merge(left, right)


@dataclass(frozen=True, eq=False)
class ColumnRows(RowStore):
    """Some columns of rows that are held elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> store = ColumnRows(ArrayRows(np.arange(6.0).reshape(2, 3)), np.array([2, 0]))
    >>> store.shape, store.rows(np.array([1])).tolist()
    ((2, 2), [[5.0, 3.0]])
    """

    store: RowStore
    columns: IntArray

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        return self.store.shape[0], int(self.columns.size)

    @property
    def side_by_side(self) -> bool:  # type: ignore[override]
        """Whether several blocks are summed at once."""
        return self.store.side_by_side

    def fold(self, fold: Fold[A], step: int, progress: RowsDone | None = None) -> A:
        """Return the sum over all rows, taken in blocks of `step` rows."""
        total: A = self.store.fold(_OfColumns(fold, self.columns), step, progress)
        return total


@dataclass(frozen=True, eq=False)
class ArrayRows(RowStore):
    """Rows held as one array, or store of columns; no more than a block is copied.

    Parameters
    ----------
    values : array or ColumnStore
        One sample, rows × columns.

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

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        rows, columns = self.values.shape
        return int(rows), int(columns)

    def fold(self, fold: Fold[A], step: int, progress: RowsDone | None = None) -> A:
        """Return the sum over all rows: see `tellapart.data.row_stores`."""
        cut = Cut(self.shape[0], step)
        blocks = (self._block(cut.rows(block)) for block in range(cut.n_blocks))
        return fold_stream(fold, blocks, cut, progress)

    def rows(self, index: IntArray) -> FloatArray:
        """Return some rows."""
        return np.asarray(dense(rows_of(self.values, index)), dtype=np.float64)

    def _block(self, rows: slice) -> FloatArray:
        if isinstance(self.values, ColumnStore):
            return self.values.transposed(np.arange(self.shape[1]), rows).T
        return np.asfortranarray(self.values[rows], dtype=np.float64)
