"""The objective F(z) = MMD²(z) − λ σ²(z), its gradient and its Hessian."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from tellapart.arguments import check_integer, check_number
from tellapart.arrays import FloatArray, IntArray
from tellapart.data.missing import REFUSED
from tellapart.data.reader import read_samples
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.kernels import FittedKernel, Kernel, resolve_kernel
from tellapart.statistics.coefficients import LinearCoefficients, linear_coefficients
from tellapart.statistics.pair_sums import Derivatives, PairSums, SquaredSums, opens_up
from tellapart.statistics.quadratic_moments import (
    RANK,
    FeatureMoments,
    Moments,
    RowMoments,
    fits,
)

MEMORY_BUDGET = 1_000_000_000
LEAST_MEMORY_BUDGET = 1_000_000


@dataclass(frozen=True)
class LinearSums:
    """F of the linear kernel, by its coefficients; see `FittedObjective` for the methods."""

    coefficients: LinearCoefficients
    regularization: float

    def at(self, regularization: float) -> LinearSums:
        """Return the sums with another λ."""
        return replace(self, regularization=regularization)

    def prepare(self) -> None:
        """Nothing is left to do: the coefficients are there."""

    def value(self, z: FloatArray) -> float:
        """Return F(z)."""
        variance = self.regularization * self.coefficients.variance_at(z)
        return self.coefficients.statistic(z) - variance

    def weight_slopes(self, z: FloatArray) -> FloatArray:
        """Return ∂F/∂ω_s, which is ∇F(z)."""
        slope = self.coefficients.variance_product(z)
        return self.coefficients.a - 2 * self.regularization * slope

    def local(self, z: FloatArray, variables: IntArray) -> Derivatives:
        """Return F(z), and ∇F(z) and ∇²F(z) in `variables`."""
        if self.coefficients.B is not None:
            columns = self.coefficients.B[:, variables]
            variance = columns.T @ columns
        else:
            variance = self.coefficients.variance_matrix()[np.ix_(variables, variables)]
        hessian = -2 * self.regularization * variance
        return Derivatives(self.value(z), self.weight_slopes(z)[variables], hessian)

    in_weights = local

    def quadratic_form(self) -> None:
        """Return None: F itself is a quadratic, and its coefficients are at hand."""


def sums_of(
    samples: Samples, kernel: FittedKernel, regularization: float, memory_budget: int
) -> LinearSums | PairSums:
    """Return F of a kernel by the fastest way that its form and the budget allow."""
    if kernel.abilities.fast_sums:
        return LinearSums(linear_coefficients(samples, kernel), regularization)
    way = PairSums
    if opens_up(samples, kernel):
        way = SquaredSums
    elif fits(samples, kernel, memory_budget):
        way = RowMoments
    return way(samples, kernel, regularization, memory_budget)


class FittedObjective:
    """F of checked samples and a fitted kernel.

    For the linear kernel F(z) = aᵀz − λ zᵀVz, ∇F = a − 2λ V z, ∇²F = −2λ V, with a and V in
    O(n) per column. For any other additive-index kernel K_z = φ(Σ_s ω(z_s) ψ_s) all three are
    sums over pairs of rows, as `tellapart.statistics.pair_sums` says.

    Parameters
    ----------
    samples : Samples
        The two samples.
    kernel : FittedKernel
        The kernel with its bandwidths frozen.
    regularization : float
        λ ≥ 0.
    memory_budget : int
        Bytes that matrices over pairs of rows may take.
    nonnegative : bool
        Whether a search for good weights keeps to z ≥ 0; F itself takes any z.
    whole : Samples or None
        All rows, where `samples` are some of them and the kernel is quadratic: then MMD² is that of
        all rows, by short features, and only σ² is estimated on `samples`; see `FeatureMoments`.

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.data.samples import Samples
    >>> from tellapart.kernels import Quadratic
    >>> samples = Samples(np.eye(3), 1 - np.eye(3), ("u", "v", "w"), ("numeric",) * 3)
    >>> objective = FittedObjective(samples, Quadratic(c=1).fit(samples), 0.1)
    >>> objective.gradient(np.array([1.0, 0.0, 0.0])).shape
    (3,)
    """

    def __init__(
        self,
        samples: Samples,
        kernel: FittedKernel,
        regularization: float,
        memory_budget: int = MEMORY_BUDGET,
        *,
        nonnegative: bool = False,
        whole: Samples | None = None,
    ) -> None:
        self.samples = samples
        self.whole = whole
        self.kernel = kernel
        self.regularization = regularization
        self.memory_budget = memory_budget
        self.nonnegative = nonnegative

    @cached_property
    def _sums(self) -> LinearSums | PairSums:
        # Made when first needed: a search on some of many rows never needs those of all.
        settings = self.samples, self.kernel, self.regularization, self.memory_budget
        return sums_of(*settings) if self.whole is None else FeatureMoments(self.whole, *settings)

    @property
    def n_features(self) -> int | None:
        """Features of a column that stand for its kernel; None where F is of all pairs of rows."""
        return None if self.whole is None else RANK

    def columns(self, index: IntArray) -> FittedObjective:
        """Return the objective of some variables only, the others at 0, kernel as it is.

        A search among few candidates of many columns then costs what the candidates cost.
        """
        return FittedObjective(
            self.samples.columns(index),
            self.kernel.columns(index),
            self.regularization,
            self.memory_budget,
            nonnegative=self.nonnegative,
            whole=None if self.whole is None else self.whole.columns(index),
        )

    def on(self, samples: Samples) -> FittedObjective:
        """Return the objective of other rows of the same columns, kernel as it is."""
        return FittedObjective(
            samples,
            self.kernel,
            self.regularization,
            self.memory_budget,
            nonnegative=self.nonnegative,
        )

    def at(self, regularization: float) -> Self:
        """Return the objective with another λ; the sums over pairs that exist are shared."""
        other = copy(self)
        other.regularization = regularization
        other._sums = self._sums.at(regularization)
        return other

    def prepare(self) -> None:
        """Do now what is done once, so that threads that share the objective need not wait."""
        self._sums.prepare()

    def value(self, z: FloatArray) -> float:
        """Return F(z)."""
        return self._sums.value(z)

    def gradient(self, z: FloatArray) -> FloatArray:
        """Return ∇F(z), of shape (D,)."""
        return self.kernel.weight.slope(z) * self._sums.weight_slopes(z)

    def hessian(self, z: FloatArray, variables: IntArray | None = None) -> FloatArray:
        """Return ∇²F(z) in all variables, or in some: a matrix of shape (|S|, |S|)."""
        return self.local(z, self._all_if_none(variables)).hessian

    def derivatives(self, z: FloatArray) -> Derivatives:
        """Return F(z), ∇F(z) and ∇²F(z): less work than one by one."""
        return self.local(z, self._all_if_none(None))

    def local(self, z: FloatArray, variables: IntArray) -> Derivatives:
        """Return F(z), and ∇F(z) and ∇²F(z) in some variables only: for steps on a support."""
        return self._sums.local(z, variables)

    def in_weights(self, z: FloatArray, variables: IntArray | None = None) -> Derivatives:
        """Return F(z), and its gradient and Hessian with respect to the weights ω_s of some."""
        return self._sums.in_weights(z, self._all_if_none(variables))

    def weight_slopes(self, z: FloatArray) -> FloatArray:
        """Return ∂F/∂ω_s, of shape (D,), ω_s = ω(z_s) the weight of column s in the index.

        What a variable that is not yet used would add. The gradient does not show it where
        ω(z) = z², for then it is 0 at z_s = 0; for ω(z) = z the two are the same.
        """
        return self._sums.weight_slopes(z)

    def quadratic_form(self) -> tuple[FloatArray, FloatArray] | None:
        """Return 𝒜 and 𝒯 with MMD²(z) = zᵀ𝒜z + 𝒯ᵀz for the quadratic kernel, None for others."""
        return self._sums.quadratic_form()

    def row_moments(self) -> Moments | None:
        """Return the sums of products of ψ by row, for the quadratic kernel of all rows."""
        return self._sums.moments if isinstance(self._sums, RowMoments) else None

    @property
    def variance_weight(self) -> float:
        """4λñ, the weight of Σ_i g_i r̃_i² in F; see `tellapart.statistics.pair_sums`."""
        m, n = self.samples.n_x, self.samples.n_y
        return 4 * self.regularization * 2 * m * n / (m + n)

    @property
    def squares_weights(self) -> bool:
        """Whether ω(z) = z²: then the signs of z say nothing."""
        return self.kernel.weight.power == 2

    @property
    def within_orthant(self) -> bool:
        """Whether z ≥ 0 is required and a restriction: where ω(z) = z² it is none."""
        return self.nonnegative and not self.squares_weights

    @property
    def signed(self) -> bool:
        """Whether −z_s is another weight than z_s, and one that a search may take."""
        return not (self.squares_weights or self.nonnegative)

    def lift(self, slopes: FloatArray) -> FloatArray:
        """Return what a first step of each weight gains: ∂F/∂ω_s, or its size if `signed`."""
        return np.abs(slopes) if self.signed else slopes.copy()

    def weights(self, z: FloatArray) -> FloatArray:
        """Return the weights ω(z_s) of the columns in the index, of shape (D,)."""
        return self.kernel.weights(z)

    def _all_if_none(self, variables: IntArray | None) -> IntArray:
        return np.arange(self.samples.n_columns) if variables is None else variables


class Objective(FittedObjective):
    """F(z) = MMD²(z) − λ σ²(z): a large difference, and a reliable one.

    Parameters
    ----------
    X, Y : tables or arrays
        The two samples.
    kernel : str or Kernel
        "linear", or a kernel object such as `tellapart.kernels.Gaussian()`.
    regularization : float
        λ ≥ 0.
    memory_budget : int
        Bytes that matrices over pairs of rows may take, at least 10⁶.

    Attributes
    ----------
    samples : Samples
    kernel : FittedKernel
        The kernel with its bandwidths frozen on these samples.
    regularization : float
    memory_budget : int

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.kernels import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(50, 3)), 1 + rng.normal(size=(60, 3))
    >>> objective = Objective(X, Y, Gaussian())
    >>> objective.value(np.array([0.6, 0.8, 0.0])) > 0
    True
    >>> objective.gradient(np.array([0.6, 0.8, 0.0])).shape
    (3,)
    >>> objective.hessian(np.array([0.6, 0.8, 0.0]), variables=[0, 1]).shape
    (2, 2)
    """

    def __init__(
        self,
        X: Any,
        Y: Any,
        kernel: str | Kernel = "linear",
        regularization: float = 0.1,
        *,
        memory_budget: int = MEMORY_BUDGET,
    ) -> None:
        checked = check_number("regularization", regularization, 0.0)
        budget = check_integer("memory_budget", memory_budget, LEAST_MEMORY_BUDGET)
        settings = resolve_kernel(kernel)
        samples = read_samples(X, Y, missing=REFUSED)
        super().__init__(samples, settings.fit(samples), checked, budget)

    def value(self, z: ArrayLike) -> float:
        """Return F(z)."""
        return super().value(self._checked(z))

    def gradient(self, z: ArrayLike) -> FloatArray:
        """Return ∇F(z), of shape (D,)."""
        return super().gradient(self._checked(z))

    def hessian(self, z: ArrayLike, variables: ArrayLike | None = None) -> FloatArray:
        """Return ∇²F(z) in all variables, or in some: a matrix of shape (|S|, |S|)."""
        chosen = None if variables is None else self._chosen(variables)
        return super().hessian(self._checked(z), chosen)

    def _chosen(self, variables: ArrayLike) -> IntArray:
        n_columns = self.samples.n_columns
        chosen = np.asarray(variables)
        expected = f"variables must be distinct integers in 0..{n_columns - 1}"
        if chosen.ndim != 1 or (chosen.size and not np.issubdtype(chosen.dtype, np.integer)):
            raise InputError(f"{expected}; got {variables!r}")
        index = chosen.astype(np.intp)
        within = ((index >= 0) & (index < n_columns)).all()
        if not within or np.unique(index).shape != index.shape:
            raise InputError(f"{expected}; got {variables!r}")
        return index

    def _checked(self, z: ArrayLike) -> FloatArray:
        expected = f"z must be a vector of {self.samples.n_columns} finite numbers"
        try:
            point = np.asarray(z, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"{expected}; got {type(z).__name__}") from None
        if point.shape != (self.samples.n_columns,):
            raise InputError(f"{expected}; got shape {point.shape}")
        if not np.isfinite(point).all():
            raise InputError(f"{expected}; got NaN or infinite entries")
        return point
