"""Splits of the training half: weights come from one part, scores from the other."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.samples import Samples
from tellapart.kernels import FittedKernel, Kernel
from tellapart.permutation.mmd import permutation_test
from tellapart.search.linear import linear_problem
from tellapart.search.quick import QuickSearch, quick_scores
from tellapart.search.starts import Scores
from tellapart.selection.closed_form import best_linear_weights
from tellapart.statistics.coefficients import LinearCoefficients, linear_coefficients
from tellapart.statistics.objective import FittedObjective
from tellapart.strs import solve
from tellapart.strs.solvers.thresholding import Thresholding

FEWEST_ROWS = 8
N_PERMUTATIONS = 199
VARIANCE_FLOOR = 1e-8
# Rows of a sample in either part of a split, for kernels whose sums are over pairs of rows.
MOST_ROWS = 500


@dataclass(frozen=True)
class Fold(ABC):
    """One split of the training half, with the kernel frozen on its training part."""

    train: Samples
    held_out: Samples
    kernel: FittedKernel
    n_jobs: int
    nonnegative: bool = False

    @cached_property
    def keep(self) -> IntArray:
        """The columns that vary in the training part."""
        return np.flatnonzero(~self.kernel.constant)

    def weights(self, n_variables: int, regularization: float) -> FloatArray:
        """Return good weights of all columns, by a heuristic on the training part."""
        z = np.zeros(self.train.n_columns)
        z[self.keep] = self._kept_weights(min(n_variables, self.keep.size), regularization)
        return z

    @abstractmethod
    def _kept_weights(self, n_variables: int, regularization: float) -> FloatArray:
        """Return the weights of the columns that vary."""

    @abstractmethod
    def _moments(self, samples: Samples, kernel: FittedKernel) -> Moments:
        """Return MMD² and σ² of those samples as functions of the weights."""

    def ratios(self, candidates: Sequence[FloatArray]) -> list[float]:
        """Return √ñ·MMD²/σ̂ of each candidate on the held-out part."""
        used = np.flatnonzero(np.any(candidates, axis=0))
        moments = self._moments(self.held_out.columns(used), self.kernel.columns(used))
        m, n = self.held_out.n_x, self.held_out.n_y
        scale = math.sqrt(2.0 * m * n / (m + n))
        return [scale * ratio(moments, z[used]) for z in candidates]

    def pvalue(self, z: FloatArray, seed: int) -> float:
        """Return the p-value of z on the held-out part; one seed, one set of permutations."""
        used = np.flatnonzero(z)
        return permutation_test(
            self.held_out.columns(used),
            self.kernel.columns(used),
            z[used],
            n_permutations=N_PERMUTATIONS,
            alpha=0.5,
            rng=np.random.default_rng(seed),
        ).pvalue


class Split(Protocol):
    """What tuning asks of a split of the training half."""

    @property
    def keep(self) -> IntArray:
        """The columns that vary."""
        ...

    def weights(self, n_variables: int, regularization: float) -> FloatArray:
        """Return good weights of all columns, by the first part."""
        ...

    def ratios(self, candidates: Sequence[FloatArray]) -> list[float]:
        """Return √ñ·MMD²/σ̂ of each candidate on the second part."""
        ...

    def pvalue(self, z: FloatArray, seed: int) -> float:
        """Return the p-value of z on the second part; one seed, one set of permutations."""
        ...


class Moments(Protocol):
    """MMD² and σ² of one pair of samples."""

    def statistic(self, z: FloatArray) -> float:
        """Return MMD²(z)."""
        ...

    def variance_at(self, z: FloatArray) -> float:
        """Return σ²(z)."""
        ...


@dataclass(frozen=True)
class LinearFold(Fold):
    """A split for the linear kernel: everything follows from its coefficients."""

    @cached_property
    def coefficients(self) -> LinearCoefficients:
        """The coefficients of the columns that vary."""
        return self._moments(self.train.columns(self.keep), self.kernel.columns(self.keep))

    def _kept_weights(self, n_variables: int, regularization: float) -> FloatArray:
        if regularization > 0:
            problem = linear_problem(
                self.coefficients, regularization, n_variables, nonnegative=self.nonnegative
            )
            return solve(problem, solver=Thresholding()).z
        return best_linear_weights(self.coefficients.a, n_variables, self.nonnegative)

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
    halves: Sequence[tuple[Samples, Samples]],
    n_jobs: int,
    nonnegative: bool = False,
) -> list[Fold]:
    """Fit the kernel on the first part of every split; splits without a varying column are left."""
    folds: list[Fold] = []
    for train, rest in halves:
        fitted = kernel.fit(train, n_jobs=n_jobs)
        make = LinearFold if fitted.abilities.fast_sums else SearchFold
        folds.append(make(train, rest, fitted, n_jobs, nonnegative))
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
    halves = [samples.split(0.5, rng) for _ in range(count)]
    if most_rows is None:
        return halves
    # The rows of a part stand in their old order, which may mean something: draw again.
    return [(one.draw(most_rows, rng), other.draw(most_rows, rng)) for one, other in halves]


def ratio(moments: Moments, z: FloatArray) -> float:
    """Return MMD²/σ̂; a small floor under σ̂² keeps perfect separation finite (k ≤ 1)."""
    variance = max(moments.variance_at(z), 0.0)
    return moments.statistic(z) / math.sqrt(variance + VARIANCE_FLOOR)
