"""Splits of the training half: weights come from one part, scores from the other."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.samples import Samples, map_columns
from tellapart.kernels import FittedKernel, Kernel
from tellapart.permutation.draws import bin_rows, binned_sizes, draw_permutations
from tellapart.permutation.forms import ColumnSums, RowGroups, mmd2_of_columns
from tellapart.permutation.mmd import TIE_TOLERANCE, permutation_test
from tellapart.permutation.pvalues import null_of
from tellapart.search.solver import QuickSearch, quick_scores
from tellapart.search.starts import Scores, linear_problem
from tellapart.selection.choose import best_linear_weights
from tellapart.statistics.coefficients import LinearCoefficients, linear_coefficients
from tellapart.statistics.mmd import effective_size
from tellapart.statistics.objective import FittedObjective
from tellapart.strs import solve
from tellapart.strs.solvers.thresholding import Thresholding
from tellapart.threads import one_blas_thread

FEWEST_ROWS = 8
N_PERMUTATIONS = 199
VARIANCE_FLOOR = 1e-8
# Rows of a sample in either part of a split, for kernels whose sums are over pairs of rows.
MOST_ROWS = 500


class Split(ABC):
    """A split of the training half: weights come from its first part, scores from its second."""

    @property
    @abstractmethod
    def keep(self) -> IntArray:
        """The columns that vary."""

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """Number of all columns."""

    def weights(self, n_variables: int, regularization: float) -> FloatArray:
        """Return good weights of all columns, by a heuristic on the first part."""
        z = np.zeros(self.n_columns)
        z[self.keep] = self._kept_weights(min(n_variables, self.keep.size), regularization)
        return z

    @abstractmethod
    def _kept_weights(self, n_variables: int, regularization: float) -> FloatArray:
        """Return the weights of the columns that vary."""

    @abstractmethod
    def ratios(self, candidates: Sequence[FloatArray]) -> list[float]:
        """Return √ñ·MMD²/σ̂ of each candidate on the second part."""

    @abstractmethod
    def pvalue(self, z: FloatArray, seed: int) -> float:
        """Return the p-value of z on the second part; one seed, one set of permutations."""


@dataclass(frozen=True)
class Fold(Split):
    """A split of the rows, with the kernel frozen on its first part."""

    train: Samples
    held_out: Samples
    kernel: FittedKernel
    n_jobs: int
    nonnegative: bool = False

    @cached_property
    def keep(self) -> IntArray:
        """The columns that vary in the first part."""
        return np.flatnonzero(~self.kernel.constant)

    @property
    def n_columns(self) -> int:
        """Number of all columns."""
        return self.train.n_columns

    @abstractmethod
    def _moments(
        self, samples: Samples, kernel: FittedKernel
    ) -> LinearCoefficients | ObjectiveMoments:
        """Return MMD² and σ² of those samples as functions of the weights."""

    def ratios(self, candidates: Sequence[FloatArray]) -> list[float]:
        """Return √ñ·MMD²/σ̂ of each candidate on the second part."""
        used = np.flatnonzero(np.any(candidates, axis=0))
        moments = self._moments(self.held_out.columns(used), self.kernel.columns(used))
        scale = math.sqrt(effective_size(self.held_out.n_x, self.held_out.n_y))
        return [scale * ratio(moments, z[used]) for z in candidates]

    def pvalue(self, z: FloatArray, seed: int) -> float:
        """Return the p-value of z on the second part; one seed, one set of permutations."""
        used = np.flatnonzero(z)
        return permutation_test(
            self.held_out.columns(used),
            self.kernel.columns(used),
            z[used],
            n_permutations=N_PERMUTATIONS,
            alpha=0.5,
            rng=np.random.default_rng(seed),
        ).pvalue


def linear_weights(
    coefficients: LinearCoefficients,
    n_variables: int,
    regularization: float,
    nonnegative: bool,
    solver: Thresholding,
) -> FloatArray:
    """Return good weights for the linear kernel; at λ = 0 the best, in closed form."""
    if regularization == 0:
        return best_linear_weights(coefficients.a, n_variables, nonnegative)
    problem = linear_problem(coefficients, regularization, n_variables, nonnegative=nonnegative)
    return solve(problem, solver=solver).z


@dataclass(frozen=True)
class LinearFold(Fold):
    """A split for the linear kernel: everything follows from its coefficients."""

    @cached_property
    def coefficients(self) -> LinearCoefficients:
        """The coefficients of the columns that vary."""
        return self._moments(self.train.columns(self.keep), self.kernel.columns(self.keep))

    def _kept_weights(self, n_variables: int, regularization: float) -> FloatArray:
        settings = n_variables, regularization, self.nonnegative
        return linear_weights(self.coefficients, *settings, Thresholding())

    def _moments(self, samples: Samples, kernel: FittedKernel) -> LinearCoefficients:
        return linear_coefficients(samples, kernel, n_jobs=self.n_jobs)


@dataclass(frozen=True)
class SearchFold(Fold):
    """A split for the other kernels: the sums over pairs are taken once for all λ.

    `scored` is shared by the folds of one split whose kernels differ in their bandwidth.
    """

    scored: dict[bytes, Scores] = field(default_factory=dict)

    @cached_property
    def search(self) -> QuickSearch:
        """The search among the columns that vary."""
        kernel, samples = self.kernel.columns(self.keep), self.train.columns(self.keep)
        return QuickSearch.of(samples, kernel, self._scores(samples), nonnegative=self.nonnegative)

    def _scores(self, samples: Samples) -> Scores:
        """Return what the columns say by themselves and in groups, whatever the bandwidth."""
        key = self.keep.tobytes()
        if key not in self.scored:
            # Where only z² counts, signs do not matter.
            signed = self.kernel.weight.power == 1
            self.scored[key] = quick_scores(
                samples, self.n_jobs, nonnegative=self.nonnegative and signed
            )
        return self.scored[key]

    def _kept_weights(self, n_variables: int, regularization: float) -> FloatArray:
        return self.search.weights(n_variables, regularization)

    def _moments(self, samples: Samples, kernel: FittedKernel) -> ObjectiveMoments:
        return ObjectiveMoments(FittedObjective(samples, kernel, 0.0))


@dataclass(frozen=True)
class ObjectiveMoments:
    """MMD² and σ² by F at λ = 0 and at λ = 1."""

    free: FittedObjective

    @cached_property
    def regularized(self) -> FittedObjective:
        """F at λ = 1."""
        return self.free.at(1.0)

    def statistic(self, z: FloatArray) -> float:
        """Return MMD²(z)."""
        return self.free.value(z)

    def variance_at(self, z: FloatArray) -> float:
        """Return σ²(z)."""
        return self.free.value(z) - self.regularized.value(z)


def make_folds(
    kernel: Kernel,
    splits: Sequence[tuple[Samples, Samples]],
    n_jobs: int,
    nonnegative: bool = False,
) -> list[Fold]:
    """Fit the kernel on the first part of every split; splits without a varying column are left."""
    folds: list[Fold] = []
    for train, held_out in splits:
        fitted = kernel.fit(train, n_jobs=n_jobs)
        make = LinearFold if fitted.abilities.fast_sums else SearchFold
        folds.append(make(train, held_out, fitted, n_jobs, nonnegative))
    return [fold for fold in folds if fold.keep.size > 0]


def rescaled(fold: Fold, kernel: Kernel) -> Fold:
    """Return the same split with the kernel of another bandwidth; what both need is shared."""
    return replace(fold, kernel=kernel.fit(fold.train, n_jobs=fold.n_jobs))


def split_in_halves(
    samples: Samples, count: int, rng: np.random.Generator, most_rows: int | None = None
) -> list[tuple[Samples, Samples]]:
    """Split the training half in two, several times; no splits where there are too few rows."""
    if min(samples.n_units) < FEWEST_ROWS:
        return []
    splits = [samples.split(0.5, rng) for _ in range(count)]
    if most_rows is None:
        return splits
    # The rows of a part stand in their old order, which may mean something: draw again.
    return [
        (train.draw(most_rows, rng), held_out.draw(most_rows, rng)) for train, held_out in splits
    ]


def ratio(moments: LinearCoefficients | ObjectiveMoments, z: FloatArray) -> float:
    """Return MMD²/σ̂; a small floor under σ̂² keeps perfect separation finite (k ≤ 1)."""
    variance = max(moments.variance_at(z), 0.0)
    return moments.statistic(z) / math.sqrt(variance + VARIANCE_FLOOR)


# One start of each kind and few steps: the best λ is known no better than by a factor of two.
_QUICK = Thresholding(lengths=(1.0,), iterations=10)
# Values of all columns up to which their sums are kept: those take as many bytes again.
MOST_KEPT = 4_000_000


@dataclass(frozen=True)
class BinnedRows:
    """The training half in bins, and the kernel sums of its columns between them.

    Rows stand in bins, as for the test, and a split sends half of the bins of each sample to its
    first part and the others to the second. MMD² of a column in either part, and under permutations
    of the bins of the second part, follows from the column's kernel sums between bins, which are
    taken once for all splits. V, which so many rows give well, is that of the whole training half,
    and so are the bandwidths: neither says which variables a part would choose.

    Attributes
    ----------
    samples : Samples
        The training half.
    kernel : FittedKernel
        The kernel, frozen on it.
    order : array
        Pooled row numbers, bin after bin, those of x first.
    sizes : tuple of int
        Bins of x and of y, and rows in each.
    coefficients : LinearCoefficients
        a and V of the columns that vary.
    """

    samples: Samples
    kernel: FittedKernel
    order: IntArray
    sizes: tuple[int, int, int]
    coefficients: LinearCoefficients
    n_jobs: int
    _held: dict[int, ColumnSums] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        samples: Samples,
        kernel: FittedKernel,
        coefficients: LinearCoefficients,
        rng: np.random.Generator,
        n_jobs: int,
    ) -> BinnedRows:
        """Put the rows into bins; those left over have no part in tuning."""
        sizes = binned_sizes(samples.n_x, samples.n_y)
        order = bin_rows(samples.n_x, samples.n_y, rng)[: (sizes[0] + sizes[1]) * sizes[2]]
        return cls(samples, kernel, order, sizes, coefficients, n_jobs)

    @property
    def starts(self) -> IntArray:
        """Where each bin begins, and where the last ends."""
        return np.arange(self.sizes[0] + self.sizes[1] + 1) * self.sizes[2]

    def sums(self, column: int) -> ColumnSums:
        """Return the kernel sums of one column, and keep them: few columns are needed."""
        if column not in self._held:
            index = np.array([column])
            pooled = np.concatenate([self.samples.x[:, index], self.samples.y[:, index]])[:, 0]
            scalar = self.kernel.scalar_kernels[column]
            self._held[column] = ColumnSums(scalar, pooled[self.order], self.starts)
        return self._held[column]

    def mmd2_of_parts(self, parts: Sequence[tuple[IntArray, IntArray]]) -> FloatArray:
        """Return MMD²_u of each varying column between bins of x and bins of y, part by part.

        The answer has one row for each part, that is for each pair of sets of bins.
        """
        n_bins = self.sizes[0] + self.sizes[1]
        labels = np.zeros((2 * len(parts), n_bins))
        for i, part in enumerate(parts):
            for side in range(2):
                labels[2 * i + side, part[side]] = 1.0
        rows = labels.sum(axis=1) * self.sizes[2]
        m, n = rows[::2], rows[1::2]
        scalars, starts, order = self.kernel.scalar_kernels, self.starts, self.order
        # Few columns are needed again: of wide samples they are summed again.
        keeps = self.order.size * self.samples.n_columns <= MOST_KEPT

        def of_column(s: int, x: FloatArray, y: FloatArray) -> FloatArray:
            sums = ColumnSums(scalars[s], np.concatenate([x, y])[order], starts)
            if keeps:
                self._held[s] = sums
            products = sums.products(labels)
            diagonal = np.diag(products)
            xx, yy, xy = diagonal[::2], diagonal[1::2], np.diag(products, 1)[::2]
            return np.asarray(
                (xx - m) / (m * (m - 1)) + (yy - n) / (n * (n - 1)) - 2 * xy / (m * n)
            )

        keep = np.flatnonzero(~self.kernel.constant)
        return np.array(map_columns(of_column, self.samples, keep, self.n_jobs)).T


@dataclass(frozen=True)
class BinnedFold(Split):
    """One split: weights come from the bins of one part, scores from those of the other.

    Attributes
    ----------
    rows : BinnedRows
        What all splits share.
    chosen_by : LinearCoefficients
        a of the first part, with the V of both.
    scored_by : LinearCoefficients
        a of the second part.
    second : pair of arrays
        The bins of x and of y of the second part.
    nonnegative : bool
        Whether weights must be at least 0.
    """

    rows: BinnedRows
    chosen_by: LinearCoefficients
    scored_by: LinearCoefficients
    second: tuple[IntArray, IntArray]
    nonnegative: bool
    _permuted: dict[tuple[int, int], FloatArray] = field(default_factory=dict)
    _bins: dict[int, RowGroups] = field(default_factory=dict)

    @property
    def keep(self) -> IntArray:
        """The columns that vary."""
        return np.flatnonzero(~self.rows.kernel.constant)

    @property
    def n_columns(self) -> int:
        """Number of all columns."""
        return self.rows.samples.n_columns

    def _kept_weights(self, n_variables: int, regularization: float) -> FloatArray:
        settings = n_variables, regularization, self.nonnegative
        with one_blas_thread():
            return linear_weights(self.chosen_by, *settings, _QUICK)

    def ratios(self, candidates: Sequence[FloatArray]) -> list[float]:
        """Return √ñ·MMD²/σ̂ of each candidate on the second part."""
        scale = math.sqrt(effective_size(self.scored_by.n_x, self.scored_by.n_y))
        return [scale * ratio(self.scored_by, z[self.keep]) for z in candidates]

    def pvalue(self, z: FloatArray, seed: int) -> float:
        """Return the p-value of z on the second part; one seed, one set of permutations."""
        used = np.flatnonzero(z)
        keys = [(int(s), seed) for s in used]
        with one_blas_thread():
            self._permute([s for s, _ in keys if (s, seed) not in self._permuted], seed)
        table = np.array([self._permuted[key] for key in keys])
        tolerance = TIE_TOLERANCE * float(np.abs(z).sum())
        return null_of(z[used] @ table, tolerance, 0.5, exact=self._drawn(seed).exact).pvalue

    def _permute(self, columns: Sequence[int], seed: int) -> None:
        """Keep MMD²_u of columns under every permutation of the bins of the second part."""
        bins, groups = self._drawn(seed), np.concatenate(self.second)
        short: dict[int, FloatArray] = {}
        for column in columns:
            sums = self.rows.sums(column)
            if sums.features is None:
                self._permuted[column, seed] = sums.mmd2(bins, groups)
            else:
                short[column] = sums.features[groups]
        if short:
            statistics = mmd2_of_columns(list(short.values()), bins)
            self._permuted.update(
                {(s, seed): of_column for s, of_column in zip(short, statistics, strict=True)}
            )

    def _drawn(self, seed: int) -> RowGroups:
        if seed not in self._bins:
            of_x, of_y = (bins.size for bins in self.second)
            size = self.rows.sizes[2]
            rng = np.random.default_rng(seed)
            self._bins[seed] = RowGroups(
                order=np.arange((of_x + of_y) * size),
                starts=np.arange(of_x + of_y + 1) * size,
                permutations=draw_permutations(of_x, of_y, N_PERMUTATIONS, rng),
                n_bins=of_x + of_y,
                rows_per_bin=size,
                kept=np.zeros(0),
                n_x=of_x * size,
                n_y=of_y * size,
            )
        return self._bins[seed]


def split_bins(
    rows: BinnedRows, count: int, rng: np.random.Generator, nonnegative: bool
) -> list[BinnedFold]:
    """Split the bins of each sample in two, several times."""
    bins_x, bins_y, size = rows.sizes
    parts: list[tuple[IntArray, IntArray]] = []
    for _ in range(count):
        x, y = rng.permutation(bins_x), bins_x + rng.permutation(bins_y)
        parts += [
            (np.sort(x[: bins_x // 2]), np.sort(y[: bins_y // 2])),
            (np.sort(x[bins_x // 2 :]), np.sort(y[bins_y // 2 :])),
        ]
    V, B = rows.coefficients.V, rows.coefficients.B
    moments = [
        LinearCoefficients(a, V, B, x.size * size, y.size * size)
        for a, (x, y) in zip(rows.mmd2_of_parts(parts), parts, strict=True)
    ]
    return [
        BinnedFold(rows, first, second, part, nonnegative)
        for first, second, part in zip(moments[::2], moments[1::2], parts[1::2], strict=True)
    ]
