"""Statistics of whole rows: quadratic forms wᵀMw, w = 1/m on rows of x and −1/n on those of y.

With D the distances of the rows, −wᵀDw is the energy distance; with M = K(K/N + ridge·I)⁻¹, K = VVᵀ
the inner products of the rows, wᵀMw = δᵀ(Σ + ridge·I)⁻¹δ, δ the differences of the means of V and
Σ their pooled correlation; with t the sums of V over the numeric columns, wᵀttᵀw = (Σ_s δ_s)². The
matrices are summed over pairs of bins once, without labels, and the
labels give the forms of all permutations (`Labels.quadratic`). Beyond `Budget.distance_rows` rows,
some rows of each bin, drawn without regard to labels, stand for all.

Under a design, units differ in size, and differences are those within blocks: D has the sums of
distances between the rows of two units. Where columns are more than units, the ridge form is found
by matrices of units: with δ = Fᵀw and Σ = ZᵀZ its covariance over permutations,

    F(ZᵀZ + ridge·I)⁻¹Fᵀ = (FFᵀ − FZᵀ(ZZᵀ + ridge·I)⁻¹ZFᵀ)/ridge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, singledispatch
from typing import TypeVar

import numpy as np
from scipy.linalg import lapack

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.budget import current_budget
from tellapart.interrupts import check_interrupts
from tellapart.permutation.design_units import DesignUnits
from tellapart.permutation.labels import Labels, TwoSampleSums
from tellapart.permutation.pvalues import beyond_rounding
from tellapart.permutation.shared_orders import PooledSums, SharedOrders
from tellapart.scan.pool import Pool
from tellapart.scan.scores import Scores
from tellapart.threads import in_slices

T = TypeVar("T")
# Bins up to which a dozen matrices of them are held for further permutations.
MOST_BINS_HELD = 1_000
RIDGE = 0.01
"""What is added to the diagonal of Σ where rows are many times as many as columns."""
LEAST_ROUNDING = 4e-6
"""What the rounding of a difference of means of V may amount to."""
# Rows whose products with all others one thread makes at a time.
ROWS_AT_A_TIME = 256


def points_per_bin(labels: Labels) -> int:
    """Return how many rows of each bin are kept: all of a few, else some, whatever their labels."""
    # Rows permuted one by one are kept, as many as they are: of few none may be left out.
    return min(max(current_budget().distance_rows // max(labels.n_bins, 1), 1), labels.largest)


@dataclass(frozen=True, eq=False)
class Points:
    """Rows as points in the space of the clipped scores, or, of many columns, their products.

    Attributes
    ----------
    values : array of shape (rows, P)
        V, the levels of one column counting as one column.
    products : array of shape (rows, rows), or None
        VVᵀ, where columns are too many to be held at once.
    """

    values: Singles
    products: FloatArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    def arranged(self, order: IntArray) -> Points:
        """Return the rows in another order."""
        if self.products is None:
            return Points(self.values[order])
        return Points(self.values[order], self.products[np.ix_(order, order)])

    def distances(self) -> Callable[[slice], FloatArray | Singles]:
        """Return what gives the distances of some of the rows from all of them."""
        squares = self.squared_distances()

        def distances(rows: slice) -> FloatArray | Singles:
            some = squares(rows)
            return np.asarray(np.sqrt(some, out=some))

        return distances

    def squared_distances(self) -> Callable[[slice], FloatArray | Singles]:
        """Return what gives the squares of the distances of some of the rows from all of them."""
        if self.products is not None:
            products, lengths = self.products, np.diagonal(self.products)
            return lambda rows: _squared_distances(products[rows], lengths, rows)
        values, squares = self.values, np.square(self.values).sum(axis=1)
        return lambda rows: _squared_distances(values[rows] @ values.T, squares, rows)

    def gaussian(self, bandwidth: float) -> Callable[[slice], FloatArray | Singles]:
        """Return what gives exp(−distance²/2 bandwidth²) of some of the rows from all of them."""
        squares, factor = self.squared_distances(), np.float32(-0.5 / bandwidth**2)

        def kernel(rows: slice) -> FloatArray | Singles:
            some = squares(rows)
            some *= factor
            return np.asarray(np.exp(some, out=some))

        return kernel

    def ridge_matrix(self, ridge: float) -> FloatArray:
        """Return K(K/N + ridge·I)⁻¹ = N·(I − ridge·(K/N + ridge·I)⁻¹): no spectrum is needed."""
        products = self.products
        if products is None:
            products = (self.values @ self.values.T).astype(np.float64)
        matrix = products / self.n_rows
        matrix[np.diag_indices_from(matrix)] += ridge
        matrix = inverse_definite(matrix)
        matrix *= -ridge * self.n_rows
        matrix[np.diag_indices_from(matrix)] += self.n_rows
        return matrix


def _squared_distances(
    products: FloatArray | Singles, lengths: FloatArray | Singles, rows: slice
) -> FloatArray | Singles:
    squares = -2 * products
    squares += lengths[rows, np.newaxis]
    squares += lengths
    return np.maximum(squares, 0, out=squares)


def inverse_definite(matrix: FloatArray) -> FloatArray:
    """Return the inverse of a symmetric positive definite matrix, by Cholesky's factor.

    >>> inverse_definite(np.array([[2.0, 1.0], [1.0, 2.0]])).round(6).tolist()
    [[0.666667, -0.333333], [-0.333333, 0.666667]]
    """
    factor, _ = lapack.dpotrf(matrix, lower=1, clean=0)
    inverse, _ = lapack.dpotri(factor, lower=1)
    lower = np.tril(inverse)
    return np.asarray(lower + np.tril(inverse, -1).T)


def ridge_for(n_columns: int, n_rows: int) -> float:
    """Return what is added to the diagonal of Σ: more where columns are many for the rows.

    Directions in which pooled rows vary little are then known less well.

    >>> ridge_for(10, 1_000), ridge_for(50, 100), ridge_for(200, 100)
    (0.01, 0.125, 2.0)
    """
    return max(RIDGE, 0.5 * (n_columns / n_rows) ** 2)


def crowd(parent: IntArray) -> Singles:
    """Return what score columns are divided by: the levels of one column count as one column."""
    _, column, counts = np.unique(parent, return_inverse=True, return_counts=True)
    return np.sqrt(counts[column]).astype(np.float32)


# Inner products of whole rows, added up over blocks of columns that are never held together.
#
# Whatever is made of the distances of N rows, or of the ridge form where columns are more than
# rows, needs N × N matrices, each of them a sum over columns.


@dataclass(frozen=True, eq=False)
class UnitProducts:
    """FFᵀ, ZFᵀ and ZZᵀ of the units of a design, and sums of F over the numeric columns."""

    features: FloatArray
    across: FloatArray
    spread: FloatArray
    totals: FloatArray

    def __add__(self, other: UnitProducts) -> UnitProducts:
        return UnitProducts(
            self.features + other.features,
            self.across + other.across,
            self.spread + other.spread,
            self.totals + other.totals,
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
    totals : array of length rows, or none
        The sums of V over the numeric columns, of these rows.
    n_columns, n_numeric : int
        Score columns that were added, and those of them that belong to numeric columns.
    """

    products: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    present: Singles | None = None
    units: UnitProducts | None = None
    totals: FloatArray = field(default_factory=lambda: np.empty(0))
    n_columns: int = 0
    n_numeric: int = 0

    def add(self, pool: Pool) -> None:
        """Add the columns of a pool."""
        forms, present = row_forms(pool.labels, pool), pool.sums.points_present
        units = forms.unit_products()
        if units is not None:
            self.units = units if self.units is None else self.units + units
        if present is not None:
            self.present = present if self.present is None else np.maximum(self.present, present)
        points, numeric = forms.kept_points(), pool.tables.numeric
        if not self.products.size:
            self.products = np.zeros((points.shape[0], points.shape[0]))
            self.totals = np.zeros(points.shape[0])
        self.totals += points[:, numeric].sum(axis=1, dtype=np.float64)
        self.n_columns += pool.tables.size
        self.n_numeric += numeric.size

        def multiply(rows: slice) -> None:
            self.products[rows] += points[rows] @ points.T

        in_slices(multiply, points.shape[0], ROWS_AT_A_TIME, pool.n_jobs)


