"""Statistics of whole rows: distances between them, summed over bins once for all permutations.

With a symmetric matrix M of the rows, S_xx(e) the sum of M over pairs of rows that count as x,
and so on, every statistic here is 2 S_xy/(mn) − S_xx/m² − S_yy/n² or its negative. Beyond
`MOST_ROWS` rows some rows of each bin, drawn without regard to labels, stand for all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tellapart.arrays import BoolArray, FloatArray, IntArray, Singles
from tellapart.interrupts import check_interrupts
from tellapart.permutation.design import Units
from tellapart.permutation.designed_bins import DesignedBins
from tellapart.permutation.keyed_bins import KeyedBins
from tellapart.scan.pool import (
    PERMUTATIONS_AT_A_TIME,
    Pool,
    crowd,
    distances,
    distances_by_products,
    ridge_by_products,
    ridge_matrix,
)
from tellapart.scan.sums import scales, stacked
from tellapart.scan.tails import beyond_rounding
from tellapart.threads import in_slices

# Inner products of whole rows, added up over blocks of columns that are never held together.
#
# Whatever is made of the distances of N rows, or of δᵀ(Σ + ridge·I)⁻¹δ where columns are more than
# rows, needs N × N matrices, each of them a sum over columns.


# Rows whose products with all others one thread makes at a time.
ROWS_AT_A_TIME = 256


@dataclass(frozen=True, eq=False)
class UnitProducts:
    """FFᵀ, ZFᵀ and ZZᵀ of the units of a design; see `tellapart.scan.row_statistics`."""

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


# Statistics of whole rows under a design: units of any size, differences within blocks.
#
# With D the sums of distances between the rows of two units and w̃(e) the weights of units less
# what their blocks have in common (`DesignedBins.centred_weights`), the energy distance is
# −w̃ᵀDw̃; with one block and units of one size that is the usual one. Where columns are more than
# units, δᵀ(Σ + ridge·I)⁻¹δ is found by matrices of units: δ = Fᵀw, Σ = ZᵀZ its covariance over
# permutations,
#
#     F(ZᵀZ + ridge·I)⁻¹Fᵀ = (FFᵀ − FZᵀ(ZZᵀ + ridge·I)⁻¹ZFᵀ)/ridge.


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
