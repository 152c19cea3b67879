"""The pooled rows under every permutation: means and deviations within the two samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeVar

import numpy as np
from scipy.linalg import lapack

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.interrupts import check_interrupts
from tellapart.permutation.designed_bins import DesignedBins
from tellapart.permutation.keyed_bins import KeyedBins
from tellapart.permutation.shared_orders import RowOrders, SharedLabels, WholeMatrix
from tellapart.scan.loops import mean_changes, noise_ratios
from tellapart.scan.requests import Requests
from tellapart.scan.scores import Scores
from tellapart.scan.sums import Halves, Sums, scales
from tellapart.scan.tables import Tables
from tellapart.scan.wide import WideShifts
from tellapart.threads import MadeOnce, in_slices

# Matrices of pooled rows that statistics of whole rows sum over: made without labels.


def distances(points: Singles, lengths: Singles, rows: slice) -> Singles:
    """Return the distances of some of the points from all of them; `lengths` are their squares."""
    return np.asarray(_distances(points[rows] @ points.T, lengths, rows))


def distances_by_products(products: FloatArray, rows: slice) -> FloatArray:
    """Return the same distances from the inner products of all points."""
    return np.asarray(_distances(products[rows], np.diagonal(products), rows))


def _distances(
    products: FloatArray | Singles, lengths: FloatArray | Singles, rows: slice
) -> FloatArray | Singles:
    squares = -2 * products
    squares += lengths[rows, np.newaxis]
    squares += lengths
    return np.sqrt(np.maximum(squares, 0, out=squares))


def ridge_matrix(points: Singles, ridge: float) -> FloatArray:
    """Return M with δᵀ(Σ + ridge·I)⁻¹δ = wᵀMw, Σ = VᵀV/N, δ = Vᵀw: M = K(K/N + ridge·I)⁻¹, K = VVᵀ.

    K(K/N + ridge·I)⁻¹ = N·(I − ridge·(K/N + ridge·I)⁻¹): one factorisation, no spectrum.
    """
    return ridge_by_products((points @ points.T).astype(np.float64), ridge)


def ridge_by_products(products: FloatArray, ridge: float) -> FloatArray:
    """Return the same matrix from K, the inner products of all points."""
    n_rows = products.shape[0]
    matrix = products / n_rows
    matrix[np.diag_indices_from(matrix)] += ridge
    matrix = inverse_definite(matrix)
    matrix *= -ridge * n_rows
    matrix[np.diag_indices_from(matrix)] += n_rows
    return matrix


def inverse_definite(matrix: FloatArray) -> FloatArray:
    """Return the inverse of a symmetric positive definite matrix, by Cholesky's factor.

    >>> inverse_definite(np.array([[2.0, 1.0], [1.0, 2.0]])).round(6).tolist()
    [[0.666667, -0.333333], [-0.333333, 0.666667]]
    """
    factor, _ = lapack.dpotrf(matrix, lower=1, clean=0)
    inverse, _ = lapack.dpotri(factor, lower=1)
    lower = np.tril(inverse)
    return np.asarray(lower + np.tril(inverse, -1).T)


def crowd(parent: IntArray) -> Singles:
    """Return what score columns are divided by: the levels of one column count as one column."""
    _, place, counts = np.unique(parent, return_inverse=True, return_counts=True)
    return np.sqrt(counts[place]).astype(np.float32)


# Statistics of whole rows that several comparisons share: one matrix, summed by shared orders.
#
# The matrices are those of `tellapart.scan.row_statistics`, of all rows; what the orders of the
# rows give for every size of a sample is summed once for all comparisons.


T = TypeVar("T")

BLOCK_ENTRIES = 4_000_000


class RowForms:
    """Quadratic forms of pooled rows, as points in the space of the clipped scores.

    Parameters
    ----------
    values : array of shape (N, P)
        V of all rows.
    parent : array of length P
        The columns that the score columns belong to.
    orders : RowOrders
        The permutations of all comparisons.
    """

    def __init__(self, values: Singles, parent: IntArray, orders: RowOrders) -> None:
        self._points = np.ascontiguousarray(values / crowd(parent))
        self._orders = orders
        self._made = MadeOnce()

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return what `make` makes, made by whoever asks for it first."""
        return self._made.get(name, make)

    def energy(self, labels: SharedLabels) -> FloatArray:
        """Return the energy distance of each permutation."""
        return -self._contrast("energy", self._distances, labels)

    def decorrelated(self, ridge: float, labels: SharedLabels) -> FloatArray:
        """Return δᵀ(Σ + ridge·I)⁻¹δ of each permutation."""
        return self._contrast("ridge", lambda: ridge_matrix(self._points, ridge), labels)

    def _contrast(
        self, name: str, make: Callable[[], FloatArray | Singles], labels: SharedLabels
    ) -> FloatArray:
        def sums() -> tuple[WholeMatrix, FloatArray, FloatArray, FloatArray]:
            matrix = np.asarray(make(), dtype=np.float32)
            # Centred, what single precision has to hold is small: constants cancel.
            matrix -= matrix.mean(dtype=np.float64).astype(np.float32)
            rows, whole = matrix.sum(axis=1, dtype=np.float64), WholeMatrix.of(matrix)
            return whole, rows, self._orders.form_sums(whole), self._orders.vector_sums(rows)

        return labels.contrast(*self.once(name, sums))

    def _distances(self) -> Singles:
        n_rows = self._points.shape[0]
        lengths = np.square(self._points).sum(axis=1)
        found = np.empty((n_rows, n_rows), dtype=np.float32)
        step = max(BLOCK_ENTRIES // n_rows, 1)
        for start in range(0, n_rows, step):
            check_interrupts()
            rows = slice(start, min(start + step, n_rows))
            found[rows] = distances(self._points, lengths, rows)
        return found


# A deviation below this share of the pooled one is rounding: the column does not vary there.
FLAT = 1e-3
# What one thread takes at a time.
PERMUTATIONS_AT_A_TIME = 128


@dataclass(frozen=True)
class Moments:
    """Means and inverse deviations within x and within y, one row per permutation."""

    mean_x: Singles
    mean_y: Singles
    inverse_x: Singles
    inverse_y: Singles


@dataclass(frozen=True)
class Pool:
    """Sums over bins of pooled rows, and the labels that permute the bins.

    Attributes
    ----------
    tables : Tables
        What turned values into scores.
    outline : Scores
        The scores of the rows that the tables and the plan were made from, without labels.
    labels : KeyedBins
        The bins and their labels under every permutation.
    requests : Requests
        What was summed over the bins.
    sums : Sums
        The sums.
    n_jobs : int
        Threads.
    forms : RowForms or None
        Statistics of whole rows, where comparisons share the rows.
    shifts : WideShifts or None
        The location of all columns of a wide table, of which the sums are those of some.
    """

    tables: Tables
    outline: Scores
    labels: KeyedBins
    requests: Requests
    sums: Sums
    n_jobs: int = 1
    forms: RowForms | None = None
    shifts: WideShifts | None = None
    _moments: dict[str, Moments] = field(default_factory=dict)
    _of_x: dict[str, Singles] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock, repr=False)
    _counts: list[tuple[Singles, Singles]] = field(default_factory=list, repr=False)
    _counting: Lock = field(default_factory=Lock, repr=False)

    @property
    def count(self) -> int:
        """Number of permutations, the true labels among them."""
        return self.labels.count

    def means(self, halves: Halves) -> tuple[Singles, Singles]:
        """Return the means over x and over y, one row per permutation."""
        return self._means(halves, halves.of_x(self.labels))

    def _means(self, halves: Halves, of_x: Singles) -> tuple[Singles, Singles]:
        total = halves.total().astype(np.float32)
        if halves.present is not None:
            n_x, n_y = (np.where(k > 0, k, 1) for k in self.counts(halves.present))
            return np.asarray(of_x / n_x), np.asarray((total - of_x) / n_y)
        n_x, n_y = (count[:, np.newaxis] for count in self.labels.counts)
        return of_x / n_x, (total - of_x) / n_y

    def score_means(self, name: str) -> tuple[Singles, Singles]:
        """Return the means of one kind of score, whose sums are computed once."""
        halves = self.sums.of(name)
        # Two families that want the same at once compute it twice, to the same end.
        if name not in self._of_x:
            self._of_x[name] = halves.of_x(self.labels)
        return self._means(halves, self._of_x[name])

    def changes(self, halves: Halves) -> Singles:
        """Return mean_x − mean_y of features, one row per permutation.

        Where values are missing, in the noise that all rows would have: see `precision`.
        """
        if halves.present is not None:
            of_x, of_y = self.means(halves)
            return (of_x - of_y) * self.precision(halves.present)
        changes = halves.of_x(self.labels)
        mean_changes(changes, halves.total().astype(np.float32), *self.labels.counts)
        return changes

    def counts(self, present: Halves) -> tuple[Singles, Singles]:
        """Return how many rows of x and of y are behind each feature, for every permutation."""
        if present is not self.sums.present:
            return self._counted(present)
        with self._counting:
            if not self._counts:
                self._counts.append(self._counted(present))
            return self._counts[0]

    def _counted(self, present: Halves) -> tuple[Singles, Singles]:
        of_x = present.of_x(self.labels)
        return of_x, present.total().astype(np.float32) - of_x

    def precision(self, present: Halves) -> Singles:
        """Return √((1/m + 1/n)/(1/k_x + 1/k_y)) for k_x and k_y rows that are there.

        A difference of means has as much noise, times this, as one of all rows. So where only the
        share of what is missing differs, a difference is no larger at the true labels than under
        permutations, which even the shares out. It is 0 where a sample has nothing, or too few
        values for that to hold (`tellapart.scan.loops.too_few`), at the true labels as under
        every permutation.
        """
        k_x, k_y = self.counts(present)
        return noise_ratio(k_x, k_y, self.labels.n_x, self.labels.n_y)

    def moments(self, name: str) -> Moments:
        """Return the moments of one kind of score, computed once."""
        with self._lock:
            if name not in self._moments:
                means = self.score_means(name)
                self._moments[name] = _moments(means, self.means(self.sums.squares(name)))
            return self._moments[name]

    def moments_of(self, name: str, columns: IntArray) -> Moments:
        """Return the moments of some score columns, where no more of them are needed."""
        means = self.means(self.sums.of(name).some(columns))
        return _moments(means, self.means(self.sums.squares(name).some(columns)))

    @property
    def design(self) -> DesignedBins | None:
        """The units of a design, where labels are permuted by one."""
        return self.labels if isinstance(self.labels, DesignedBins) else None

    def differences(self, name: str) -> Singles:
        """Return δ = mean_x − mean_y of one kind of score, one row per permutation.

        Under a design in units of its deviation there, see `tellapart.scan.sums`.
        """
        of_x, of_y = self.score_means(name)
        if self.design is not None:
            return (of_x - of_y) * scales(self.design, self.sums.of(name))
        if self.sums.present is not None:
            return (of_x - of_y) * self.precision(self.sums.present)
        return of_x - of_y

    def each_slice(self, work: Callable[[slice], None]) -> None:
        """Do the work on slices of the permutations, in threads."""
        in_slices(work, self.count, PERMUTATIONS_AT_A_TIME, self.n_jobs)


