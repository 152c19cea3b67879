"""A scan of a table of very many columns: block of columns after block, in bounded memory.

What a scan holds of every column under every permutation grows with both, and for 100,000 columns
and 1,000 permutations it would be tens of gigabytes. But the families of single columns need a few
of the largest statistics only (`tellapart.scan.column_folds`), those of whole rows a matrix of the
rows (`tellapart.scan.row_products`), and pairs and more look at 4,000 columns at most, chosen
without labels (`tellapart.scan.families.plan`). So one look at all columns, part by part, one at
those of pairs and one at those that are named give what a scan of the whole table gives, for every
permutation and the true labels alike.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.chunks.chunked_samples import ChunkedSamples
from tellapart.effects.values import fewest_rows
from tellapart.errors import InputError
from tellapart.permutation.designed_bins import DesignedBins
from tellapart.permutation.keyed_bins import KeyedBins
from tellapart.progress import Progress, silent
from tellapart.scan.budget import MOST_CORRELATED
from tellapart.scan.column_contest import ColumnContest
from tellapart.scan.column_folds import ColumnFolds, ColumnStatistics
from tellapart.scan.differences import Differences
from tellapart.scan.families.asked import Asked, ask_families
from tellapart.scan.families.missingness import asked_missing
from tellapart.scan.families.plan import Plan, make_plan, most_varied, tiedness
from tellapart.scan.families.shape import score_of_lengths
from tellapart.scan.new_values import values_apart
from tellapart.scan.outline import OUTLINED, Outline
from tellapart.scan.pool import Pool
from tellapart.scan.requests import N_DERIVED, SINGLES, Requests, full_lengths
from tellapart.scan.scores import Scores, Singles, score_rows
from tellapart.scan.sums import Halves, sum_bins
from tellapart.scan.tables import Tables, tables_of_columns
from tellapart.scan.whole_rows import points_per_bin

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
    labels: KeyedBins,
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
            seen.add(pool, samples)
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
    labels: KeyedBins
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

    def add(self, pool: Pool, samples: ChunkedSamples) -> None:
        """Remember the columns of a pool."""
        self.column.append(pool.tables.column)
        self.numeric += pool.tables.numeric.size
        self.ties.append(tiedness(pool.outline))
        self.found.append(
            Differences.of(pool.sums, pool.tables, samples.n_x, samples.n_y, design=pool.design)
        )
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

    def row_score(self, labels: KeyedBins) -> Halves:
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
        if isinstance(labels, DesignedBins):
            labels.adjust_in_place(x, y)
            labels.adjust_in_place(of_x, of_y)
        return Halves(x, y, Halves(of_x, of_y) if missing else None)


def _lengths(outline: Scores) -> FloatArray:
    """Return ‖V‖² of pooled rows, and how many of their values are there."""
    n_rows, size = outline.clipped.shape
    there = np.full(n_rows, float(size)) if outline.present is None else outline.present.sum(axis=1)
    return np.stack([np.square(outline.clipped).sum(axis=1, dtype=np.float64), there])
