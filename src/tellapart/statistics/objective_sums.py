"""F and its derivatives by the fastest way that the kernel allows: what `Objective` asks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.samples import Samples
from tellapart.kernels.base import FittedKernel
from tellapart.statistics.coefficients import LinearCoefficients, linear_coefficients
from tellapart.statistics.pair_sums import FirstOrder, PairSums, SquaredSums, opens_up
from tellapart.threads import one_blas_thread

# The sums over pairs of the quadratic kernel, gathered once: F is then a quartic in z.
#
# With K = (Σ_s ω_s ψ_s + c)² the sums of a row over a sample are quadratic in ω:
#
#     r_i = ωᵀR_i ω + 2c ρ_iᵀω,  R_i = mean_{x} ψψᵀ − mean_{y} ψψᵀ,  ρ_i = mean_x ψ − mean_y ψ
#     MMD² = ωᵀ𝒜ω + 2c αᵀω
#
# (the constants c² cancel). To gather R takes about as long as one Hessian by `PairSums`; after
# that value, gradient and Hessian take no pair of rows any more.


# Entries of the stack ψ of some rows with all others: 16 MB.
_BLOCK_ENTRIES = 2_097_152


@dataclass(frozen=True)
class Moments:
    """The sums of the products ψ_s ψ_r, by row and over all pairs.

    Attributes
    ----------
    matrix : array of shape (C, C)
        𝒜.
    vector : array of shape (C,)
        α.
    row_matrices : array of shape (m + n, C, C)
        R_i.
    row_vectors : array of shape (m + n, C)
        ρ_i.
    """

    matrix: FloatArray
    vector: FloatArray
    row_matrices: FloatArray
    row_vectors: FloatArray


def fits(samples: Samples, kernel: FittedKernel, memory_budget: int) -> bool:
    """Return whether the kernel is quadratic and its R_i take at most half of the budget."""
    size = int(np.count_nonzero(~kernel.constant))
    needed = 8 * (samples.n_x + samples.n_y) * size**2
    return kernel.square_offset is not None and needed <= memory_budget // 2


class RowMoments(PairSums):
    """As `PairSums`, for the quadratic kernel: pairs of rows are touched once.

    Parameters
    ----------
    samples, kernel, regularization, memory_budget
        See `PairSums`; `fits` says whether the budget is enough.
    """

    def __init__(
        self, samples: Samples, kernel: FittedKernel, regularization: float, memory_budget: int
    ) -> None:
        super().__init__(samples, kernel, regularization, memory_budget)
        self._keep = False  # every ψ is looked at once
        assert kernel.square_offset is not None  # `fits` says so
        self._c = kernel.square_offset
        self._moments: Moments | None = None

    def prepare(self) -> None:
        """Gather the sums."""
        _ = self.moments

    @property
    def moments(self) -> Moments:
        """The sums, gathered when first asked for."""
        if self._moments is None:
            with one_blas_thread():
                self._moments = self._gathered()
        return self._moments

    def statistic_form(self) -> tuple[FloatArray, FloatArray]:
        """Return 𝒜 and 𝒯 of the varying columns, MMD² = ωᵀ𝒜ω + 𝒯ᵀω."""
        return self.moments.matrix, 2 * self._c * self.moments.vector

    def _gathered(self) -> Moments:
        m, n = self._m, self._n
        size, n_rows = self._values.shape
        matrix, vector = np.zeros((size, size)), np.zeros(size)
        row_matrices, row_vectors = np.empty((n_rows, size, size)), np.empty((n_rows, size))
        step = max(1, _BLOCK_ENTRIES // (size * n_rows))
        for start in range(0, n_rows, step):
            rows = np.arange(start, min(start + step, n_rows))
            # Each row's own matrix of shape (C, m + n), so that its products are plain ones.
            stack = np.empty((rows.shape[0], size, n_rows))
            for s, values in enumerate(self._values):
                psi = self.kernel.scalars[self.varying[s]]
                stack[:, s, :] = psi.gram(values[rows], values)
            own = stack[np.arange(rows.shape[0]), :, rows]
            of_x = rows < m
            in_x, in_y = stack[:, :, :m], stack[:, :, m:]
            products_x, products_y = in_x @ in_x.transpose(0, 2, 1), in_y @ in_y.transpose(0, 2, 1)
            sums_x, sums_y = in_x.sum(axis=2), in_y.sum(axis=2)
            row_matrices[rows] = products_x / m - products_y / n
            row_vectors[rows] = sums_x / m - sums_y / n
            for mine, products, sums, count in (
                (of_x, products_x, sums_x, m),
                (~of_x, products_y, sums_y, n),
            ):
                pairs = count * (count - 1)
                matrix += (products[mine].sum(axis=0) - own[mine].T @ own[mine]) / pairs
                vector += (sums[mine].sum(axis=0) - own[mine].sum(axis=0)) / pairs
            matrix -= 2 * products_y[of_x].sum(axis=0) / (m * n)
            vector -= 2 * sums_y[of_x].sum(axis=0) / (m * n)
        return Moments((matrix + matrix.T) / 2, vector, row_matrices, row_vectors)

    def _first_order(self, z: FloatArray, variables: IntArray) -> FirstOrder:
        moments, c = self.moments, self._c
        weights = self.kernel.weights(z)[self.varying]
        active = np.flatnonzero(weights)
        w = weights[active]
        every = variables.shape[0] == weights.shape[0]
        statistic = float(w @ moments.matrix[np.ix_(active, active)] @ w)
        statistic += 2 * c * float(moments.vector[active] @ w)
        # Σ_r R_i,sr ω_r for the columns asked for, and for the active ones: r needs those.
        wanted = np.arange(weights.shape[0]) if every else np.union1d(active, variables)
        pulled = moments.row_matrices[:, wanted[:, None], active] @ w
        lines = moments.row_vectors[:, wanted]
        inside = np.isin(wanted, active)
        sums = (pulled[:, inside] + 2 * c * lines[:, inside]) @ w
        chosen = np.searchsorted(wanted, variables)
        jacobian = np.ascontiguousarray(2 * (pulled[:, chosen] + c * lines[:, chosen]).T)
        slopes = 2 * (moments.matrix[np.ix_(variables, active)] @ w + c * moments.vector[variables])
        return self._regularized(statistic, sums, slopes, jacobian)

    def _second_order(self, z: FloatArray, variables: IntArray, first: FirstOrder) -> FloatArray:  # noqa: ARG002
        moments = self.moments
        centred = self._centred(first.jacobian)
        hessian = (centred * (-2 * self._variance_weight * self._group_weights)) @ centred.T
        block = moments.row_matrices
        if variables.shape[0] < block.shape[1]:
            block = block[:, variables[:, None], variables]
        bent = np.tensordot(first.pulls, block, 1)
        hessian += 2 * (
            moments.matrix[np.ix_(variables, variables)] - 2 * self._variance_weight * bent
        )
        return (hessian + hessian.T) / 2


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
