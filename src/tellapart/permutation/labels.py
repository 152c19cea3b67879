"""Labels: which rows count as x, in truth and under every permutation, and what follows for sums.

Three kinds of labels answer the same questions (`Labels`), so that statistics ask the labels and
never which kind they are:

- `Bins`: any rows may trade labels, one by one or in bins of them;
- `tellapart.permutation.design_units.DesignUnits`: the units of a design, within its blocks;
- `tellapart.permutation.shared_orders.SharedOrders`: random orders of the rows that several
  comparisons share.

A row's bin follows from its number alone: its place in a random order of its sample is computed
from the seed, the sample and the row's number, so that the holder of a row knows its bin.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.compiling import compiled
from tellapart.data.row_draws import shuffled
from tellapart.permutation.draws import LARGER_SHARE, Permutations, draw_permutations, rows_per_bin
from tellapart.permutation.label_sums import LabelCodes, MinorityBins
from tellapart.threads import in_slices

PERMUTATIONS_AT_A_TIME = 128
"""What one thread takes at a time."""


class UnitSums(Protocol):
    """Sums of features over bins, of X first, given some features at a time."""

    @property
    def size(self) -> int:
        """Number of features, F."""

    def stacked(self, features: slice) -> FloatArray:
        """Return the sums of some features over the bins of X and then of Y (G × k)."""


@dataclass(frozen=True, eq=False)
class TwoSampleSums:
    """Sums of features over the bins of X and over those of Y, (bins + 1) × F each.

    The last row of each is the sum over the rows that keep their labels. Where values may be
    missing, `present` counts the rows behind each sum.
    """

    x: Singles
    y: Singles
    present: TwoSampleSums | None = None

    @property
    def size(self) -> int:
        """Number of features, F."""
        return int(self.x.shape[1])

    def total(self) -> FloatArray:
        """Return the sums over all rows."""
        of_x, of_y = self.sides()
        return of_x + of_y

    def sides(self) -> tuple[FloatArray, FloatArray]:
        """Return the sums over all rows of X, and over all rows of Y."""
        of_x, of_y = np.zeros((2, self.size))
        _add_columns(np.ascontiguousarray(self.x), of_x)
        _add_columns(np.ascontiguousarray(self.y), of_y)
        return of_x, of_y

    def rows_behind(self, n_x: float, n_y: float) -> tuple[FloatArray, FloatArray]:
        """Return how many rows of X and of Y have the values: all, where none is missing."""
        if self.present is None:
            return np.asarray(float(n_x)), np.asarray(float(n_y))
        return self.present.sides()

    def stacked(self, features: slice = slice(None)) -> FloatArray:
        """Return the sums over the bins of X and then of Y (G × F)."""
        return np.concatenate([self.x[:-1, features], self.y[:-1, features]]).astype(np.float64)

    def permuted(self, n_moved_of: tuple[int, int]) -> tuple[Singles, ...]:
        """Return the sums over the bins that are permuted, so many of X and of Y."""
        of_x, of_y = n_moved_of
        return self.x[:of_x], self.y[:of_y]

    def some(self, features: IntArray) -> TwoSampleSums:
        """Return the sums of some of the features."""
        present = None if self.present is None else self.present.some(features)
        return TwoSampleSums(self.x[:, features], self.y[:, features], present)

    def column(self, feature: int) -> tuple[FloatArray, FloatArray]:
        """Return one feature's sums over the bins of X and of Y."""
        return self.x[:, feature].astype(np.float64), self.y[:, feature].astype(np.float64)


