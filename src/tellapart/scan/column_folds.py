"""What the families of single columns keep of columns that come in blocks.

The families of location, shape and the kernel add up the few largest statistics of all columns, and
findings need the largest score of each: the largest of a block, merged into those of the blocks
before, are the largest of all. So blocks give what the whole table would, and no more than a few of
them are held at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.permutation.bins import Singles
from tellapart.scan.bin_sums import SampleSums
from tellapart.scan.column_changes import column_changes
from tellapart.scan.column_contest import ColumnContest
from tellapart.scan.families import location, shape
from tellapart.scan.families.kernel import PATH, KernelScan, column_mmd, kernel_scan
from tellapart.scan.pool import Pool, top_sums
from tellapart.scan.row_products import RowProducts
from tellapart.scan.sums import Halves
from tellapart.threads import in_threads

MOST_COLUMNS, ENTRIES = 256, 256_000
"""Score columns of a block, and these times permutations: what one core keeps at hand."""
BLOCKS_AT_A_TIME = 16
"""Blocks between which what they found is merged: the same for any number of threads."""


@dataclass(frozen=True, eq=False)
class ColumnStatistics:
    """The statistics of the families of single columns, of all columns."""

    location: FloatArray
    shape: FloatArray
    kernel: KernelScan


@dataclass(frozen=True, eq=False)
class _Found:
    """The largest values of each permutation: δ(U)², each kind of shape, a_s²; and the contest."""

    shifts: Singles
    shapes: tuple[Singles, ...]
    kernel: Singles
    contest: ColumnContest

    @classmethod
    def of(cls, pool: Pool) -> _Found:
        return cls(
            _top(location.shifts(pool), location.FEW),
            tuple(_top(table, shape.FEW) for table in shape.shape_changes(pool)),
            _top(np.square(column_mmd(pool)), max(PATH)),
            ColumnContest.of(column_changes(pool)),
        )

    @classmethod
    def joined(cls, parts: Sequence[_Found]) -> _Found:
        shapes = zip(*(part.shapes for part in parts), strict=True)
        return cls(
            _joined([part.shifts for part in parts], location.FEW),
            tuple(_joined(tables, shape.FEW) for tables in shapes),
            _joined([part.kernel for part in parts], max(PATH)),
            ColumnContest.joined([part.contest for part in parts]),
        )


@dataclass(eq=False)
class ColumnFolds:
    """What was found so far, over the pools of columns that were added."""

    rows: RowProducts = field(default_factory=RowProducts)
    _found: list[_Found] = field(default_factory=list)

    def add(self, pool: Pool) -> None:
        """Take in the columns of a pool, block by block."""
        self.rows.add(pool)
        most = max(min(MOST_COLUMNS, ENTRIES // pool.count), 1)
        blocks = column_blocks(pool.tables.column, most)
        for first in range(0, len(blocks), BLOCKS_AT_A_TIME):
            some = blocks[first : first + BLOCKS_AT_A_TIME]
            found = in_threads(lambda block: _Found.of(_part(pool, block)), some, pool.n_jobs)
            self._found = [_Found.joined([*self._found, *found])]

    @property
    def contest(self) -> ColumnContest:
        """The contest of all columns."""
        return self._found[0].contest

    def statistics(self, pool: Pool, row_score: Halves) -> ColumnStatistics:
        """Return the statistics; `pool` is any with the same labels, `row_score` that of rows."""
        found = self._found[0]
        return ColumnStatistics(
            np.column_stack(
                [
                    *top_sums(found.shifts, location.LARGEST),
                    *location.whole_row_statistics(pool, self.rows),
                ]
            ),
            np.column_stack(
                [
                    *(top_sums(table, (shape.FEW,))[0] for table in found.shapes),
                    shape.scale_changes(pool, row_score),
                ]
            ),
            kernel_scan(found.kernel),
        )


def column_blocks(parent: IntArray, most: int) -> list[slice]:
    """Return slices of about `most` score columns that keep the levels of one column together.

    >>> column_blocks(np.array([0, 1, 1, 1, 2]), 2)
    [slice(0, 4, None), slice(4, 5, None)]
    """
    starts = np.flatnonzero(np.diff(parent, prepend=-1, append=-1))
    cuts = [0]
    while cuts[-1] < parent.size:
        at = np.searchsorted(starts, min(cuts[-1] + most, parent.size))
        cuts.append(int(starts[at]))
    return [slice(first, last) for first, last in pairwise(cuts)]


def _part(pool: Pool, block: slice) -> Pool:
    """Return the pool of a block of score columns, for one thread."""
    sums = replace(pool.sums, x=_columns(pool.sums.x, block), y=_columns(pool.sums.y, block))
    tables = pool.tables.part(block)
    return Pool(tables, pool.outline, pool.labels, pool.requests, sums)


def _columns(sums: SampleSums, block: slice) -> SampleSums:
    present = sums.present[:, block] if sums.present.size else sums.present
    return SampleSums(sums.singles[..., block], sums.derived[..., block], present=present)


def _top(values: Singles, most: int) -> Singles:
    """Return the largest values of each row."""
    if values.shape[1] <= most:
        return values
    return np.partition(values, values.shape[1] - most, axis=1)[:, -most:]


def _joined(parts: Sequence[Singles], most: int) -> Singles:
    return _top(np.concatenate(parts, axis=1), most)
