"""Inner products of whole rows, added up over blocks of columns that are never held together.

Whatever is made of the distances of N rows, or of δᵀ(Σ + ridge·I)⁻¹δ where columns are more than
rows, needs N × N matrices, each of them a sum over columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tellapart.arrays import BoolArray, FloatArray
from tellapart.permutation.bins import Singles
from tellapart.permutation.designed_bins import DesignedBins
from tellapart.scan.design_scales import scales, stacked
from tellapart.scan.pool import Pool
from tellapart.scan.row_matrices import crowd
from tellapart.threads import in_slices

# Rows whose products with all others one thread makes at a time.
ROWS_AT_A_TIME = 256


@dataclass(frozen=True, eq=False)
class UnitProducts:
    """FFᵀ, ZFᵀ and ZZᵀ of the units of a design; see `tellapart.scan.designed_rows`."""

    own: FloatArray
    across: FloatArray
    inner: FloatArray

    @classmethod
    def of(cls, pool: Pool, bins: DesignedBins) -> UnitProducts:
        """Return the products of the columns of a pool."""
        halves = pool.sums.of("clipped")
        features = stacked(halves) * scales(bins, halves)
        spread = bins.units.spread_out(features) / bins.units.unit
        # What all rows have in common has no part in δ.
        features -= bins.units.counts[:, np.newaxis] * (features.sum(axis=0) / bins.n_rows)
        return cls(features @ features.T, spread @ features.T, spread @ spread.T)

    def __add__(self, other: UnitProducts) -> UnitProducts:
        return UnitProducts(
            self.own + other.own, self.across + other.across, self.inner + other.inner
        )


@dataclass(eq=False)
class RowProducts:
    """The sums so far, over the columns that were added.

    Attributes
    ----------
    products : array of shape (rows, rows), or none
        VVᵀ of the rows that were kept of every bin.
    present : array of length rows, or None
        1 for each of these rows that has any value, where values may be missing.
    units : UnitProducts or None
        Those of a design.
    """

    products: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    present: Singles | None = None
    units: UnitProducts | None = None

    def add(self, pool: Pool) -> None:
        """Add the columns of a pool."""
        points, present = pool.sums.points, pool.sums.points_present
        if pool.design is not None:
            points = points[kept_rows(pool, pool.design)]
            own = UnitProducts.of(pool, pool.design)
            self.units = own if self.units is None else self.units + own
        if present is not None:
            self.present = present if self.present is None else np.maximum(self.present, present)
        points = np.ascontiguousarray(points / crowd(pool.tables.column))
        if not self.products.size:
            self.products = np.zeros((points.shape[0], points.shape[0]))

        def multiply(rows: slice) -> None:
            self.products[rows] += points[rows] @ points.T

        in_slices(multiply, points.shape[0], ROWS_AT_A_TIME, pool.n_jobs)


def kept_rows(pool: Pool, bins: DesignedBins) -> BoolArray:
    """Return which of the places for rows of units have one: units differ in size."""
    there = np.arange(pool.requests.points_per_bin) < bins.units.rows[:, np.newaxis]
    return there.ravel()
