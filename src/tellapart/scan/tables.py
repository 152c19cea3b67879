"""Tables that turn values into scores: made once from pooled rows, without labels, then looked up.

A numeric column is cut at the distinct values of the pooled rows (or of as many rows as were drawn
from them), or at quantiles where there are many: a value is one of these edges or lies between two
of them. Each such cell has one mid-rank and so one score of each kind that ranks decide,

    normal    U, normal scores of the mid-ranks
    spread    H, U² − 1 clipped to [−2.5, 4]
    wave j    cos(jπF), j = 2, 3, 4, F the mid-rank in (0, 1)
    skew      U³ − 3U clipped to ±5
    fourth    U⁴ − 6U² + 3 clipped to [−6, 12], less its regression on H
    atom      1 where the value is the column's most frequent one, if it is frequent
    frequent  the same, neither centred nor scaled
    rank      Φ(U)
    sign      ±1 about the median

all with mean 0 and variance 1, and from spread to atom less their regression on U, so that a shift
does not count twice and a column of two values has no shape. From the value itself follow

    clipped   V, (value − median)/(1.4826·MAD), clipped at ±3.5
    squared   G, V² less its regression on V
    far       how far |V| lies beyond 1.8

A categorical column has the indicator of each level as U and V, and no shape.

Where values may be missing, ranks and units are those of the values that are there, and the last
cell of each column is that of a missing one: all its scores are 0, their mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.budget import current_budget
from tellapart.data.columns import place_of_yes
from tellapart.data.samples import Samples, draw_rows
from tellapart.interrupts import check_interrupts
from tellapart.scan.cells import (
    CellScores,
    Units,
    count_all_before,
    cut_columns,
    measure_units,
    score_cells,
)
from tellapart.threads import in_threads

# The tables of some columns, before they are put one after the other.


# Levels of a categorical column with a score of their own; the others share one.
MOST_LEVELS = 20
# Edges of a column of which not all rows were drawn.
MOST_EDGES = 2_048
# A value is frequent where it makes up at least this share of the rows.
LEAST_ATOM = 0.02


@dataclass(frozen=True)
class TablePart:
    """Tables of some score columns: their edges and cells follow each other.

    `n_edges` and `n_cells` say how many belong to each.
    """

    column: list[int]
    level: list[str | None]
    told_by: list[str | None]
    edges: FloatArray
    n_edges: IntArray
    cells: Singles
    n_cells: IntArray
    gaps: bool
    units: Units
    frequent: FloatArray


def numeric_part(
    columns: FloatArray, places: IntArray, low: FloatArray, high: FloatArray, *, complete: bool
) -> TablePart:
    """Return the tables of columns, one per row of `columns`, which is sorted in place."""
    units = measure_units(columns.T)
    columns.sort(axis=1)
    # A column of which the rows drawn show one value only: its extremes stand for the others.
    still = columns[:, 0] == columns[:, -1]
    if still.any():
        columns[still, 0], columns[still, -1] = low[places[still]], high[places[still]]
    cut = cut_columns(columns, columns.shape[1] if complete else MOST_EDGES, gaps=not complete)
    normal = special.ndtri(cut.quantile)
    least = max(5, LEAST_ATOM * columns.shape[1])
    cells, frequent = score_cells(cut, normal, least)
    return TablePart(
        column=places.tolist(),
        level=[None] * places.size,
        told_by=[None] * places.size,
        edges=cut.edges,
        n_edges=np.diff(cut.edge_start),
        cells=cells,
        n_cells=np.diff(cut.cell_start),
        gaps=not complete,
        units=units,
        frequent=frequent,
    )


def level_part(
    codes: FloatArray, column: int, labels: tuple[str, ...], *, complete: bool
) -> TablePart:
    """Return the indicators of the levels that occur; one of two levels says all."""
    present, counts = np.unique(codes, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    named, rare = order[:MOST_LEVELS], order[MOST_LEVELS:]
    if present.size == 2:
        named = named[:1]
    names = [labels[int(present[i])] for i in named]
    chosen = [np.arange(present.size) == i for i in named]
    if rare.size > 1:
        chosen.append(np.isin(np.arange(present.size), rare))
        names.append(f"{rare.size} rare levels")
    gaps = not complete
    cells = [
        CellScores.of_level(indicator.astype(np.float64), counts.astype(np.float64), gaps)
        for indicator in chosen
    ]
    size = len(names)
    told_by: list[str | None] = [None] * size
    if present.size == 2:
        pair = [labels[int(code)] for code in present]
        yes = place_of_yes(pair)
        told_by = [None if yes is None or pair[yes] == names[0] else pair[yes]]
    return TablePart(
        column=[column] * size,
        level=list(names),
        told_by=told_by,
        edges=np.tile(present.astype(np.float64), size),
        n_edges=np.full(size, present.size),
        cells=np.concatenate(cells),
        n_cells=np.array([of_level.shape[0] for of_level in cells]),
        gaps=gaps,
        units=Units.of_levels(size),
        frequent=np.full(size, np.nan),
    )


# Pooled rows that make the tables and the plan: all of them, or some drawn without labels.


PLANNING_SCORES = ("normal", "clipped", "sign", "rank")
"""The scores that the plan looks at."""
# A sparse sample is made dense so many columns at a time.
COLUMNS_AT_A_TIME = 64


@dataclass(frozen=True, eq=False)
class PooledSample:
    """Pooled rows, and the least and greatest value of every column over all rows.

    `complete` says whether these are all rows, `missing` whether values may be missing: NaN.
    """

    values: FloatArray
    limits: tuple[FloatArray, FloatArray]
    complete: bool
    missing: bool = False

    @classmethod
    def of(cls, samples: Samples) -> PooledSample:
        """Return the rows drawn from both samples together, whatever their labels."""
        rows = samples.whole
        values, limits = rows.pooled, (rows.least, rows.greatest)
        every = values.shape[0] == sum(rows.n_rows)
        pattern = samples.pattern
        if pattern is not None:
            values = pattern.values(values)
        complete = every and values.shape[0] <= current_budget().complete_rows
        return cls(values, limits, complete=complete, missing=pattern is not None)

    @classmethod
    def of_all_rows(cls, samples: Samples) -> PooledSample:
        """Return all pooled rows, those of X first."""
        values = np.empty((samples.n_x + samples.n_y, samples.n_columns), order="F")
        for start in range(0, samples.n_columns, COLUMNS_AT_A_TIME):
            places = np.arange(start, min(start + COLUMNS_AT_A_TIME, samples.n_columns))
            values[: samples.n_x, places] = samples.x[:, places]
            values[samples.n_x :, places] = samples.y[:, places]
        limits = values.min(axis=0), values.max(axis=0)
        if samples.as_read is None or samples.as_read.pattern.whole_rows:
            return cls(values, limits, complete=True)
        values[samples.as_read.absent()] = np.nan
        return cls(values, limits, complete=True, missing=True)

    def some_rows(self, n_scores: int, rng: np.random.Generator) -> FloatArray:
        """Return the rows that the plan looks at: all, or some where they are many."""
        budget = current_budget()
        most = max(budget.planning_entries // max(n_scores, 1), budget.planning_rows)
        most = min(budget.complete_rows, most)
        if self.values.shape[0] <= most:
            return self.values
        return np.asfortranarray(self.values[draw_rows(self.values.shape[0], most, rng)])


# Values a thread takes at a time: tables of a few hundred columns are shared out, too.
BLOCK_ENTRIES = 250_000
# Where edges are many for the rows, and where they are few.
BUCKETS_PER_EDGE, MORE_BUCKETS_PER_EDGE = 2, 8
# Buckets span the edges but for this share of them on either side.
BUCKET_MARGIN = 0.01

Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of P score columns, one after the other.

    Attributes
    ----------
    column : array of length P
        The column of the samples that each score column belongs to.
    level : tuple of str or None
        The level that a score column indicates; None for numeric columns.
    told_by : tuple of str or None
        The other level, where there are two and it is the one to tell by: "yes", not "no".
    constant : array
        Columns of the samples that do not vary and have no scores.
    edges, edge_start : arrays
        The edges of all score columns, rising within each, and where those of each begin.
    cells, cell_start : arrays
        One row of scores per cell, by `tellapart.scan.cells.CELL_SCORES`.
    gaps : array of length P
        Whether the cells between edges are there: not where every row was drawn.
    buckets, bucket_start, bucket_low, bucket_scale : arrays
        Where in the edges to look for a value.
    units : Units
        What turns values into V and G.
    frequent : array of length P
        The most frequent value of each column, where it is frequent, else NaN.
    missing : bool
        Whether values may be missing.
    """

    column: IntArray
    level: tuple[str | None, ...]
    told_by: tuple[str | None, ...]
    constant: IntArray
    edges: FloatArray
    edge_start: IntArray
    cells: Singles
    cell_start: IntArray
    gaps: NDArray[np.bool_]
    buckets: NDArray[np.int32]
    bucket_start: IntArray
    bucket_low: FloatArray
    bucket_scale: FloatArray
    units: Units
    frequent: FloatArray
    missing: bool = False

    @property
    def size(self) -> int:
        """Number of score columns, P."""
        return int(self.column.size)

    @property
    def numeric(self) -> IntArray:
        """Places of the score columns that belong to numeric columns."""
        return np.flatnonzero([level is None for level in self.level])

    @property
    def shapeless(self) -> NDArray[np.bool_]:
        """Which score columns have no shape: levels of categories, columns of two values."""
        spreads = np.abs(self.cells[:, 1])
        return np.asarray(np.maximum.reduceat(spreads, self.cell_start[:-1]) == 0)

    def part(self, places: slice) -> Tables:
        """Return the tables of some score columns that follow each other."""
        first, last = places.start, places.stop
        starts = (self.edge_start, self.cell_start, self.bucket_start)
        edges, cells, buckets = (slice(start[first], start[last]) for start in starts)
        edge_start, cell_start, bucket_start = (
            start[first : last + 1] - start[first] for start in starts
        )
        return replace(
            self,
            column=self.column[places],
            level=self.level[places],
            told_by=self.told_by[places],
            edges=self.edges[edges],
            edge_start=edge_start,
            cells=self.cells[cells],
            cell_start=cell_start,
            gaps=self.gaps[places],
            buckets=self.buckets[buckets],
            bucket_start=bucket_start,
            bucket_low=self.bucket_low[places],
            bucket_scale=self.bucket_scale[places],
            units=self.units.some(places),
            frequent=self.frequent[places],
        )