@dataclass(frozen=True, eq=False)
class RowForms:
    """The forms of rows in bins, some rows of each where they are many.

    Where values may be missing, rows without any do not count; what else is missing is 0, the
    middle of its column. `products` are those of all columns, where these come in blocks.
    """

    pool: Pool
    products: RowProducts | None = None

    def energy(self) -> FloatArray:
        """Return the energy distance of each permutation."""
        return -self._quadratic("distances", lambda: self._pair_sums(self.points.distances()))

    def gaussian(self, points: Singles, bandwidth: float) -> FloatArray:
        """Return wᵀKw of each permutation, K the Gaussian kernel of rows that were kept."""
        kernel = Points(points).gaussian(bandwidth)
        return self._quadratic(f"kernel {bandwidth}", lambda: self._pair_sums(kernel))

    def kept_rows(self, kept: TwoSampleSums, per_bin: int) -> Singles:
        """Return rows that a feature kept of every bin, in the order of the forms."""
        rows = np.concatenate([kept.x[:-1], kept.y[:-1]])
        return np.asarray(rows.reshape(rows.shape[0] * per_bin, -1)[self._order])

    def kept_scores(self) -> Singles:
        """Return V of the rows that were kept, in the same order."""
        return np.asarray(self.pool.sums.points[self._order])

    @property
    def n_columns(self) -> int:
        """Score columns."""
        return self.pool.tables.size if self.products is None else self.products.n_columns

    @property
    def n_numeric(self) -> int:
        """Score columns that belong to numeric columns."""
        return self.pool.tables.numeric.size if self.products is None else self.products.n_numeric

    def decorrelated(self) -> FloatArray:
        """Return δᵀ(Σ + ridge·I)⁻¹δ by the smaller of two matrices: columns or rows."""
        pooled_scores = self.pool.pooled_scores
        if self.products is None and pooled_scores.clipped.shape[1] <= self.points.n_rows:
            ridge = ridge_for(self.n_columns, pooled_scores.clipped.shape[0])
            turn = self.pool.made.get("turn", lambda: _turn(pooled_scores, ridge))
            squares = np.square(self.pool.differences("clipped") @ turn)
            return np.asarray(squares.sum(axis=1, dtype=np.float64))
        ridge = ridge_for(self.n_columns, self.points.n_rows)
        return self._quadratic("ridge", lambda: self._sums(self.points.ridge_matrix(ridge)))

    def together(self) -> FloatArray:
        """Return (Σ_s δ_s)² over the numeric columns: large where they move the same way."""
        if self.products is None:
            change = self.pool.differences("clipped")[:, self.pool.tables.numeric]
            squares = np.square(change.sum(axis=1, dtype=np.float64))
        else:
            squares = self._together_in_blocks(self.products)
        return beyond_rounding(squares, (LEAST_ROUNDING * self.n_numeric) ** 2)

    def _together_in_blocks(self, products: RowProducts) -> FloatArray:
        totals = products.totals[self._order]
        return self._quadratic("together", lambda: self._sums(np.outer(totals, totals)))

    def unit_products(self) -> UnitProducts | None:
        """Return the products of the units of a design, if there is one."""
        return None

    def kept_points(self) -> Singles:
        """Return V of the rows that were kept, bin by bin as these are numbered."""
        return np.ascontiguousarray(self.pool.sums.points / crowd(self.pool.tables.column))

    @property
    def rows_per_bin(self) -> int:
        """Rows of each bin that were kept."""
        return self.pool.requests.points_per_bin

    @cached_property
    def _order(self) -> IntArray:
        """The places of the rows that were kept, bin by bin in the arrangement of the bins."""
        bins = self.pool.labels.order[:, np.newaxis] * self.rows_per_bin
        return np.asarray((bins + np.arange(self.rows_per_bin)).ravel())

    @cached_property
    def points(self) -> Points:
        """The rows that were kept, in the arrangement of the bins."""
        if self.products is None:
            return Points(self.kept_points()[self._order])
        none = np.empty((self.products.products.shape[0], 0), dtype=np.float32)
        return Points(none, self.products.products).arranged(self._order)

    @cached_property
    def _present(self) -> Singles | None:
        """1 for rows that have any value, 0 for others, in the arrangement of the bins."""
        source = self.pool.sums.points_present if self.products is None else self.products.present
        return None if source is None else source[self._order]

    def _once(self, name: str, make: Callable[[], T]) -> T:
        """Return what no labels have a part in: further permutations find it made, if small."""
        if self.pool.labels.n_bins > MOST_BINS_HELD:
            return make()
        return self.pool.made.get((name, self.products is None), make)

    def _quadratic(self, name: str, make: Callable[[], FloatArray]) -> FloatArray:
        """Return wᵀMw of every permutation, of the sums of a matrix over pairs of bins."""
        rows: float | FloatArray = float(self.rows_per_bin)
        if self._present is not None:
            rows = self._present.reshape(-1, self.rows_per_bin).sum(axis=1, dtype=np.float64)
        matrix = self._once(name, make)
        return self.pool.labels.quadratic(matrix, rows=rows, n_jobs=self.pool.n_jobs)

    def _pair_sums(self, pairwise: Callable[[slice], FloatArray | Singles]) -> FloatArray:
        """Return the sums over pairs of bins of what some rows have with all rows."""
        per_bin, n_rows = self.rows_per_bin, self._order.size
        bins = n_rows // per_bin
        sums = np.empty((bins, bins))
        step = max(current_budget().block_entries // max(n_rows, 1) // per_bin, 1)
        for start in range(0, bins, step):
            check_interrupts()
            stop = min(start + step, bins)
            rows = slice(start * per_bin, stop * per_bin)
            sums[start:stop] = self._sums(pairwise(rows), rows.start)
        return sums

    def _sums(self, matrix: FloatArray | Singles, first: int = 0) -> FloatArray:
        """Return the sums over pairs of bins, of rows of the matrix from point `first` on."""
        per_bin, present = self.rows_per_bin, self._present
        if present is not None:
            matrix = matrix * present[first : first + matrix.shape[0], np.newaxis] * present
        if per_bin == 1:
            return np.asarray(matrix, dtype=np.float64)
        rows, columns = matrix.shape
        blocks = matrix.reshape(rows // per_bin, per_bin, columns // per_bin, per_bin)
        return np.asarray(blocks.sum(axis=(1, 3), dtype=np.float64))


class SharedRowForms(RowForms):
    """The forms of rows that comparisons share: matrices are summed over the orders once."""

    def kept_points(self) -> Singles:
        """Return V of all rows."""
        pool = self.pool
        return np.ascontiguousarray(pool.pooled_scores.clipped / crowd(pool.tables.column))

    @property
    def rows_per_bin(self) -> int:
        """Rows are permuted one by one."""
        return 1

    @cached_property
    def _order(self) -> IntArray:
        """All rows, as they are."""
        return np.arange(self.pool.labels.n_rows)

    def kept_rows(self, kept: TwoSampleSums, per_bin: int) -> Singles:  # noqa: ARG002
        """Return the rows that a feature kept."""
        assert isinstance(kept, PooledSums)
        return kept.features.values

    def kept_scores(self) -> Singles:
        """Return V of all rows."""
        return self.pool.pooled_scores.clipped

    @cached_property
    def points(self) -> Points:
        """All rows."""
        return self.pool.made.get("points", lambda: Points(self.kept_points()))

    @cached_property
    def _present(self) -> Singles | None:
        return None

    def _quadratic(self, name: str, make: Callable[[], FloatArray]) -> FloatArray:
        labels = self.pool.labels
        assert isinstance(labels, SharedOrders)
        form = self.pool.made.get(name, lambda: labels.orders.form(make()))
        return labels.quadratic(form)


class UnitForms(RowForms):
    """The forms of the units of a design, some rows of each where they are many."""

    @property
    def labels(self) -> DesignUnits:
        """The units, and their labels."""
        assert isinstance(self.pool.labels, DesignUnits)
        return self.pool.labels

    def energy(self) -> FloatArray:
        """Return the energy distance within blocks of each permutation.

        It is that of units whose labels move: of the many rows of the others a few would stand for
        all of them.
        """
        return -self._quadratic("distances", lambda: self._pair_sums(self.points.distances()))

    def decorrelated(self) -> FloatArray:
        """Return δᵀ(Σ + ridge·I)⁻¹δ, Σ the correlation of δ(V) over the permutations."""
        ridge = ridge_for(self.n_columns, self.labels.n_bins)
        if self.products is None and self.pool.tables.size <= self.labels.n_bins:
            turn = self._once("turn", lambda: self._turn(ridge))
            changes = self.pool.differences("clipped").astype(np.float64) @ turn
            return np.asarray(np.square(changes).sum(axis=1))
        matrix = self._once("ridge", lambda: self._ridge_matrix(ridge))
        return self.labels.quadratic(matrix, adjusted=True, n_jobs=self.pool.n_jobs)

    def _turn(self, ridge: float) -> FloatArray:
        """Return (Σ + ridge·I)^(−½), up to a rotation."""
        spread = self._spread(self._features())
        values, vectors = np.linalg.eigh(spread.T @ spread)
        return np.asarray(vectors / np.sqrt(np.maximum(values, 0.0) + ridge))

    def _ridge_matrix(self, ridge: float) -> FloatArray:
        """Return the matrix of the units that gives δᵀ(Σ + ridge·I)⁻¹δ."""
        units = None if self.products is None else self.products.units
        units = units or self.unit_products()
        inner = units.spread.copy()
        inner[np.diag_indices_from(inner)] += ridge
        across = units.across
        return np.asarray((units.features - across.T @ np.linalg.solve(inner, across)) / ridge)

    def _together_in_blocks(self, products: RowProducts) -> FloatArray:
        assert products.units is not None
        totals = products.units.totals
        matrix = np.outer(totals, totals)
        return self.labels.quadratic(matrix, adjusted=True, n_jobs=self.pool.n_jobs)

    def unit_products(self) -> UnitProducts:
        """Return the products of the columns of the pool."""
        features, units = self._features(), self.labels.units
        spread = self._spread(features)
        # What all rows have in common has no part in δ.
        features -= units.counts[:, np.newaxis] * (features.sum(axis=0) / self.labels.n_rows)
        return UnitProducts(
            features @ features.T,
            spread @ features.T,
            spread @ spread.T,
            features[:, self.pool.tables.numeric].sum(axis=1),
        )

    @cached_property
    def _order(self) -> IntArray:
        """The places of the rows that were kept: of units that differ in size, as many as are."""
        there = np.arange(self.rows_per_bin) < self.labels.units.rows[:, np.newaxis]
        return np.flatnonzero(there.ravel())

    @cached_property
    def _weights_within(self) -> FloatArray | None:
        """What the rows that were kept count for, their mean in each unit 1; None: all count 1."""
        labels, per_unit = self.labels, self.rows_per_bin
        if labels.units.within is None:
            return None
        every = np.zeros(labels.units.size * per_unit)
        for unit, place, own in zip(
            labels.units.of_rows, labels.places, labels.units.within, strict=True
        ):
            kept = place < per_unit
            every[unit[kept] * per_unit + place[kept]] = own[kept]
        of_units = every.reshape(-1, per_unit)
        used = np.minimum(labels.units.rows, per_unit)
        of_units *= (used / of_units.sum(axis=1))[:, np.newaxis]
        return of_units.ravel()[self._order]

    def kept_points(self) -> Singles:
        """Return V of the rows that were kept."""
        return np.ascontiguousarray(self.kept_scores() / crowd(self.pool.tables.column))

    @cached_property
    def points(self) -> Points:
        """The rows that were kept, unit by unit as these are numbered."""
        if self.products is None:
            return Points(self.kept_points())
        none = np.empty((self.products.products.shape[0], 0), dtype=np.float32)
        return Points(none, self.products.products)

    def _features(self) -> FloatArray:
        """Return sums of V over the units, in units of the deviation of their changes."""
        sums = self.pool.sums.of("clipped")
        scale = self.labels.null_scale(sums)
        assert scale is not None
        return np.asarray(sums.stacked() * scale)

    def _spread(self, features: FloatArray) -> FloatArray:
        units = self.labels.units
        return units.spread_out(features) / units.unit

    def _quadratic(self, name: str, make: Callable[[], FloatArray]) -> FloatArray:
        return self.labels.quadratic(self._once(name, make), n_jobs=self.pool.n_jobs)

    def _pair_sums(self, pairwise: Callable[[slice], FloatArray | Singles]) -> FloatArray:
        """Return the sums over the rows of two units, for all units."""
        units, per_unit = self.labels.units.only_moved(), self.rows_per_bin
        rows = units.rows
        used = np.minimum(rows, per_unit)
        starts = np.cumsum(used) - used
        within = self._weights_within
        sums = np.empty((rows.size, rows.size))
        step = max(current_budget().block_entries // max(int(used.sum()), 1) // per_unit, 1)
        for first in range(0, rows.size, step):
            check_interrupts()
            last = min(first + step, rows.size)
            some = slice(int(starts[first]), int(starts[last - 1] + used[last - 1]))
            if starts.size == used.sum():
                sums[first:last] = pairwise(some)
                continue
            pairs = pairwise(some).astype(np.float64)
            if within is not None:
                pairs *= within
                pairs *= within[some, np.newaxis]
            by_column = np.add.reduceat(pairs, starts, axis=1)
            sums[first:last] = np.add.reduceat(by_column, starts[first:last] - some.start, axis=0)
        # Of a unit with more rows, those kept stand for all.
        weight = units.counts / used
        sums *= weight
        sums *= weight[:, np.newaxis]
        return sums


@singledispatch
def row_forms(labels: Labels, pool: Pool, products: RowProducts | None = None) -> RowForms:  # noqa: ARG001
    """Return the forms of the rows of a pool, as its labels permute them."""
    return RowForms(pool, products)


@row_forms.register
def _(labels: DesignUnits, pool: Pool, products: RowProducts | None = None) -> RowForms:  # noqa: ARG001
    return UnitForms(pool, products)


@row_forms.register
def _(labels: SharedOrders, pool: Pool, products: RowProducts | None = None) -> RowForms:  # noqa: ARG001
    return SharedRowForms(pool, products)


def _turn(pooled_scores: Scores, ridge: float) -> Singles:
    """Return (Σ + ridge·I)^(−½), up to a rotation, of the pooled correlation Σ of V."""
    values = pooled_scores.clipped
    gram = (values.T @ values).astype(np.float64) / _rows_behind(pooled_scores)
    spectrum, vectors = np.linalg.eigh(gram)
    turn = vectors / np.sqrt(np.maximum(spectrum, 0.0) + ridge)
    return np.asarray(turn, dtype=np.float32)


def _rows_behind(pooled_scores: Scores) -> FloatArray | float:
    """Return how many rows have both of two columns, for every pair of them."""
    if pooled_scores.present is None:
        return float(pooled_scores.clipped.shape[0])
    present = pooled_scores.present
    return np.maximum((present.T @ present).astype(np.float64), 1.0)
