"""A scan of a table of very many columns: block of columns after block, in bounded memory.

What a scan holds of every column under every permutation grows with both, and for 100,000 columns
and 1,000 permutations it would be tens of gigabytes. But the families of single columns need a few
of the largest statistics only (`tellapart.scan.blocks`), those of whole rows a matrix of the
rows (`tellapart.scan.row_forms`), and pairs and more look at 4,000 columns at most, chosen
without labels (`tellapart.scan.family`). So one look at all columns, part by part, one at
those of pairs and one at those that are named give what a scan of the whole table gives, for every
permutation and the true labels alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.budget import current_budget
from tellapart.data.samples import Samples
from tellapart.permutation.labels import Bins, Labels, TwoSampleSums
from tellapart.progress import Progress, silent
from tellapart.scan.column_changes import MaxTScores, column_changes
from tellapart.scan.differences import Differences
from tellapart.scan.families import registered_families
from tellapart.scan.families.shape import score_of_lengths
from tellapart.scan.family import (
    COLUMN_KINDS,
    ColumnFamily,
    Family,
    FamilyPlan,
    FamilyResult,
    Planned,
    WholeRowSums,
    kinds_named,
    most_varied,
    plan_families,
    tiedness,
)
from tellapart.scan.features import N_DERIVED, SINGLES, Requests, full_lengths
from tellapart.scan.pool import Pool
from tellapart.scan.pool_builder import PoolBuilder
from tellapart.scan.row_forms import RowProducts, points_per_bin
from tellapart.scan.scores import Scores, score_rows
from tellapart.scan.sums import SampleSums
from tellapart.scan.tables import PooledSample
from tellapart.threads import in_threads

CELL_BYTES = 80
"""What the tables take for each pooled row and column, at most."""


@dataclass(frozen=True, eq=False)
class _Largest:
    """What is kept of some columns: the largest statistics of every family, and the max-T scores.

    The largest of a block, merged into those of the blocks before, are the largest of all. So
    blocks give what the whole table would, and no more than a few of them are held at a time.
    """

    statistics: Mapping[str, tuple[Singles, ...]]
    max_t: MaxTScores | None

    @classmethod
    def of(
        cls, families: Sequence[ColumnFamily], pool: Pool, column_kinds: Sequence[str]
    ) -> _Largest:
        return cls(
            {
                family.name: tuple(
                    _top(table, family.n_kept) for table in family.column_statistics(pool)
                )
                for family in families
            },
            MaxTScores.of(column_changes(pool, column_kinds)) if column_kinds else None,
        )

    @classmethod
    def joined(cls, families: Sequence[ColumnFamily], parts: Sequence[_Largest]) -> _Largest:
        max_t = [part.max_t for part in parts if part.max_t is not None]
        return cls(
            {family.name: _merged(family, parts) for family in families},
            MaxTScores.joined(max_t) if max_t else None,
        )


def _merged(family: ColumnFamily, parts: Sequence[_Largest]) -> tuple[Singles, ...]:
    """Return the largest of all parts, of each of the statistics of a family."""
    every = zip(*(part.statistics[family.name] for part in parts), strict=True)
    return tuple(_top(np.concatenate(tables, axis=1), family.n_kept) for tables in every)


@dataclass(eq=False)
class ColumnFolds:
    """What is known so far, over the pools of columns that were added.

    `column_kinds` are those that columns are named by: none under further permutations.
    """

    families: Sequence[ColumnFamily]
    column_kinds: Sequence[str] = COLUMN_KINDS
    _largest: list[_Largest] = field(default_factory=list)

    def add(self, pool: Pool) -> None:
        """Take in the columns of a pool, block by block."""
        budget = current_budget()
        most = max(min(budget.block_columns, budget.block_statistics // pool.count), 1)
        blocks = column_blocks(pool.tables.column, most)
        for first in range(0, len(blocks), budget.blocks_at_a_time):
            some = blocks[first : first + budget.blocks_at_a_time]
            largest = in_threads(
                lambda block: _Largest.of(self.families, _part(pool, block), self.column_kinds),
                some,
                pool.n_jobs,
            )
            self._largest = [_Largest.joined(self.families, [*self._largest, *largest])]

    @property
    def max_t(self) -> MaxTScores | None:
        """The max_t of all columns, where columns are named."""
        return self._largest[0].max_t

    def results(self, pool: Pool, rows: WholeRowSums) -> dict[str, FamilyResult]:
        """Return what the families computed; `pool` is any with the same labels."""
        largest = self._largest[0].statistics
        return {
            family.name: family.from_largest(pool, largest[family.name], rows)
            for family in self.families
        }


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
    return Pool(tables, pool.pooled_scores, pool.labels, pool.requests, sums)


def _columns(sums: SampleSums, block: slice) -> SampleSums:
    present = sums.present[:, block] if sums.present.size else sums.present
    return SampleSums(sums.singles[..., block], sums.derived[..., block], present=present)


def _top(values: Singles, most: int) -> Singles:
    """Return the largest values of each row."""
    if values.shape[1] <= most:
        return values
    return np.partition(values, values.shape[1] - most, axis=1)[:, -most:]


@dataclass(frozen=True, eq=False)
class ColumnParts:
    """All columns part by part: a look at them reads the rows of each part, and adds them up."""

    builder: PoolBuilder
    rows: FloatArray
    requests: Requests
    parts: Sequence[IntArray]

    def pools(self, progress: Progress = silent) -> Iterator[Pool]:
        """Yield the sums of the columns of every part that has one which varies."""
        builder = self.builder
        for number, columns in enumerate(self.parts):
            if len(self.parts) > 1:
                progress("scan", f"part {number + 1} of {len(self.parts)} of the columns")
            tables = builder.tables(columns)
            if tables.size:
                scores = score_rows(tables, self.rows, builder.n_jobs, ("normal", "clipped"))
                width = builder.samples.n_columns
                yield builder.pool(tables, scores, self.requests, progress, width)


@dataclass(frozen=True, eq=False)
class ColumnsInBlocks:
    """What is known of all columns: results by family, differences, and the max-T scores."""

    results: Mapping[str, FamilyResult]
    differences: Differences
    max_t: MaxTScores | None
    parts: ColumnParts
    whole_rows: WholeRowSums
    families: Sequence[ColumnFamily]

    def further(
        self, pool: Pool, labels: Sequence[Labels], progress: Progress = silent
    ) -> list[dict[str, FamilyResult]]:
        """Return the results under further permutations of each labels, by one look at all columns.

        `pool` is that of pairs and triples.
        """
        folds = [ColumnFolds(self.families, column_kinds=()) for _ in labels]
        for part in self.parts.pools(progress):
            for fold, some in zip(folds, labels, strict=True):
                fold.add(part.under(some))
        return [
            fold.results(pool.under(some), self.whole_rows)
            for fold, some in zip(folds, labels, strict=True)
        ]


def pool_in_blocks(
    samples: Samples,
    labels: Bins,
    rng: np.random.Generator,
    n_jobs: int = 1,
    progress: Progress = silent,
    effort: float = 1.0,
    families: Sequence[Family] | None = None,
) -> tuple[Pool, Planned, ColumnsInBlocks]:
    """Look at all columns part by part, then return the sums that pairs and triples need.

    What comes first is as `tellapart.scan.scan.make_pool` returns it, of the columns that make
    pairs and triples.
    """
    families = registered_families() if families is None else families
    by_column = [family for family in families if isinstance(family, ColumnFamily)]
    pooled, budget = PooledSample.of(samples), current_budget()
    rows = pooled.some_rows(samples.n_columns, rng)
    builder = PoolBuilder(samples, labels, pooled, n_jobs, effort)
    width = samples.n_columns
    of_columns = Requests(
        points_per_bin=points_per_bin(labels), row_lengths=True, pattern=samples.pattern
    )
    parts = ColumnParts(builder, rows, of_columns, _parts(builder, budget.part_bytes))
    folds, products, seen = ColumnFolds(by_column, kinds_named(families)), RowProducts(), _Seen()
    for pool in parts.pools(progress):
        products.add(pool)
        folds.add(pool)
        seen.add(pool)
    builder.refuse_constant(len(seen.column))
    tables = builder.tables(seen.for_pairs(budget.correlated_columns))
    state = builder.state(tables, rows, rng, counts=seen.count())
    others_of = [family for family in families if family not in by_column]
    pool, others = builder.planned_pool(others_of, state, width=width)
    # Single columns and whole rows were looked at by all columns: no features are left to sum.
    whole_rows = WholeRowSums(products, seen.row_score(labels))
    results = folds.results(pool, whole_rows)
    whole = plan_families(by_column, state).plans
    plans = {name: FamilyPlan(weight=plan.weight) for name, plan in whole.items()}
    plans.update(others.plans)
    running = tuple(family for family in families if family.name in plans)
    planned = replace(others, families=running, plans=plans)
    known = ColumnsInBlocks(results, seen.differences(), folds.max_t, parts, whole_rows, by_column)
    return pool, planned, known


def _parts(builder: PoolBuilder, part_bytes: int) -> list[IntArray]:
    """Return the columns of each part, as many as memory is meant for."""
    labels = builder.labels
    sums = 4 * (labels.n_bins + 2) * (len(SINGLES) + 1)
    if labels.full:
        sums += 4 * (labels.n_bins + 2) * N_DERIVED
    each = sums + CELL_BYTES * builder.pooled.values.shape[0]
    columns = np.arange(builder.samples.n_columns)
    count = -(-columns.size * each // part_bytes)
    return np.array_split(columns, count)


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
        self.ties.append(tiedness(pool.pooled_scores))
        self.found.append(Differences.of(pool.sums, pool.tables, pool.labels))
        sides = (pool.sums.x.lengths, pool.sums.y.lengths)
        parts = [_lengths(pool.pooled_scores), *(side.astype(np.float64) for side in sides)]
        before = self.lengths or [np.zeros(1)] * len(parts)
        self.lengths = [so_far + more for so_far, more in zip(before, parts, strict=True)]

    def count(self) -> tuple[int, int]:
        """Return how many columns vary, and how many of them are numeric."""
        return sum(np.unique(part).size for part in self.column), self.numeric

    def for_pairs(self, most: int) -> IntArray:
        """Return the columns that pairs and triples are made of: of many the most varied."""
        column = np.concatenate(self.column)
        if column.size > most:
            column = column[most_varied(np.concatenate(self.ties), most)]
        return np.unique(column)

    def differences(self) -> Differences:
        """Return the differences of all columns."""
        return Differences.joined(self.found)

    def row_score(self, labels: Bins) -> TwoSampleSums:
        """Return the sums over bins of the normal score of ‖V‖² of whole rows."""
        size = sum(part.size for part in self.column)

        def full(lengths: FloatArray) -> tuple[Singles, Singles]:
            n_present = lengths[1].astype(np.float32)
            return full_lengths(lengths[0].astype(np.float32), n_present, size), n_present

        pooled, n_present = full(self.lengths[0])
        score = score_of_lengths(pooled[n_present > 0])
        sides = []
        for sample in (0, 1):
            of_rows, n_present = full(self.lengths[1 + sample])
            at, _ = labels.of_rows(sample, 0, of_rows.size)
            count = labels.n_bins_of[sample] + 1
            within = labels.weights_within(sample, 0, of_rows.size)
            each = (n_present > 0) * (1.0 if within is None else within)
            sums = [
                np.bincount(at, weights, minlength=count)[:, np.newaxis].astype(np.float32)
                for weights in (score.of(of_rows) * each, each)
            ]
            sides.append(sums)
        (x, of_x), (y, of_y) = sides
        missing = any((lengths[1] < size).any() for lengths in self.lengths[1:])
        labels.adjust(x, y)
        labels.adjust(of_x, of_y)
        return TwoSampleSums(x, y, TwoSampleSums(of_x, of_y) if missing else None)


def _lengths(pooled_scores: Scores) -> FloatArray:
    """Return ‖V‖² of pooled rows, and how many of their values are there."""
    n_rows, size = pooled_scores.clipped.shape
    n_present = (
        np.full(n_rows, float(size))
        if pooled_scores.present is None
        else pooled_scores.present.sum(axis=1)
    )
    return np.stack([np.square(pooled_scores.clipped).sum(axis=1, dtype=np.float64), n_present])
