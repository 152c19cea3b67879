"""Statistics of whole rows: distances between them, summed over bins once for all permutations.

With a symmetric matrix M of the rows, S_xx(e) the sum of M over pairs of rows that count as x,
and so on, every statistic here is 2 S_xy/(mn) − S_xx/m² − S_yy/n² or its negative. Beyond
`MOST_ROWS` rows some rows of each bin, drawn without regard to labels, stand for all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.interrupts import check_interrupts
from tellapart.permutation.bins import Singles
from tellapart.permutation.keyed_bins import KeyedBins
from tellapart.scan.pool import PERMUTATIONS_AT_A_TIME, Pool
from tellapart.scan.row_matrices import (
    crowd,
    distances,
    distances_by_products,
    ridge_by_products,
    ridge_matrix,
)
from tellapart.scan.row_products import RowProducts
from tellapart.threads import in_slices

# Rows whose distances are summed; the matrix itself is made in blocks of this many entries.
MOST_ROWS = 4_000
BLOCK_ENTRIES = 4_000_000


def points_per_bin(labels: KeyedBins) -> int:
    """Return how many rows of each bin are kept: all of a few, else some, whatever their labels."""
    # Rows permuted one by one are kept, as many as they are: of few none may be left out.
    return min(max(MOST_ROWS // max(labels.n_bins, 1), 1), labels.largest)


def _arranged_rows(labels: KeyedBins, per_bin: int) -> IntArray:
    """Return the places of the rows that are kept, bin by bin in the arrangement of the bins."""
    return np.asarray((labels.order[:, np.newaxis] * per_bin + np.arange(per_bin)).ravel())


@dataclass(frozen=True)
class WholeRows:
    """Rows of the bins, arranged as their labels, in the space of the clipped scores.

    Where values may be missing, `present` is 0 for rows without any, which do not count; what else
    is missing is 0, the middle of its column. `products` are the inner products of the points,
    where these have too many columns to be held.
    """

    points: Singles
    labels: Singles
    rows_per_bin: int
    n_jobs: int = 1
    present: Singles | None = None
    products: FloatArray | None = None

    @classmethod
    def of(cls, pool: Pool) -> WholeRows:
        """Return the rows of all bins that were kept."""
        per_bin, present = pool.requests.points_per_bin, pool.sums.points_present
        order = _arranged_rows(pool.labels, per_bin)
        points = pool.sums.points[order] / crowd(pool.tables.column)
        present = None if present is None else present[order]
        return cls(points, pool.labels.labels, per_bin, pool.n_jobs, present)

    @classmethod
    def by_products(cls, pool: Pool, rows: RowProducts) -> WholeRows:
        """Return the same rows of columns that are too many to be held at once."""
        none = np.empty((rows.products.shape[0], 0), dtype=np.float32)
        per_bin, labels = pool.requests.points_per_bin, pool.labels.labels
        order = _arranged_rows(pool.labels, per_bin)
        present = None if rows.present is None else rows.present[order]
        return cls(none, labels, per_bin, pool.n_jobs, present, rows.products[np.ix_(order, order)])

    @property
    def n_rows(self) -> int:
        """Rows in use."""
        return int(self.points.shape[0])

    def energy(self) -> FloatArray:
        """Return the energy distance of each permutation."""
        return self._contrast(self._distance_sums())

    def decorrelated(self, ridge: float) -> FloatArray:
        """Return δᵀ(Σ + ridge·I)⁻¹δ, of δ the differences of the means of V."""
        matrix = (
            ridge_matrix(self.points, ridge)
            if self.products is None
            else ridge_by_products(self.products, ridge)
        )
        return -self._contrast(self._sum_blocks(matrix))

    def _distance_sums(self) -> FloatArray:
        """Return the sums of distances over pairs of bins."""
        lengths = np.square(self.points).sum(axis=1)
        bins = self.labels.shape[1]
        sums = np.empty((bins, bins))
        step = max(BLOCK_ENTRIES // max(self.n_rows, 1) // self.rows_per_bin, 1)
        for start in range(0, bins, step):
            check_interrupts()
            stop = min(start + step, bins)
            rows = slice(start * self.rows_per_bin, stop * self.rows_per_bin)
            apart = (
                distances(self.points, lengths, rows)
                if self.products is None
                else distances_by_products(self.products, rows)
            )
            sums[start:stop] = self._sum_blocks(apart, rows.start)
        return sums

    def _sum_blocks(self, matrix: FloatArray | Singles, first: int = 0) -> FloatArray:
        """Return the sums over pairs of bins, of rows of the matrix from point `first` on."""
        b = self.rows_per_bin
        if self.present is not None:
            own = self.present[first : first + matrix.shape[0]]
            matrix = matrix * own[:, np.newaxis] * self.present
        if b == 1:
            return np.asarray(matrix, dtype=np.float64)
        rows, columns = matrix.shape
        blocks = matrix.reshape(rows // b, b, columns // b, b)
        return np.asarray(blocks.sum(axis=(1, 3), dtype=np.float64))

    def _contrast(self, sums: FloatArray) -> FloatArray:
        """Return 2 S_xy/(mn) − S_xx/m² − S_yy/n² of every permutation."""
        if self.present is not None:
            return self._contrast_of_present(sums, self.present)
        # Centred, what single precision has to hold is small: constants cancel in the contrast.
        centred = sums - sums.mean()
        labels = self.labels
        of_x = labels.sum(axis=1, dtype=np.float64)
        m, n = of_x, labels.shape[1] - of_x
        weights = np.where(labels > 0, 1 / np.maximum(m, 1)[:, np.newaxis], 0.0)
        weights -= np.where(labels > 0, 0.0, 1 / np.maximum(n, 1)[:, np.newaxis])
        singles, matrix = weights.astype(np.float32), centred.astype(np.float32)
        contrast = np.empty(weights.shape[0])

        def multiply(rows: slice) -> None:
            contrast[rows] = -np.einsum("ij,ij->i", singles[rows] @ matrix, weights[rows])

        in_slices(multiply, weights.shape[0], PERMUTATIONS_AT_A_TIME, self.n_jobs)
        return contrast / self.rows_per_bin**2

    def _contrast_of_present(self, sums: FloatArray, present: Singles) -> FloatArray:
        """Return the contrast in which m and n count the rows that have any value."""
        rows = present.reshape(-1, self.rows_per_bin).sum(axis=1, dtype=np.float64)
        centred = sums - sums.sum() / max(rows.sum(), 1) ** 2 * np.outer(rows, rows)
        m = self.labels @ rows
        n = rows.sum() - m
        of_x, of_y = 1 / np.maximum(m, 1), 1 / np.maximum(n, 1)
        weights = np.where(self.labels > 0, of_x[:, np.newaxis], -of_y[:, np.newaxis])
        contrast = -np.einsum("ij,ij->i", weights @ centred, weights)
        return np.asarray(np.where(np.minimum(m, n) > 0, contrast, 0.0))
