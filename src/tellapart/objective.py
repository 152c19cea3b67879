"""The objective F(z) = MMD²(z) − λ σ²(z), its gradient and its Hessian."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tellapart.arguments import check_integer, check_number
from tellapart.errors import InputError
from tellapart.kernels import FittedIndex, FittedKernel, Kernel, resolve_kernel
from tellapart.pair_sums import FirstOrder, PairSums
from tellapart.samples import FloatArray, IntArray, Samples
from tellapart.statistics import LinearCoefficients, linear_coefficients
from tellapart.tables import read_samples

MEMORY_BUDGET = 1_000_000_000
LEAST_MEMORY_BUDGET = 1_000_000


@dataclass(frozen=True)
class Derivatives:
    """F at a point to second order.

    Attributes
    ----------
    value : float
        F(z).
    gradient : array of shape (D,)
        ∇F(z).
    hessian : array of shape (|S|, |S|)
        ∇²F(z) in the variables asked for.
    """

    value: float
    gradient: FloatArray
    hessian: FloatArray


class Objective:
    """F(z) = MMD²(z) − λ σ²(z): a large difference, and a reliable one.

    For the linear kernel F(z) = aᵀz − λ zᵀVz, ∇F = a − 2λ V z, ∇²F = −2λ V, with a and V in
    O(n) per column. For any other additive-index kernel K_z = φ(Σ_s ω(z_s) ψ_s) all three are
    sums over pairs of rows, as `tellapart.pair_sums` says.

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
        strength = check_number("regularization", regularization, 0.0)
        budget = check_integer("memory_budget", memory_budget, LEAST_MEMORY_BUDGET)
        settings = resolve_kernel(kernel)
        samples = read_samples(X, Y)
        self._prepare(samples, settings.fit(samples), strength, budget)

    @classmethod
    def of_fitted(
        cls,
        samples: Samples,
        kernel: FittedKernel,
        regularization: float,
        *,
        memory_budget: int = MEMORY_BUDGET,
    ) -> Objective:
        """Return the objective of samples that are read, and of a kernel that is fitted, already.

        Examples
        --------
        >>> import numpy as np
        >>> from tellapart.kernels import Quadratic
        >>> from tellapart.samples import Samples
        >>> samples = Samples(np.eye(3), 1 - np.eye(3), ("u", "v", "w"), ("numeric",) * 3)
        >>> objective = Objective.of_fitted(samples, Quadratic(c=1).fit(samples), 0.1)
        >>> objective.gradient(np.array([1.0, 0.0, 0.0])).shape
        (3,)
        """
        strength = check_number("regularization", regularization, 0.0)
        budget = check_integer("memory_budget", memory_budget, LEAST_MEMORY_BUDGET)
        objective = cls.__new__(cls)
        objective._prepare(samples, kernel, strength, budget)
        return objective

    def restrict(self, variables: ArrayLike) -> Objective:
        """Return the objective of some variables only, the others at 0, kernel as it is.

        A search among few candidates of many columns then costs what the candidates cost.
        """
        chosen = self._chosen(variables)
        scalars = tuple(self.kernel.scalars[s] for s in chosen)
        kernel = replace(self.kernel, scalars=scalars, constant=self.kernel.constant[chosen])
        return Objective.of_fitted(
            self.samples.columns(chosen),
            kernel,
            self.regularization,
            memory_budget=self.memory_budget,
        )

    def _prepare(
        self, samples: Samples, kernel: FittedKernel, regularization: float, memory_budget: int
    ) -> None:
        self.samples = samples
        self.kernel = kernel
        self.regularization = regularization
        self.memory_budget = memory_budget
        self._sums: _LinearSums | _IndexSums
        if isinstance(kernel, FittedIndex):
            sums = PairSums(samples, kernel, regularization, memory_budget)
            self._sums = _IndexSums(sums, kernel)
        else:
            self._sums = _LinearSums(linear_coefficients(samples, kernel), regularization)

    def value(self, z: ArrayLike) -> float:
        """Return F(z)."""
        return self._sums.value(self._checked(z))

    def gradient(self, z: ArrayLike) -> FloatArray:
        """Return ∇F(z), of shape (D,)."""
        return self._sums.gradient(self._checked(z))

    def hessian(self, z: ArrayLike, variables: ArrayLike | None = None) -> FloatArray:
        """Return ∇²F(z) in all variables, or in some: a matrix of shape (|S|, |S|)."""
        return self._sums.hessian(self._checked(z), self._chosen(variables))

    def derivatives(self, z: ArrayLike, variables: ArrayLike | None = None) -> Derivatives:
        """Return F(z), ∇F(z), and ∇²F(z) in some variables: less work than one by one."""
        return self._sums.derivatives(self._checked(z), self._chosen(variables))

    def weight_slopes(self, z: ArrayLike) -> FloatArray:
        """Return ∂F/∂ω_s, of shape (D,), ω_s = ω(z_s) the weight of column s in the index.

        What a variable that is not yet used would bring. The gradient cannot tell where
        ω(z) = z², for then it is 0 at z_s = 0; for ω(z) = z the two are the same.
        """
        return self._sums.weight_slopes(self._checked(z))

    def _chosen(self, variables: ArrayLike | None) -> IntArray:
        n_columns = self.samples.n_columns
        if variables is None:
            return np.arange(n_columns)
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


