"""Statistics of whole rows under a design: units of any size, differences within blocks.

With D the sums of distances between the rows of two units and w̃(e) the weights of units less what
their blocks have in common (`DesignedBins.centred_weights`), the energy distance is −w̃ᵀDw̃; with one
block and units of one size that is the usual one. Where columns are more than units,
δᵀ(Σ + ridge·I)⁻¹δ is found by matrices of units: δ = Fᵀw, Σ = ZᵀZ its covariance over permutations,

    F(ZᵀZ + ridge·I)⁻¹Fᵀ = (FFᵀ − FZᵀ(ZZᵀ + ridge·I)⁻¹ZFᵀ)/ridge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.interrupts import check_interrupts
from tellapart.permutation.bins import Singles
from tellapart.permutation.designed_bins import DesignedBins
from tellapart.permutation.units import Units
from tellapart.scan.design_scales import scales, stacked
from tellapart.scan.pool import PERMUTATIONS_AT_A_TIME, Pool
from tellapart.scan.row_matrices import crowd, distances, distances_by_products
from tellapart.scan.row_products import RowProducts, UnitProducts, kept_rows
from tellapart.scan.tails import beyond_rounding
from tellapart.scan.whole_rows import BLOCK_ENTRIES
from tellapart.threads import in_slices

# The share of its terms that rounding makes of a form in double precision.
ROUNDING = 1e-12


@dataclass(frozen=True)
class DesignedRows:
    """Rows of the units of a design, some of each where they are many.

    `products` are those of all columns, where these are too many to be held at once.
    """

    pool: Pool
    bins: DesignedBins
    products: RowProducts | None = None

    def energy(self) -> FloatArray:
        """Return the energy distance within blocks of each permutation.

        It is that of units whose labels move: of the many rows of the others a few would stand for
        all of them.
        """
        weights = self.bins.arranged_units.only_moved().centred_weights(self.bins.labels)
        return -self._form(self._distance_sums(self.bins.units.only_moved()), weights)

    def decorrelated(self, ridge: float) -> FloatArray:
        """Return δᵀ(Σ + ridge·I)⁻¹δ, Σ the correlation of δ(V) over the permutations."""
        if self.products is None and self.pool.tables.size <= self.bins.n_bins:
            return self._decorrelated_by_columns(ridge)
        found = None if self.products is None else self.products.units
        found = found or UnitProducts.of(self.pool, self.bins)
        inner = found.inner.copy()
        inner[np.diag_indices_from(inner)] += ridge
        matrix = (found.own - found.across.T @ np.linalg.solve(inner, found.across)) / ridge
        return self._form(matrix, self.bins.arranged_units.weights(self.bins.labels))

    def _decorrelated_by_columns(self, ridge: float) -> FloatArray:
        halves = self.pool.sums.of("clipped")
        features = stacked(halves) * scales(self.bins, halves)
        spread = self.bins.units.spread_out(features) / self.bins.units.unit
        values, vectors = np.linalg.eigh(spread.T @ spread)
        turn = vectors / np.sqrt(np.maximum(values, 0.0) + ridge)
        changes = self.pool.differences("clipped").astype(np.float64) @ turn
        return np.asarray(np.square(changes).sum(axis=1))

    def _distance_sums(self, units: Units) -> FloatArray:
        """Return the sums of distances over the rows of two units, for all units."""
        kept, rows = self.pool.requests.points_per_bin, units.rows
        used = np.minimum(rows, kept)
        starts = np.cumsum(used) - used
        sums = np.empty((rows.size, rows.size))
        step = max(BLOCK_ENTRIES // max(int(used.sum()), 1) // kept, 1)
        apart = self._distances()
        for first in range(0, rows.size, step):
            check_interrupts()
            last = min(first + step, rows.size)
            mine = slice(int(starts[first]), int(starts[last - 1] + used[last - 1]))
            if starts.size == used.sum():
                sums[first:last] = apart(mine)
                continue
            by_column = np.add.reduceat(apart(mine).astype(np.float64), starts, axis=1)
            sums[first:last] = np.add.reduceat(by_column, starts[first:last] - mine.start, axis=0)
        # Of a unit with more rows, those kept stand for all.
        weight = units.counts / used
        sums *= weight
        sums *= weight[:, np.newaxis]
        return sums

    def _distances(self) -> Callable[[slice], FloatArray | Singles]:
        """Return what gives the distances of some of the rows kept from all of them."""
        if self.products is not None:
            products = self.products.products
            return lambda rows: distances_by_products(products, rows)
        points = self.pool.sums.points[kept_rows(self.pool, self.bins)]
        points = points / crowd(self.pool.tables.column)
        lengths = np.square(points).sum(axis=1)
        return lambda rows: distances(points, lengths, rows)

    def _form(self, matrix: FloatArray, weights: FloatArray) -> FloatArray:
        """Return wᵀMw of every permutation, of weights in the arrangement of the labels."""
        found, order = np.empty(weights.shape[0]), self.bins.order
        matrix = matrix[np.ix_(order, order)]

        def multiply(rows: slice) -> None:
            found[rows] = np.einsum("ij,ij->i", weights[rows] @ matrix, weights[rows])

        in_slices(multiply, weights.shape[0], PERMUTATIONS_AT_A_TIME, self.pool.n_jobs)
        terms = float(np.abs(matrix).sum()) * float(np.square(weights).max())
        return beyond_rounding(found, ROUNDING * terms)
