"""Scores of rows: what the families of differences average. No label is seen here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.data.samples import Samples
from tellapart.scan.cells import CELL_SCORES, LEAST_REST, score_columns, take_columns
from tellapart.scan.tables import PooledSample, Tables, tables_of
from tellapart.threads import in_slices

ALL_SCORES = (*CELL_SCORES, "clipped", "squared")
# Values that a thread takes at a time.
BLOCK_ENTRIES = 40_000


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
    pooled = PooledSample.of_all_rows(samples)
    tables = tables_of(samples, pooled, n_jobs)
    return score_rows(tables, pooled.values, n_jobs)


def score_rows(
    tables: Tables,
    values: FloatArray,
    n_jobs: int = 1,
    names: tuple[str, ...] = ALL_SCORES,
) -> Scores:
    """Return the scores of rows by tables that are there already."""
    n_rows = values.shape[0]
    held = {name: np.empty((tables.size, n_rows), dtype=np.float32) for name in names}
    every = np.arange(n_rows)

    def score(places: slice) -> None:
        look_up(tables, places, values, every, held)

    in_slices(score, tables.size, columns_at_a_time(n_rows), n_jobs)
    return Scores(
        {name: np.ascontiguousarray(rows.T) for name, rows in held.items()},
        tables.column,
        tables.level,
        tables.constant,
        (~np.isnan(values[:, tables.column])).astype(np.float32) if tables.missing else None,
    )


def columns_at_a_time(n_rows: int) -> int:
    """Return how many columns a thread takes at a time: few of many rows.

    >>> columns_at_a_time(40), columns_at_a_time(1_000_000)
    (1000, 2)
    """
    return max(BLOCK_ENTRIES // max(n_rows, 1), 2)


def look_up(
    tables: Tables,
    places: slice,
    values: FloatArray,
    order: IntArray,
    held: Mapping[str, Singles],
) -> tuple[NDArray[np.int32], Singles, Singles]:
    """Write the scores of some columns to what is held, and return their cells, V and G.

    All are (columns × rows), the rows of `values` in this order.
    """
    shape = (places.stop - places.start, order.size)
    cell_numbers = np.empty(shape, dtype=np.int32)
    v, g = (
        held[name][places] if name in held else np.empty(shape, dtype=np.float32)
        for name in ("clipped", "squared")
    )
    score_columns(
        values, order, tables.column, tables.edges, tables.edge_start, tables.gaps,
        tables.buckets, tables.bucket_start, tables.bucket_low, tables.bucket_scale,
        tables.cells, tables.cell_start, tables.missing, tables.units.is_level,
        tables.units.turning, places.start, np.empty(order.size), np.empty(order.size, dtype=bool),
        cell_numbers, v, g,
    )  # fmt: skip
    for kind, name in enumerate(CELL_SCORES):
        if name in held:
            out = held[name][places]
            take_columns(cell_numbers, tables.cells, tables.cell_start, places.start, kind, out)
    return cell_numbers, v, g


def standardised(values: FloatArray) -> FloatArray:
    """Return columns with mean 0 and variance 1; constant ones become 0."""
    centred = values - values.mean(axis=0)
    deviation = centred.std(axis=0)
    flat = deviation <= 1e-9 * np.maximum(np.abs(values).max(axis=0), 1e-300)
    return np.asarray(np.where(flat, 0.0, centred / np.where(flat, 1.0, deviation)))


def without(values: FloatArray, base: FloatArray) -> FloatArray:
    """Return each column less its regression on the same column of `base`, standardised."""
    unit, base_unit = standardised(values), standardised(base)
    slope = np.mean(unit * base_unit, axis=0)
    rest = unit - slope * base_unit
    keep = np.mean(np.square(rest), axis=0) >= LEAST_REST
    return np.asarray(np.where(keep, standardised(rest), 0.0))
