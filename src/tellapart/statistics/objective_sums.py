"""F and its derivatives by the fastest way that the kernel allows: what `Objective` asks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.samples import Samples
from tellapart.kernels.base import FittedKernel
from tellapart.statistics.coefficients import LinearCoefficients, linear_coefficients
from tellapart.statistics.pair_sums import FirstOrder, PairSums
from tellapart.statistics.row_moments import RowMoments, fits
from tellapart.statistics.squared_sums import SquaredSums, opens_up


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


class Sums(Protocol):
    """F and its derivatives, λ given; see `Objective` for the methods."""

    def at(self, regularization: float) -> Sums:
        """Return the sums with another λ."""
        ...

    def prepare(self) -> None:
        """Do now what is done once."""
        ...

    def value(self, z: FloatArray) -> float:
        """Return F(z)."""
        ...

    def gradient(self, z: FloatArray) -> FloatArray:
        """Return ∇F(z)."""
        ...

    def weight_slopes(self, z: FloatArray) -> FloatArray:
        """Return ∂F/∂ω_s."""
        ...

    def hessian(self, z: FloatArray, variables: IntArray) -> FloatArray:
        """Return ∇²F(z) in `variables`."""
        ...

    def derivatives(self, z: FloatArray, variables: IntArray) -> Derivatives:
        """Return F(z), ∇F(z), and ∇²F(z) in `variables`."""
        ...

    def local(self, z: FloatArray, variables: IntArray) -> Derivatives:
        """Return F(z), and ∇F(z) and ∇²F(z) in `variables`."""
        ...

    def in_weights(self, z: FloatArray, variables: IntArray) -> Derivatives:
        """Return F(z), and its derivatives with respect to the weights of `variables`."""
        ...

    def quadratic_form(self) -> tuple[FloatArray, FloatArray] | None:
        """Return 𝒜 and 𝒯 with MMD²(z) = zᵀ𝒜z + 𝒯ᵀz, where there are such."""
        ...


def sums_of(
    samples: Samples, kernel: FittedKernel, regularization: float, memory_budget: int
) -> Sums:
    """Return F of a kernel by the fastest way that its form and the budget allow."""
    if kernel.abilities.fast_sums:
        return LinearSums(linear_coefficients(samples, kernel), regularization)
    way = PairSums
    if opens_up(samples, kernel):
        way = SquaredSums
    elif fits(samples, kernel, memory_budget):
        way = RowMoments
    return IndexSums(way(samples, kernel, regularization, memory_budget), kernel, samples)


@dataclass(frozen=True)
class LinearSums:
    """F of the linear kernel, by its coefficients; see `Objective` for the methods."""

    coefficients: LinearCoefficients
    regularization: float

    def at(self, regularization: float) -> LinearSums:
        """Return the sums with another λ."""
        return replace(self, regularization=regularization)

    def value(self, z: FloatArray) -> float:
        """Return F(z)."""
        variance = self.regularization * self.coefficients.variance_at(z)
        return self.coefficients.statistic(z) - variance

    def gradient(self, z: FloatArray) -> FloatArray:
        """Return ∇F(z)."""
        slope = self.coefficients.variance_product(z)
        return self.coefficients.a - 2 * self.regularization * slope

    weight_slopes = gradient

    def hessian(self, z: FloatArray, variables: IntArray) -> FloatArray:  # noqa: ARG002
        """Return ∇²F(z) in `variables`."""
        factor = self.coefficients.B
        if factor is not None:
            columns = factor[:, variables]
            return -2 * self.regularization * (columns.T @ columns)
        matrix = self.coefficients.variance_matrix()
        return -2 * self.regularization * matrix[np.ix_(variables, variables)]

    def derivatives(self, z: FloatArray, variables: IntArray) -> Derivatives:
        """Return F(z), ∇F(z), and ∇²F(z) in `variables`."""
        return Derivatives(self.value(z), self.gradient(z), self.hessian(z, variables))

    def local(self, z: FloatArray, variables: IntArray) -> Derivatives:
        """Return F(z), and ∇F(z) and ∇²F(z) in `variables`."""
        return Derivatives(self.value(z), self.gradient(z)[variables], self.hessian(z, variables))

    in_weights = local

    def prepare(self) -> None:
        """Nothing is left to do: the coefficients are there."""

    def quadratic_form(self) -> None:
        """Return None: F itself is a quadratic, and its coefficients are at hand."""


@dataclass(frozen=True)
class IndexSums:
    """F of any additive-index kernel: the sums over pairs, and the chain rule through ω.

    See `Objective` for the methods.
    """

    sums: PairSums
    kernel: FittedKernel
    samples: Samples

    def prepare(self) -> None:
        """Make what is kept from call to call."""
        self.sums.prepare()

    def at(self, regularization: float) -> IndexSums:
        """Return the sums with another λ."""
        return replace(self, sums=self.sums.at(regularization))

    def value(self, z: FloatArray) -> float:
        """Return F(z)."""
        return self.sums.first_order(z, np.zeros(0, dtype=np.intp)).value

    def gradient(self, z: FloatArray) -> FloatArray:
        """Return ∇F(z)."""
        return self.kernel.weight.slope(z) * self.weight_slopes(z)

    def weight_slopes(self, z: FloatArray) -> FloatArray:
        """Return ∂F/∂ω_s."""
        return self._spread(self._first(z).slopes, np.arange(self.sums.varying.shape[0]))

    def hessian(self, z: FloatArray, variables: IntArray) -> FloatArray:
        """Return ∇²F(z) in `variables`."""
        asked = np.flatnonzero(np.isin(self.sums.varying, variables))
        return self._hessian(z, variables, asked, self.sums.first_order(z, asked))

    def derivatives(self, z: FloatArray, variables: IntArray) -> Derivatives:
        """Return F(z), ∇F(z), and ∇²F(z) in `variables`."""
        first = self._first(z)
        everything = np.arange(self.sums.varying.shape[0])
        gradient = self.kernel.weight.slope(z) * self._spread(first.slopes, everything)
        hessian = self._hessian(z, variables, everything, first)
        return Derivatives(first.value, gradient, hessian)

    def local(self, z: FloatArray, variables: IntArray) -> Derivatives:
        """Return F(z), and ∇F(z) and ∇²F(z) in `variables`."""
        asked = np.flatnonzero(np.isin(self.sums.varying, variables))
        first = self.sums.first_order(z, asked)
        gradient = self.kernel.weight.slope(z) * self._spread(first.slopes, asked)
        hessian = self._hessian(z, variables, asked, first)
        return Derivatives(first.value, gradient[variables], hessian)

    def in_weights(self, z: FloatArray, variables: IntArray) -> Derivatives:
        """Return F(z), and its derivatives with respect to the weights of `variables`."""
        asked = np.flatnonzero(np.isin(self.sums.varying, variables))
        first = self.sums.first_order(z, asked)
        places = _places(self.sums.varying[asked], variables, z.shape[0])
        hessian = np.zeros((variables.shape[0], variables.shape[0]))
        hessian[np.ix_(places, places)] = self.sums.second_order(z, asked, first)
        return Derivatives(first.value, self._spread(first.slopes, asked)[variables], hessian)

    def quadratic_form(self) -> tuple[FloatArray, FloatArray] | None:
        """Return 𝒜 and 𝒯 with MMD²(z) = zᵀ𝒜z + 𝒯ᵀz for the quadratic kernel, None for others."""
        if self.kernel.square_offset is None:
            return None
        n_columns = self.samples.n_columns
        matrix = np.zeros((n_columns, n_columns))
        part, slopes = self.sums.statistic_form()
        matrix[np.ix_(self.sums.varying, self.sums.varying)] = part
        return matrix, self._spread(slopes, np.arange(self.sums.varying.shape[0]))

    def _first(self, z: FloatArray) -> FirstOrder:
        return self.sums.first_order(z, np.arange(self.sums.varying.shape[0]))

    def _spread(self, slopes: FloatArray, asked: IntArray) -> FloatArray:
        # Constant columns change nothing: slope 0.
        spread = np.zeros(self.kernel.constant.shape[0])
        spread[self.sums.varying[asked]] = slopes
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
        part = replace(first, slopes=first.slopes[curved], jacobian=first.jacobian[curved])
        second = self.sums.second_order(z, asked[curved], part)
        second *= np.multiply.outer(slope[columns[curved]], slope[columns[curved]])
        places = _places(columns[curved], variables, n_columns)
        hessian = np.diag(bends[variables])
        hessian[np.ix_(places, places)] += second
        return hessian


def _places(columns: IntArray, variables: IntArray, n_columns: int) -> IntArray:
    """Return where each of `columns` stands among `variables`."""
    position = np.full(n_columns, -1)
    position[variables] = np.arange(variables.shape[0])
    return position[columns]