@dataclass(frozen=True)
class _LinearSums:
    """F of the linear kernel, by its coefficients."""

    coefficients: LinearCoefficients
    regularization: float

    def value(self, z: FloatArray) -> float:
        penalty = self.regularization * self.coefficients.variance_at(z)
        return self.coefficients.statistic(z) - penalty

    def gradient(self, z: FloatArray) -> FloatArray:
        slope = self.coefficients.variance_product(z)
        return self.coefficients.a - 2 * self.regularization * slope

    weight_slopes = gradient

    def hessian(self, z: FloatArray, variables: IntArray) -> FloatArray:  # noqa: ARG002
        factor = self.coefficients.B
        if factor is not None:
            columns = factor[:, variables]
            return -2 * self.regularization * (columns.T @ columns)
        matrix = self.coefficients.variance_matrix()
        return -2 * self.regularization * matrix[np.ix_(variables, variables)]

    def derivatives(self, z: FloatArray, variables: IntArray) -> Derivatives:
        return Derivatives(self.value(z), self.gradient(z), self.hessian(z, variables))


@dataclass(frozen=True)
class _IndexSums:
    """F of any additive-index kernel: the sums over pairs, and the chain rule through ω."""

    sums: PairSums
    kernel: FittedIndex

    def value(self, z: FloatArray) -> float:
        return self.sums.first_order(z, np.zeros(0, dtype=np.intp)).value

    def gradient(self, z: FloatArray) -> FloatArray:
        return self.kernel.weight.slope(z) * self.weight_slopes(z)

    def weight_slopes(self, z: FloatArray) -> FloatArray:
        return self._spread(self._first(z).slopes)

    def hessian(self, z: FloatArray, variables: IntArray) -> FloatArray:
        asked = np.flatnonzero(np.isin(self.sums.varying, variables))
        return self._hessian(z, variables, asked, self.sums.first_order(z, asked))

    def derivatives(self, z: FloatArray, variables: IntArray) -> Derivatives:
        first = self._first(z)
        gradient = self.kernel.weight.slope(z) * self._spread(first.slopes)
        everything = np.arange(self.sums.varying.shape[0])
        hessian = self._hessian(z, variables, everything, first)
        return Derivatives(first.value, gradient, hessian)

    def _first(self, z: FloatArray) -> FirstOrder:
        return self.sums.first_order(z, np.arange(self.sums.varying.shape[0]))

    def _spread(self, slopes: FloatArray) -> FloatArray:
        # Constant columns change nothing: slope 0.
        spread = np.zeros(self.kernel.constant.shape[0])
        spread[self.sums.varying] = slopes
        return spread

    def _hessian(
        self, z: FloatArray, variables: IntArray, asked: IntArray, first: FirstOrder
    ) -> FloatArray:
        """Apply the chain rule; `asked` are the positions in `varying` that `first` is for."""
        n_columns = z.shape[0]
        slope, curvature = self.kernel.weight.slope(z), self.kernel.weight.curvature(z)
        columns = self.sums.varying[asked]
        bends = np.zeros(n_columns)
        bends[columns] = curvature[columns] * first.slopes
        # Where ω′ = 0 only the diagonal is left: a sparse z costs a small matrix product.
        curved = np.flatnonzero((slope[columns] != 0) & np.isin(columns, variables))
        part = FirstOrder(first.value, first.slopes[curved], first.jacobian[curved], first.pulls)
        second = self.sums.second_order(z, asked[curved], part)
        second *= np.multiply.outer(slope[columns[curved]], slope[columns[curved]])
        # From positions among the columns to positions among the variables.
        position = np.full(n_columns, -1)
        position[variables] = np.arange(variables.shape[0])
        places = position[columns[curved]]
        hessian = np.diag(bends[variables])
        hessian[np.ix_(places, places)] += second
        return hessian
