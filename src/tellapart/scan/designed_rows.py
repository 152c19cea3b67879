"""Statistics of whole rows under a design: units of any size, differences within blocks.

With D the sums of distances between the rows of two units and w̃(e) the weights of units less what
their blocks have in common (`DesignedBins.centred_weights`), the energy distance is −w̃ᵀDw̃; with one
block and units of one size that is the usual one. Where columns are more than units,
δᵀ(Σ + ridge·I)⁻¹δ is found by matrices of units: δ = Fᵀw, Σ = ZᵀZ its covariance over permutations,

    F(ZᵀZ + ridge·I)⁻¹Fᵀ = (FFᵀ − FZᵀ(ZZᵀ + ridge·I)⁻¹ZFᵀ)/ridge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.interrupts import check_interrupts
from tellapart.permutation.designed_bins import DesignedBins
from tellapart.scan.design_scales import scales, stacked
from tellapart.scan.pool import PERMUTATIONS_AT_A_TIME, Pool
from tellapart.scan.row_matrices import crowd
from tellapart.scan.whole_rows import BLOCK_ENTRIES
from tellapart.threads import in_slices


@dataclass(frozen=True)
class DesignedRows:
    """Rows of the units of a design, some of each where they are many."""

    pool: Pool
    bins: DesignedBins

    def energy(self) -> FloatArray:
        """Return the energy distance within blocks of each permutation."""
        return -self._form(self._distance_sums(), self.bins.units.centred_weights(self.bins.labels))

    def decorrelated(self, ridge: float) -> FloatArray:
        """Return δᵀ(Σ + ridge·I)⁻¹δ, Σ the correlation of δ(V) over the permutations."""
        halves = self.pool.sums.of("clipped")
        features = stacked(halves) * scales(self.bins, halves)
        spread = self.bins.units.spread_out(features) / self.bins.units.unit
        if features.shape[1] <= features.shape[0]:
            values, vectors = np.linalg.eigh(spread.T @ spread)
            turn = vectors / np.sqrt(np.maximum(values, 0.0) + ridge)
            changes = self.pool.differences("clipped").astype(np.float64) @ turn
            return np.asarray(np.square(changes).sum(axis=1))
        # What all rows have in common has no part in δ.
        features -= self.bins.units.counts[:, np.newaxis] * (
            features.sum(axis=0) / self.bins.n_rows
        )
        across = spread @ features.T
        inner = spread @ spread.T
        inner[np.diag_indices_from(inner)] += ridge
        matrix = (features @ features.T - across.T @ np.linalg.solve(inner, across)) / ridge
        return self._form(matrix, self.bins.units.weights(self.bins.labels))

    def _distance_sums(self) -> FloatArray:
        """Return the sums of distances over the rows of two units, for all units."""
        kept, rows = self.pool.requests.points_per_bin, self.bins.units.rows
        there = np.arange(kept) < rows[:, np.newaxis]
        points = self.pool.sums.points[there.ravel()] / crowd(self.pool.tables.column)
        used = there.sum(axis=1)
        starts = np.cumsum(used) - used
        lengths = np.square(points).sum(axis=1)
        sums = np.empty((rows.size, rows.size))
        step = max(BLOCK_ENTRIES // max(points.shape[0], 1) // kept, 1)
        for first in range(0, rows.size, step):
            check_interrupts()
            last = min(first + step, rows.size)
            mine = slice(int(starts[first]), int(starts[last - 1] + used[last - 1]))
            squares = -2 * (points[mine] @ points.T)
            squares += lengths[mine, np.newaxis]
            squares += lengths
            distances = np.sqrt(np.maximum(squares, 0, out=squares)).astype(np.float64)
            by_column = np.add.reduceat(distances, starts, axis=1)
            sums[first:last] = np.add.reduceat(by_column, starts[first:last] - mine.start, axis=0)
        # Of a unit with more rows, those kept stand for all.
        weight = self.bins.units.counts / used
        return np.asarray(sums * weight * weight[:, np.newaxis])

    def _form(self, matrix: FloatArray, weights: FloatArray) -> FloatArray:
        """Return wᵀMw of every permutation."""
        found = np.empty(weights.shape[0])

        def multiply(rows: slice) -> None:
            found[rows] = np.einsum("ij,ij->i", weights[rows] @ matrix, weights[rows])

        in_slices(multiply, weights.shape[0], PERMUTATIONS_AT_A_TIME, self.pool.n_jobs)
        return found