@compiled
def _add_columns(values, totals):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add up the columns, row after row in double precision."""
    for i in range(values.shape[0]):
        row = values[i]
        for j in range(row.size):
            totals[j] += row[j]


@dataclass(frozen=True, eq=False)
class Labels(ABC):
    """The rows of two samples in bins, and which bins count as x under every permutation.

    The true labels come first: the observed statistic goes through the same arithmetic as all. What
    is not abstract holds where any rows may trade labels.

    Attributes
    ----------
    n_rows_of, n_bins_of : pairs of int
        Rows and bins of X and of Y; the bins of X come first.
    rows_per_bin : int
        Rows in each bin, b; of units that differ in size, the most that were put together.
    exact : bool
        Whether all permutations of the bins are there.
    """

    n_rows_of: tuple[int, int]
    n_bins_of: tuple[int, int]
    rows_per_bin: int
    exact: bool = field(default=False, kw_only=True)

    by_design: ClassVar[bool] = False
    """Whether a design says which labels may be permuted: deviations are estimated then."""
    shared: ClassVar[bool] = False
    """Whether other comparisons have the same permutations."""

    @property
    @abstractmethod
    def count(self) -> int:
        """Number of permutations, the true labels among them."""

    @abstractmethod
    def sums_over_x(
        self, sums: TwoSampleSums, features: slice = slice(None)
    ) -> Callable[[slice], Singles]:
        """Return what gives the sums of some features over x, under some of the permutations."""

    @abstractmethod
    def quadratic(
        self,
        matrix: FloatArray,
        *,
        rows: float | FloatArray = 1.0,
        adjusted: bool = False,
        n_jobs: int = 1,
    ) -> FloatArray:
        """Return wᵀMw, w = 1/n_x on x and −1/n_y on y, of every permutation.

        M are sums over pairs of bins: of so many `rows` of each, or of sums that were `adjusted`.
        """

    def further(self, count: int, rng: np.random.Generator) -> Labels | None:  # noqa: ARG002
        """Return so many further permutations of the same bins, exchangeable with those here.

        The true labels are not among them; None where there are no others that can be drawn.
        """
        return None

    @property
    def n_x(self) -> int:
        """Rows of X."""
        return self.n_rows_of[0]

    @property
    def n_y(self) -> int:
        """Rows of Y."""
        return self.n_rows_of[1]

    @property
    def n_rows(self) -> int:
        """Rows of both samples, N."""
        return sum(self.n_rows_of)

    @property
    def n_bins(self) -> int:
        """Number of bins, G."""
        return sum(self.n_bins_of)

    @cached_property
    def log_labellings(self) -> float:
        """The logarithm of the number of all labellings, of which the permutations are some."""
        x, y = self.n_moved_of
        return math.lgamma(x + y + 1) - math.lgamma(x + 1) - math.lgamma(y + 1)

    @property
    def n_moved_of(self) -> tuple[int, int]:
        """Bins of X and of Y that are permuted, the first of each."""
        return self.n_bins_of

    @property
    def order(self) -> IntArray:
        """The bins in the order in which labels hold them."""
        return np.arange(self.n_bins)

    @property
    def full(self) -> bool:
        """Whether squares and the like are summed over bins, not made of the scores of rows."""
        return self.rows_per_bin > 1

    @property
    def largest(self) -> int:
        """Rows of the largest bin."""
        return self.rows_per_bin

    @property
    def mean_rows(self) -> float:
        """Rows of a bin that is permuted, on average."""
        return float(self.rows_per_bin)

    @property
    def fewest(self) -> int:
        """Rows of the smaller sample."""
        return min(self.n_rows_of)

    @property
    def counts(self) -> tuple[Singles, Singles]:
        """Rows that count as x and as y, of every permutation."""
        of_x, of_y = (np.full(self.count, n, dtype=np.float32) for n in self.n_rows_of)
        return of_x, of_y

    @property
    def true_counts(self) -> tuple[float, float]:
        """Rows that count as x and as y by the true labels."""
        return float(self.n_x), float(self.n_y)

    def null_scale(
        self,
        sums: UnitSums,  # noqa: ARG002
        pooled: FloatArray | Singles | None = None,
    ) -> FloatArray | Singles | None:
        """Return what changes of features are multiplied by, so that all are of one deviation.

        `pooled` is that for permutations of any rows, 0 for what does not vary; None: 1, as for
        scores of variance 1 in the pooled rows.
        """
        return pooled

    def null_moments(
        self, sums: TwoSampleSums, mean: FloatArray, deviation: FloatArray
    ) -> tuple[FloatArray, FloatArray] | None:
        """Return mean and deviation of δ = mean_x − mean_y over all permutations that there are.

        `mean` and `deviation` are those of the sum over the bins of x. None where no formula is
        known, as where values are missing.
        """
        if sums.present is not None:
            return None
        of_x = mean if self.shared else mean + sums.x[-1]
        each = 1 / self.n_x, 1 / self.n_y
        return of_x * sum(each) - sums.total() * each[1], deviation * sum(each)

    def null_mean_squares(self, sums: UnitSums) -> FloatArray | None:  # noqa: ARG002
        """Return the mean of δ² over permutations, per 1/n_x + 1/n_y; None: the pooled variance."""
        return None

    def zscores(self, sums: TwoSampleSums) -> FloatArray:
        """Return δ/√var(δ) of scores of variance 1: var(δ) = N²/(m n (N − 1)) over permutations."""
        k_x, k_y = sums.rows_behind(self.n_x, self.n_y)
        rows = k_x + k_y
        unit = np.sqrt(k_x * k_y * np.maximum(rows - 1, 0)) / np.maximum(rows, 1)
        of_x, of_y = sums.sides()
        return np.asarray((of_x / np.maximum(k_x, 1) - of_y / np.maximum(k_y, 1)) * unit)

    def product_zscores(
        self,
        zscores: FloatArray,
        sums: UnitSums,  # noqa: ARG002
        kept: IntArray,  # noqa: ARG002
    ) -> FloatArray:
        """Return z-scores of changes of some products, `kept`, in units of their deviation."""
        return zscores


MOST_SUMS = 10_000_000
"""Bins times columns at most, each of which has 45 sums of single scores…"""
FEWEST_BINS_IN_ALL = 500
"""…unless that leaves fewer bins than this."""


@dataclass(frozen=True, eq=False)
class Bins(Labels):
    """Bins of any rows, by a shuffle that a key decides, and their labels under permutations.

    Attributes
    ----------
    seed : int
        Decides the bins.
    labels : array of shape (k, G)
        1 where a bin counts as x, in the arrangement; row 0 holds the true labels. Empty for
        `without_labels`.
    arrangement : array of length G, or None
        The bins in a random order, drawn without regard to labels, in which sums are taken; None:
        as they are numbered. In it the true labels are one draw among all, so that not even the
        rounding of a sum, which depends on where its terms stand, tells them from a permutation.
    """

    seed: int
    labels: Singles
    arrangement: IntArray | None = field(default=None, kw_only=True)

    @classmethod
    def of_single_rows(
        cls, sizes: tuple[int, int], count: int = 0, *, bins: tuple[int, int] | None = None
    ) -> Bins:
        """Return bins without labels, of one row each; with no `bins`, all rows keep labels."""
        none = np.empty((count, 0), dtype=np.float32)
        of_samples = sizes if bins is None else bins
        return cls(sizes, of_samples, 1 if sum(of_samples) else max(sizes), 0, none)

    @property
    def count(self) -> int:
        """Number of permutations, the true labels among them."""
        return int(self.labels.shape[0])

    @cached_property
    def minority(self) -> MinorityBins | None:
        """The bins of the rarer label; None where neither label is rare."""
        return MinorityBins.of(self.labels)

    @cached_property
    def codes(self) -> LabelCodes:
        """The labels of four bins at a time, where neither label is rare."""
        return LabelCodes.of(self.labels)

    def without_labels(self) -> Bins:
        """Return what maps rows to bins, which is all that the holder of rows needs."""
        none = np.empty((0, self.n_bins), dtype=np.float32)
        return replace(self, labels=none, arrangement=None)

    @property
    def order(self) -> IntArray:
        """The bins in the order in which labels hold them."""
        return np.arange(self.n_bins) if self.arrangement is None else self.arrangement

    def further(self, count: int, rng: np.random.Generator) -> Bins | None:
        """Return so many further permutations of the labels of the bins; None where all are here.

        >>> bins = draw_bins(30, 20, 99, np.random.default_rng(0))
        >>> more = bins.further(100, np.random.default_rng(1))
        >>> more.count, set(more.labels.sum(axis=1).tolist())
        (100, {30.0})
        """
        if self.exact:
            return None
        true = np.broadcast_to(self.labels[0].astype(np.uint8), (count, self.n_bins))
        return replace(self, labels=rng.permuted(true, axis=1).astype(np.float32))

    def arranged(self, x: Singles, y: Singles) -> Singles:
        """Return features of the bins of X and of Y, one array, in the order of the labels."""
        if self.arrangement is None:
            return np.concatenate([x, y])
        features = np.empty((self.n_bins, x.shape[1]), dtype=x.dtype)
        of_x, of_y = np.split(self._places, [x.shape[0]])
        features[of_x], features[of_y] = x, y
        return features

    @cached_property
    def _places(self) -> IntArray:
        """The place of every bin in the arrangement."""
        return np.argsort(self.order)

    def of_rows(self, sample: int, first_row: int, count: int) -> tuple[IntArray, IntArray]:
        """Return the bins of some rows, counted within their sample, and their places in them.

        Rows that keep their labels are in the bin after the last.
        """
        n_rows, bins, size = self.n_rows_of[sample], self.n_bins_of[sample], self.rows_per_bin
        if n_rows == bins:
            return np.arange(first_row, first_row + count), np.zeros(count, dtype=np.intp)
        order = shuffled(self.seed, sample, n_rows, first_row, count)
        at = order // size
        return np.minimum(at, bins), order - at * size

    def weights_within(self, sample: int, first_row: int, count: int) -> FloatArray | None:  # noqa: ARG002
        """Return what some rows count for in their bin; None where all count alike."""
        return None

    def adjust(self, x: Singles, y: Singles) -> None:
        """Adjust sums over the bins of X and of Y in place for what their blocks have in common."""

    def sums_over_x(
        self, sums: TwoSampleSums, features: slice = slice(None)
    ) -> Callable[[slice], Singles]:
        """Return what gives the sums of some features over x, under some of the permutations."""
        moved = self.arranged(sums.x[:-1, features], sums.y[:-1, features])
        kept, minority = sums.x[-1, features], self.minority
        if minority is None:
            codes = self.codes
            if not kept.any():
                return lambda rows: codes.sums(moved, rows)
            return lambda rows: np.asarray(codes.sums(moved, rows) + kept)
        if minority.of_x:
            return lambda rows: np.asarray(minority.sums(moved, rows) + kept)
        of_both = moved.sum(axis=0, dtype=np.float64).astype(np.float32)
        return lambda rows: np.asarray(of_both - minority.sums(moved, rows) + kept)

    def quadratic(
        self,
        matrix: FloatArray,
        *,
        rows: float | FloatArray = 1.0,
        adjusted: bool = False,  # noqa: ARG002
        n_jobs: int = 1,
    ) -> FloatArray:
        """Return wᵀMw of every permutation, of sums M over pairs of bins in their arrangement.

        `rows` is how many rows of each bin were summed; with an array, those that have any value,
        which n_x and n_y of w = 1/n_x on x and −1/n_y on y count.
        """
        if isinstance(rows, np.ndarray):
            return self._quadratic_of_present(matrix, rows)
        # Centred, what single precision has to hold is small: constants cancel in the contrast.
        centred = matrix - matrix.mean()
        of_x = self.labels.sum(axis=1, dtype=np.float64)
        of_y = self.labels.shape[1] - of_x
        weights = np.where(self.labels > 0, 1 / np.maximum(of_x, 1)[:, np.newaxis], 0.0)
        weights -= np.where(self.labels > 0, 0.0, 1 / np.maximum(of_y, 1)[:, np.newaxis])
        forms = quadratic_forms(centred.astype(np.float32), weights, n_jobs, singles=True)
        return forms / rows**2

    def _quadratic_of_present(self, matrix: FloatArray, rows: FloatArray) -> FloatArray:
        centred = matrix - matrix.sum() / max(rows.sum(), 1) ** 2 * np.outer(rows, rows)
        of_x = self.labels @ rows
        of_y = rows.sum() - of_x
        x, y = 1 / np.maximum(of_x, 1), 1 / np.maximum(of_y, 1)
        weights = np.where(self.labels > 0, x[:, np.newaxis], -y[:, np.newaxis])
        forms = np.einsum("ij,ij->i", weights @ centred, weights)
        return np.asarray(np.where(np.minimum(of_x, of_y) > 0, forms, 0.0))


def quadratic_forms(
    matrix: FloatArray | Singles, weights: FloatArray, n_jobs: int, *, singles: bool = False
) -> FloatArray:
    """Return wᵀMw for every row of weights, in threads; with products in single precision."""
    forms = np.empty(weights.shape[0])
    left = weights.astype(np.float32) if singles else weights

    def multiply(rows: slice) -> None:
        forms[rows] = np.einsum("ij,ij->i", left[rows] @ matrix, weights[rows])

    in_slices(multiply, weights.shape[0], PERMUTATIONS_AT_A_TIME, n_jobs)
    return forms


def count_bins(n_x: int, n_y: int, n_columns: int = 1) -> tuple[int, int, int]:
    """Return the bins of X and of Y that are permuted, and the rows in each.

    Of a sample that is far larger than the other no more bins take part than help: twenty times as
    many, and in wide tables fewer, so that sums over bins stay within memory.

    >>> count_bins(2_000, 3_000), count_bins(600, 12_000), count_bins(600, 12_000, 20_000)
    ((250, 375, 8), (150, 3000, 4), (150, 350, 4))
    """
    size = rows_per_bin(n_x, n_y)
    bins_x, bins_y = n_x // size, n_y // size
    bins_x, bins_y = min(bins_x, LARGER_SHARE * bins_y), min(bins_y, LARGER_SHARE * bins_x)
    if size > 1:
        most = max(MOST_SUMS // n_columns, FEWEST_BINS_IN_ALL)
        least = most // 2
        bins_x, bins_y = (
            min(bins_x, max(most - bins_y, least)),
            min(bins_y, max(most - bins_x, least)),
        )
    return bins_x, bins_y, size


def draw_bins(
    n_x: int, n_y: int, n_permutations: int, rng: np.random.Generator, n_columns: int = 1
) -> Bins:
    """Decide on bins and draw permutations of their labels; all of them where few."""
    bins_x, bins_y, size = count_bins(n_x, n_y, n_columns)
    seed = 0 if (bins_x, bins_y) == (n_x, n_y) else int(rng.integers(2**63))
    drawn = draw_permutations(bins_x, bins_y, n_permutations, rng)
    arrangement = draw_arrangement(bins_x + bins_y, rng)
    labels = arranged_labels(drawn, arrangement)
    sizes = (n_x, n_y), (bins_x, bins_y), size, seed
    return Bins(*sizes, labels, exact=drawn.exact, arrangement=arrangement)


def draw_arrangement(n_bins: int, rng: np.random.Generator) -> IntArray:
    """Return a random order of the bins, by a child of the generator: its own stream stays."""
    return rng.spawn(1)[0].permutation(n_bins)


def arranged_labels(drawn: Permutations, arrangement: IntArray) -> Singles:
    """Return the 0/1 labels of the bins in an arrangement, one row per permutation."""
    return drawn.labels(arrangement.size)[:, arrangement].astype(np.float32)
