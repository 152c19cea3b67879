"""A scan of a table of very many columns: block of columns after block, in bounded memory.

What a scan holds of every column under every permutation grows with both, and for 100,000 columns
and 1,000 permutations it would be tens of gigabytes. But the families of single columns need a few
of the largest statistics only (`tellapart.scan.blocks`), those of whole rows a matrix of the
rows (`tellapart.scan.row_forms`), and pairs and more look at 4,000 columns at most, chosen
without labels (`tellapart.scan.families.plan`). So one look at all columns, part by part, one at
those of pairs and one at those that are named give what a scan of the whole table gives, for every
permutation and the true labels alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.data.chunked_samples import ChunkedSamples
from tellapart.effects.values import fewest_rows
from tellapart.errors import InputError
from tellapart.permutation.labels import Bins, TwoSampleSums
from tellapart.progress import Progress, silent
from tellapart.scan.bin_sums import SampleSums
from tellapart.scan.column_changes import ColumnContest, column_changes
from tellapart.scan.differences import Differences
from tellapart.scan.families import location, shape
from tellapart.scan.families.kernel import PATH, KernelScan, column_mmd, kernel_scan
from tellapart.scan.families.missingness import asked_missing
from tellapart.scan.families.plan import (
    MOST_CORRELATED,
    Asked,
    Plan,
    ask_families,
    make_plan,
    most_varied,
    tiedness,
)
from tellapart.scan.families.shape import score_of_lengths
from tellapart.scan.families.values import values_apart
from tellapart.scan.pool import Pool, top_sums
from tellapart.scan.requests import N_DERIVED, SINGLES, Requests, full_lengths
from tellapart.scan.row_forms import RowProducts, points_per_bin
from tellapart.scan.scores import Scores, score_rows
from tellapart.scan.sums import sum_bins
from tellapart.scan.tables import OUTLINED, Outline, Tables, tables_of_columns
from tellapart.threads import in_threads

# What the families of single columns keep of columns that come in blocks.
#
# The families of location, shape and the kernel add up the few largest statistics of all columns,
# and findings need the largest score of each: the largest of a block, merged into those of the
# blocks before, are the largest of all. So blocks give what the whole table would, and no more
# than a few of them are held at a time.


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

    def statistics(self, pool: Pool, row_score: TwoSampleSums) -> ColumnStatistics:
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


PART_BYTES = 400_000_000
"""What the sums and tables of the columns of one part may take."""
CELL_BYTES = 80
"""What the tables take for each pooled row and column, at most."""


@dataclass(frozen=True, eq=False)
class ColumnsInBlocks:
    """What was found of all columns."""

    statistics: ColumnStatistics
    differences: Differences
    contest: ColumnContest


def pool_in_blocks(
    samples: ChunkedSamples,
    labels: Bins,
    rng: np.random.Generator,
    n_jobs: int = 1,
    progress: Progress = silent,
    effort: float = 1.0,
) -> tuple[Pool, Plan, Asked, ColumnsInBlocks]:
    """Look at all columns part by part, then return the sums that pairs and triples need.

    What comes first is as `tellapart.scan.scan.make_pool` returns it, of the columns that make
    pairs and triples.
    """
    pooled = Outline.of(samples)
    view = _View(samples, labels, pooled, pooled.some_rows(samples.n_columns, rng), n_jobs)
    folds, seen = ColumnFolds(), _Seen()
    parts = view.parts()
    for number, columns in enumerate(parts):
        if len(parts) > 1:
            progress("scan", f"part {number + 1} of {len(parts)} of the columns")
        pool = view.pool(columns, view.of_columns, ("normal", "clipped"), progress)
        if pool.tables.size:
            folds.add(pool)
            seen.add(pool)
    if not seen.column:
        raise InputError(
            f"X and Y must have a column that varies; all {samples.n_columns} are constant"
        )
    tables = view.tables(seen.for_pairs())
    outline = score_rows(tables, view.rows, n_jobs, OUTLINED)
    plan = make_plan(outline, labels, effort, seen.count())
    missing = asked_missing(samples)
    values = values_apart(view.rows, samples.kinds, fewest_rows(labels.n_x, labels.n_y), n_jobs)
    asked = ask_families(plan, outline, labels, rng, n_jobs, missing, values)
    # Whole rows were looked at by all columns.
    asked = replace(asked, requests=replace(asked.requests, row_score=None))
    sums = sum_bins(samples, tables, labels, asked.requests, n_jobs, width=samples.n_columns)
    pool = Pool(tables, outline, labels, asked.requests, sums, n_jobs)
    found = ColumnsInBlocks(
        folds.statistics(pool, seen.row_score(labels)),
        seen.differences(),
        folds.contest,
    )
    return pool, plan, asked, found


@dataclass(frozen=True, eq=False)
class _View:
    """The samples, of which some columns are looked at a time."""

    samples: ChunkedSamples
    labels: Bins
    pooled: Outline
    rows: FloatArray
    n_jobs: int

    @property
    def of_columns(self) -> Requests:
        """What is asked of all columns."""
        return Requests(
            points_per_bin=points_per_bin(self.labels),
            row_lengths=True,
            pattern=self.samples.pattern,
        )

    def parts(self) -> list[IntArray]:
        """Return the columns of each part, as many as memory is meant for."""
        sums = 4 * (self.labels.n_bins + 2) * (len(SINGLES) + 1)
        if self.labels.full:
            sums += 4 * (self.labels.n_bins + 2) * N_DERIVED
        each = sums + CELL_BYTES * self.pooled.values.shape[0]
        columns = np.arange(self.samples.n_columns)
        count = -(-columns.size * each // PART_BYTES)
        return np.array_split(columns, count)

    def tables(self, columns: IntArray) -> Tables:
        """Return the tables of some columns, told by their places among all."""
        return tables_of_columns(self.samples, self.pooled, columns, self.n_jobs)

    def pool(
        self, columns: IntArray, asked: Requests, scores: tuple[str, ...], progress: Progress
    ) -> Pool:
        """Return the sums of some columns over all bins, and some scores of pooled rows."""
        tables = self.tables(columns)
        outline = score_rows(tables, self.rows, self.n_jobs, scores)
        width = self.samples.n_columns
        sums = sum_bins(self.samples, tables, self.labels, asked, self.n_jobs, progress, width)
        return Pool(tables, outline, self.labels, asked, sums, self.n_jobs)


@dataclass(eq=False)
class _Seen:
    """What is remembered of all columns, and of all rows."""

    column: list[IntArray] = field(default_factory=list)
    ties: list[Singles] = field(default_factory=list)
    found: list[Differences] = field(default_factory=list)
    numeric: int = 0
    lengths: list[FloatArray] = field(default_factory=list)

    def add(self, pool: Pool) -> None:
        """Remember the columns of a pool."""
        self.column.append(pool.tables.column)
        self.numeric += pool.tables.numeric.size
        self.ties.append(tiedness(pool.outline))
        self.found.append(Differences.of(pool.sums, pool.tables, pool.labels))
        sides = (pool.sums.x.lengths, pool.sums.y.lengths)
        parts = [_lengths(pool.outline), *(side.astype(np.float64) for side in sides)]
        before = self.lengths or [np.zeros(1)] * len(parts)
        self.lengths = [own + more for own, more in zip(before, parts, strict=True)]

    def count(self) -> tuple[int, int]:
        """Return how many columns vary, and how many of them are numeric."""
        return sum(np.unique(part).size for part in self.column), self.numeric

    def for_pairs(self) -> IntArray:
        """Return the columns that pairs and triples are made of: of many the most varied."""
        column = np.concatenate(self.column)
        if column.size > MOST_CORRELATED:
            column = column[most_varied(np.concatenate(self.ties), MOST_CORRELATED)]
        return np.unique(column)

    def differences(self) -> Differences:
        """Return the differences of all columns."""
        return Differences.joined(self.found)

    def row_score(self, labels: Bins) -> TwoSampleSums:
        """Return the sums over bins of the normal score of ‖V‖² of whole rows."""
        size = sum(part.size for part in self.column)

        def full(lengths: FloatArray) -> tuple[Singles, Singles]:
            there = lengths[1].astype(np.float32)
            return full_lengths(lengths[0].astype(np.float32), there, size), there

        known, there = full(self.lengths[0])
        score = score_of_lengths(known[there > 0])
        sides = []
        for sample in (0, 1):
            own, there = full(self.lengths[1 + sample])
            at, _ = labels.of_rows(sample, 0, own.size)
            count = labels.n_bins_of[sample] + 1
            found = [
                np.bincount(at, weights, minlength=count)[:, np.newaxis].astype(np.float32)
                for weights in (score.of(own) * (there > 0), there > 0)
            ]
            sides.append(found)
        (x, of_x), (y, of_y) = sides
        missing = any((lengths[1] < size).any() for lengths in self.lengths[1:])
        labels.adjust(x, y)
        labels.adjust(of_x, of_y)
        return TwoSampleSums(x, y, TwoSampleSums(of_x, of_y) if missing else None)


def _lengths(outline: Scores) -> FloatArray:
    """Return ‖V‖² of pooled rows, and how many of their values are there."""
    n_rows, size = outline.clipped.shape
    there = np.full(n_rows, float(size)) if outline.present is None else outline.present.sum(axis=1)
    return np.stack([np.square(outline.clipped).sum(axis=1, dtype=np.float64), there])
