"""The sums over pairs of the quadratic kernel, gathered once: F is then a quartic in z.

With K = (Σ_s ω_s ψ_s + c)² the sums of a row over a sample are quadratic in ω:

    r_i = ωᵀR_i ω + 2c ρ_iᵀω,  R_i = mean_{x} ψψᵀ − mean_{y} ψψᵀ,  ρ_i = mean_x ψ − mean_y ψ
    MMD² = ωᵀ𝒜ω + 2c αᵀω

(the constants c² cancel). To gather R takes about as long as one Hessian by `PairSums`; after that
value, gradient and Hessian take no pair of rows any more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.samples import Samples
from tellapart.kernels.base import FittedKernel
from tellapart.statistics.pair_sums import FirstOrder, PairSums
from tellapart.threads import one_blas_thread

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