def tables_of(samples: Samples, pooled: PooledSample, n_jobs: int = 1) -> Tables:
    """Return the tables of two samples, from pooled rows; once where other samples share these."""
    if samples.shared is not None and pooled.complete:
        return samples.shared.once(
            "tables", lambda whole: tables_of(whole, PooledSample.of_all_rows(whole), n_jobs)
        )
    return tables_of_columns(samples, pooled, np.arange(samples.n_columns), n_jobs)


def tables_of_columns(
    samples: Samples, pooled: PooledSample, columns: IntArray, n_jobs: int = 1
) -> Tables:
    """Return the tables of some columns, which rise, given by their places among all."""
    every = columns.size == samples.n_columns
    names = [samples.names[s] for s in columns]
    tables = make_tables(
        pooled.values if every else pooled.values[:, columns],
        [samples.kinds[s] for s in columns],
        {q: samples.categories[name] for q, name in enumerate(names) if name in samples.categories},
        pooled.limits if every else (pooled.limits[0][columns], pooled.limits[1][columns]),
        complete=pooled.complete,
        missing=pooled.missing,
        n_jobs=n_jobs,
    )
    if every:
        return tables
    return replace(tables, column=columns[tables.column], constant=columns[tables.constant])


def make_tables(
    values: FloatArray,
    kinds: Sequence[str],
    categories: Mapping[int, tuple[str, ...]],
    limits: tuple[FloatArray, FloatArray],
    *,
    complete: bool,
    missing: bool = False,
    n_jobs: int = 1,
) -> Tables:
    """Return the tables of every column that varies.

    Parameters
    ----------
    values : array of shape (rows, D)
        Pooled rows, all or some drawn without regard to labels.
    kinds : sequence of str
        "numeric" or "categorical", for every column.
    categories : mapping from int to tuple of str
        The labels of the categorical columns, by their place.
    limits : pair of arrays of length D
        The least and the greatest value of every column over all rows.
    complete : bool
        Whether `values` are all rows.
    missing : bool
        Whether values may be missing: NaN.
    n_jobs : int
        Threads.
    """
    low, high = limits
    varies = low < high
    categorical = np.array([kind == "categorical" for kind in kinds], dtype=bool)
    numbers = np.flatnonzero(varies & ~categorical)
    step = max(BLOCK_ENTRIES // max(values.shape[0], 1), 1)
    alike = _by_present(values, numbers) if missing else [numbers]
    groups = [part[i : i + step] for part in alike for i in range(0, part.size, step)]

    def numeric(places: IntArray) -> TablePart:
        check_interrupts()
        columns = np.ascontiguousarray(values[:, places].T)
        if missing:
            columns = _present(columns, low[places], high[places])
        return numeric_part(columns, places, low, high, complete=complete)

    parts = in_threads(numeric, groups, n_jobs)
    for s in np.flatnonzero(varies & categorical):
        codes = values[:, s]
        codes = codes[~np.isnan(codes)] if missing else codes
        parts.append(level_part(codes, int(s), categories[int(s)], complete=complete))
    return _joined(parts, np.flatnonzero(~varies), missing=missing)


def _by_present(values: FloatArray, columns: IntArray) -> list[IntArray]:
    """Return the columns in groups that have the same number of values."""
    counts = np.count_nonzero(~np.isnan(values[:, columns]), axis=0)
    return [columns[counts == count] for count in np.unique(counts)]


def _present(columns: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the values that are there of columns (one per row) that have as many each."""
    count = int(np.count_nonzero(~np.isnan(columns[0])))
    if count < 2:
        # The rows drawn have hardly a value of it: its extremes stand for the others.
        return np.column_stack([low, high])
    columns.sort(axis=1)  # what is missing comes last
    return np.ascontiguousarray(columns[:, :count])


def _joined(parts: list[TablePart], constant: IntArray, *, missing: bool) -> Tables:
    column = np.array([c for part in parts for c in part.column], dtype=np.intp)
    order = np.argsort(column, kind="stable")
    level = [name for part in parts for name in part.level]
    told_by = [name for part in parts for name in part.told_by]
    gaps = np.array([part.gaps for part in parts for _ in part.column], dtype=bool)[order]
    units = Units.joined([part.units for part in parts])
    frequent = np.concatenate([np.empty(0), *(part.frequent for part in parts)])
    none = np.empty((0, CellScores.count), dtype=np.float32)
    edges = np.concatenate([np.empty(0), *(part.edges for part in parts)])
    cells = np.concatenate([none, *(part.cells for part in parts)])
    n_edges, n_cells = (
        np.concatenate([np.empty(0, dtype=np.intp), *counts])
        for counts in ([part.n_edges for part in parts], [part.n_cells for part in parts])
    )
    edges, edge_start = _in_order(edges, n_edges, order)
    # The cell of a missing value, 0, comes last.
    cells, cell_start = _in_order(cells, n_cells, order, more=int(missing))
    buckets, bucket_start, low, scale = _buckets(edges, edge_start, gaps)
    return Tables(
        column=column[order],
        level=tuple(level[i] for i in order),
        told_by=tuple(told_by[i] for i in order),
        constant=constant,
        edges=edges,
        edge_start=edge_start,
        cells=cells,
        cell_start=cell_start,
        gaps=gaps,
        buckets=buckets,
        bucket_start=bucket_start,
        bucket_low=low,
        bucket_scale=scale,
        units=units.some(order),
        frequent=frequent[order],
        missing=missing,
    )


def _starts(counts: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)


def _in_order(
    values: NDArray[Number], counts: IntArray, order: IntArray, more: int = 0
) -> tuple[NDArray[Number], IntArray]:
    """Return runs of so many values in another order, each with `more` zeros after it.

    Where the runs begin comes with them.
    """
    starts = _starts(counts[order] + more)
    if not more and bool((order[1:] > order[:-1]).all()):
        return values, starts
    inside = np.repeat(np.arange(order.size), counts[order])
    within = np.arange(values.shape[0]) - np.repeat(_starts(counts[order])[:-1], counts[order])
    ordered = np.zeros((int(starts[-1]), *values.shape[1:]), dtype=values.dtype)
    ordered[starts[inside] + within] = values[_starts(counts)[order][inside] + within]
    return ordered, starts


def _buckets(
    edges: FloatArray, edge_start: IntArray, gaps: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], IntArray, FloatArray, FloatArray]:
    """Return for each of M + 1 equal steps along the line how many edges come before it.

    The step of a value is found by one product: the same, in the same order, as in
    `tellapart.scan.cells`, so that rounding puts an edge and its equals into one step. With the
    steps of all columns, one after the other, come where those of each begin, the least value and
    the scale of each.
    """
    size = np.diff(edge_start)
    count = np.where(gaps, MORE_BUCKETS_PER_EDGE, BUCKETS_PER_EDGE) * size
    margin = (BUCKET_MARGIN * size).astype(np.intp)
    low, high = edges[edge_start[:-1] + margin], edges[edge_start[1:] - 1 - margin]
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        scale = np.where(high > low, count / (high - low), 0.0)
    scale = np.where(np.isfinite(scale), scale, 0.0)
    starts = _starts(count + 1)
    before = np.zeros(int(starts[-1]), dtype=np.int32)
    count_all_before(edges, edge_start, low, scale, before, starts)
    return before, starts, low, scale
