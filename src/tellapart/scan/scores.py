"""Scores of rows: what the families of differences average. No label is seen here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.samples import Samples
from tellapart.scan.cells import CELL_SCORES
from tellapart.scan.lookup import clip_values, find_cells, take_scores
from tellapart.scan.outline import Outline
from tellapart.scan.tables import Tables, tables_of
from tellapart.scan.units import LEAST_REST
from tellapart.threads import in_slices

Singles = NDArray[np.float32]

# Of the rows in memory, values are read so many columns at a time.
COLUMNS_AT_A_TIME = 16


@dataclass(frozen=True)
class Scores:
    """Scores of rows (N × P), for the P score columns of `tellapart.scan.tables.Tables`.

    Attributes
    ----------
    held : mapping from name to array of shape (N, P)
        The scores of `tellapart.scan.cells.CELL_SCORES`, "clipped" and "squared".
    column : array of length P
        The column of the samples that each score column belongs to.
    level : tuple of str or None
        The level that a score column indicates; None for numeric columns.
    constant : array
        Columns of the samples that do not vary and have no scores.
    present : array of shape (N, P) or None
        1 where the value is there, else 0; None where none is missing. A missing value has the
        score 0, the mean of all.
    """

    held: Mapping[str, Singles]
    column: IntArray
    level: tuple[str | None, ...]
    constant: IntArray
    present: Singles | None = None

    @property
    def normal(self) -> Singles:
        """U."""
        return self.held["normal"]

    @property
    def clipped(self) -> Singles:
        """V."""
        return self.held["clipped"]

    @property
    def numeric(self) -> IntArray:
        """Places of the score columns that belong to numeric columns."""
        return np.flatnonzero([level is None for level in self.level])

    def of(self, name: str) -> Singles:
        """Return one matrix of scores by its name."""
        return self.held[name]


def make_scores(samples: Samples, n_jobs: int = 1) -> Scores:
    """Return the scores of every varying column, ranked over all rows of both samples."""
    pooled = Outline.of_all_rows(samples)
    tables = tables_of(samples, pooled, n_jobs)
    return score_rows(tables, pooled.values, n_jobs)


def score_rows(
    tables: Tables,
    values: FloatArray,
    n_jobs: int = 1,
    names: tuple[str, ...] = (*CELL_SCORES, "clipped", "squared"),
) -> Scores:
    """Return the scores of rows by tables that are there already."""
    n_rows = values.shape[0]
    held = {name: np.empty((tables.size, n_rows), dtype=np.float32) for name in names}
    unused = np.empty(n_rows, dtype=np.float32)

    def score(places: slice) -> None:
        found = np.empty(n_rows, dtype=np.int32)
        for p in range(places.start, places.stop):
            own = values[:, tables.column[p]]
            look_up(tables, p, own, found)
            cells = tables.cells[tables.cell_start[p] : tables.cell_start[p + 1]]
            for kind, name in enumerate(CELL_SCORES):
                if name in held:
                    take_scores(found, cells, kind, held[name][p])
            v = held["clipped"][p] if "clipped" in held else unused.copy()
            g = held["squared"][p] if "squared" in held else unused.copy()
            in_units(tables, p, own, found, v, g)

    in_slices(score, tables.size, COLUMNS_AT_A_TIME, n_jobs)
    return Scores(
        {name: np.ascontiguousarray(rows.T) for name, rows in held.items()},
        tables.column,
        tables.level,
        tables.constant,
        (~np.isnan(values[:, tables.column])).astype(np.float32) if tables.missing else None,
    )


def look_up(tables: Tables, p: int, values: FloatArray, found: NDArray[np.int32]) -> None:
    """Write the cells of the values of one column."""
    edges = tables.edges[tables.edge_start[p] : tables.edge_start[p + 1]]
    if tables.missing:
        absent = np.isnan(values)
        values = np.where(absent, edges[0], values)
    find_cells(
        values,
        edges,
        tables.gaps[p],
        tables.buckets[tables.bucket_start[p] : tables.bucket_start[p + 1]],
        tables.bucket_low[p],
        tables.bucket_scale[p],
        found,
    )
    if tables.missing:
        found[absent] = tables.cell_start[p + 1] - tables.cell_start[p] - 1


def in_units(
    tables: Tables,
    p: int,
    values: FloatArray,
    found: NDArray[np.int32],
    v: Singles,
    g: Singles,
) -> None:
    """Write V and G of the values of one column; of a level V is U, and there is no G."""
    units = tables.units
    if units.is_level[p]:
        take_scores(found, tables.cells[tables.cell_start[p] : tables.cell_start[p + 1]], 0, v)
        g[:] = 0
        return
    clip_values(
        values, units.centre[p], units.half_spread[p], units.mean[p], units.scale[p],
        units.square[p], units.slope[p], units.offset[p], v, g,
    )  # fmt: skip
    if tables.missing:
        absent = np.isnan(values)
        v[absent] = g[absent] = 0


def standardised(values: FloatArray) -> FloatArray:
    """Return columns with mean 0 and variance 1; constant ones become 0."""
    centred = values - values.mean(axis=0)
    deviation = centred.std(axis=0)
    flat = deviation <= 1e-9 * np.maximum(np.abs(values).max(axis=0), 1e-300)
    return np.asarray(np.where(flat, 0.0, centred / np.where(flat, 1.0, deviation)))


def without(values: FloatArray, base: FloatArray) -> FloatArray:
    """Return each column less its regression on the same column of `base`, standardised."""
    unit, own = standardised(values), standardised(base)
    slope = np.mean(unit * own, axis=0)
    rest = unit - slope * own
    keep = np.mean(np.square(rest), axis=0) >= LEAST_REST
    return np.asarray(np.where(keep, standardised(rest), 0.0))