def noise_ratio(k_x: Singles, k_y: Singles, n_x: int, n_y: int) -> Singles:
    """Return √((1/m + 1/n)/(1/k_x + 1/k_y)); 0 where `tellapart.scan.loops.too_few`.

    >>> noise_ratio(np.float32([8, 10, 2]), np.float32([10, 10, 10]), 10, 10).round(2).tolist()
    [0.9399999976158142, 1.0, 0.0]
    """
    ratios = np.zeros(k_x.shape, dtype=np.float32)
    whole, share = np.float32(1 / n_x + 1 / n_y), np.float32(n_x / (n_x + n_y))
    noise_ratios(k_x.ravel(), k_y.ravel(), whole, share, ratios.reshape(-1))
    return ratios


def _moments(means: tuple[Singles, Singles], squares: tuple[Singles, Singles]) -> Moments:
    mean_x, mean_y = means
    inverse_x, inverse_y = map(_inverse_deviation, squares, means)
    return Moments(mean_x, mean_y, inverse_x, inverse_y)


def _inverse_deviation(square: Singles, mean: Singles) -> Singles:
    variance = square - np.square(mean)
    flat = variance < FLAT**2
    return np.asarray(
        np.where(flat, np.float32(0), 1 / np.sqrt(np.where(flat, np.float32(1), variance)))
    )


def top_sums(squares: Singles, counts: tuple[int, ...]) -> list[FloatArray]:
    """Return, for each count, the sum of that many largest entries of each row.

    >>> [s.tolist() for s in top_sums(np.array([[4.0, 1.0, 9.0]]), (1, 2))]
    [[9.0], [13.0]]
    """
    most = min(max(counts), squares.shape[1])
    if most == 0:
        return [np.zeros(squares.shape[0]) for _ in counts]
    if most < squares.shape[1]:
        squares = np.partition(squares, squares.shape[1] - most, axis=1)[:, -most:]
    falling = np.sort(squares, axis=1)[:, ::-1]
    sums = np.cumsum(falling, axis=1, dtype=np.float64)
    return [sums[:, min(count, most) - 1] for count in counts]
