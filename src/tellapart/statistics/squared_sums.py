"""The sums over pairs for kernels of squared differences, by matrix products alone.

Where ψ_s(u, v) = (u − v)² with u, v in units of τ_s, the square opens up:

    t_ij = Σ_s ω_s u_is² + Σ_s ω_s u_js² − 2 Σ_s ω_s u_is u_js
    Σ_j G_ij ψ_s(u_i, u_j) = u_is² Σ_j G_ij − 2 u_is Σ_j G_ij u_js + Σ_j G_ij u_js²

So F and its slopes in *all* columns take a few products of the matrix φ′(t) with the samples, and
no matrix over pairs per column. F, r and their derivatives need only, for each row, the sums of K
and of φ′ψ_s over the rows of X and over those of Y. With B_ij = M_ij φ″(t_ij), β its row sums,

    Σ_ij B_ij ψ_s ψ_r = 2 Σ_i β_i u_is² u_ir² + 2 (u_s²)ᵀB u_r² + 4 (u_s u_r)ᵀB (u_s u_r)
                        − 4 (u_s² u_r)ᵀB u_r − 4 (u_r² u_s)ᵀB u_s
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.samples import Samples
from tellapart.kernels.base import FittedKernel
from tellapart.statistics.pair_sums import FirstOrder, PairSums

# Beyond this many τ the squares of squares lose too many digits.
FARTHEST = 1e3
# Entries of one block of K: 4 MB, a few of which stay in cache.
_BLOCK_ENTRIES = 524_288


def opens_up(samples: Samples, kernel: FittedKernel) -> bool:
    """Return whether the squares may be opened up: all ψ_s are, and no value is far out."""
    scales = kernel.squared_scales
    if scales is None:
        return False
    values = _scaled(samples, np.flatnonzero(~kernel.constant), scales)
    return bool((np.abs(values) <= FARTHEST).all())


class SquaredSums(PairSums):
    """As `PairSums`, for ψ_s(u, v) = ((u − v)/τ_s)².

    Parameters
    ----------
    samples, kernel, regularization, memory_budget
        See `PairSums`. The matrices φ and φ′ are made block by block of rows; the
        sums per row, of shape (|S|, m + n), come on top of the budget.
    """

    def __init__(
        self, samples: Samples, kernel: FittedKernel, regularization: float, memory_budget: int
    ) -> None:
        super().__init__(samples, kernel, regularization, memory_budget)
        self._keep = False  # second derivatives are asked for in few columns only
        scales = kernel.squared_scales
        assert scales is not None  # `opens_up` says so
        self._scaled = _scaled(samples, self.varying, scales)
        n_rows = self._scaled.shape[0]
        self._rows = max(1, min(_BLOCK_ENTRIES, memory_budget // 64) // n_rows)

    def _first_order(self, z: FloatArray, variables: IntArray) -> FirstOrder:
        m, n = self._m, self._n
        index_of = self._index_rows(z)
        asked = self._asked(variables)
        # Beside each other, so that one product with φ′ does for the sums, the values, the squares.
        moments = np.concatenate([np.ones((m + n, 1)), asked, asked**2], axis=1)
        sums = np.empty((2, m + n))
        slope_sums = np.empty((2, m + n, asked.shape[1]))
        own = np.empty(m + n)
        for rows in self._blocks:
            index, on_diagonal = index_of(rows), _diagonal(rows)
            gram = self.kernel.outer.value(index)
            own[rows] = gram[on_diagonal]
            for k, group in enumerate((slice(0, m), slice(m, None))):
                sums[k, rows] = gram[:, group].sum(axis=1)
            if variables.shape[0] == 0:
                continue
            slope = self._slope_of(gram, index)
            for k, group in enumerate((slice(0, m), slice(m, None))):
                slope_sums[k, rows] = _opened(slope[:, group] @ moments[group], asked[rows])
        first = self._assembled(sums, own, slope_sums)
        # One block is all of K: too good to throw away.
        return replace(first, gram=gram) if len(self._blocks) == 1 else first

    def _second_order(self, z: FloatArray, variables: IntArray, first: FirstOrder) -> FloatArray:
        size = variables.shape[0]
        centred = self._centred(first.jacobian)
        hessian = (centred * (-2 * self._variance_weight * self._group_weights)) @ centred.T
        if size == 0:
            return hessian
        index_of, values = self._index_rows(z), self._asked(variables)
        squares = values**2
        left, right = np.triu_indices(size)
        moments = np.concatenate([values, squares], axis=1)
        # So many products u_s u_r at a time as an eighth of the budget holds; made once if all.
        width = max(1, self.memory_budget // (64 * values.shape[0]))
        parts = [slice(i, i + width) for i in range(0, left.shape[0], width)]
        crosses = values[:, left[parts[0]]] * values[:, right[parts[0]]]
        pulls, signs = self._variance_weight * first.pulls, self._signs
        paired = np.zeros(left.shape[0])
        mixed = np.zeros((size, size))
        for rows in self._blocks:
            weights = self._curvature(first.gram, index_of, rows)
            weights *= self._all_weights(rows) - (
                np.multiply.outer(pulls[rows], signs) + np.multiply.outer(signs[rows], pulls)
            )
            weights[_diagonal(rows)] = 0.0
            products = weights @ moments
            totals, own = weights.sum(axis=1)[:, None], squares[rows]
            hessian += 2 * own.T @ (totals * own + products[:, size:])
            mixed += own.T @ (values[rows] * products[:, :size])
            for part in parts:
                if len(parts) > 1:
                    crosses = values[:, left[part]] * values[:, right[part]]
                paired[part] += np.einsum("ip,ip->p", crosses[rows], weights @ crosses)
        hessian -= 4 * (mixed + mixed.T)
        crossed = np.zeros((size, size))
        crossed[left, right] = crossed[right, left] = 4 * paired
        hessian += crossed
        # The products are symmetric up to rounding only.
        return (hessian + hessian.T) / 2

    @property
    def _blocks(self) -> list[slice]:
        n_rows = self._m + self._n
        return [slice(i, min(i + self._rows, n_rows)) for i in range(0, n_rows, self._rows)]

    def _asked(self, variables: IntArray) -> FloatArray:
        every = variables.shape[0] == self._scaled.shape[1]
        return self._scaled if every else self._scaled[:, variables]

    def _index_rows(self, z: FloatArray) -> Callable[[slice], FloatArray]:
        """Return the function from a block of rows to t of these with all rows."""
        weights = self.kernel.weights(z)[self.varying]
        active = np.flatnonzero(weights)
        shown = self._scaled[:, active]
        weighted = shown * weights[active]
        lengths = np.einsum("is,is->i", shown, weighted)

        def index_of(rows: slice) -> FloatArray:
            index: FloatArray = weighted[rows] @ shown.T
            index *= -2
            index += lengths[rows, None]
            index += lengths
            if weights.min(initial=0.0) >= 0:
                np.maximum(index, 0.0, out=index)  # rounding error may be negative, t is not
            index[_diagonal(rows)] = 0.0
            return index

        return index_of

    def _all_weights(self, rows: slice) -> FloatArray:
        """Return the weights of MMD²_u of a block of rows with all rows, diagonal included."""
        m, n = self._m, self._n
        of_x = self._signs > 0
        within = np.where(of_x, 1 / (m * (m - 1)), 1 / (n * (n - 1)))
        return np.where(of_x[rows, None] == of_x, within, -1 / (m * n))

    def _slope_of(self, gram: FloatArray, index: FloatArray) -> FloatArray:
        """Return φ′(t), from φ(t) where the kernel knows how."""
        given = getattr(self.kernel.outer, "slope_from_value", None)
        return given(gram) if given is not None else self.kernel.outer.slope(index)

    def _curvature(
        self, gram: FloatArray | None, index_of: Callable[[slice], FloatArray], rows: slice
    ) -> FloatArray:
        """Return φ″(t) of a block of rows, from φ(t) where that is at hand and enough."""
        given = getattr(self.kernel.outer, "curvature_from_value", None)
        if gram is not None and given is not None:
            bends: FloatArray = given(gram[rows])
            return bends
        return self.kernel.outer.curvature(index_of(rows))

    def _assembled(self, sums: FloatArray, own: FloatArray, slopes: FloatArray) -> FirstOrder:
        """Return F and its slopes from the sums of each row over X and over Y."""
        m, n = self._m, self._n
        x, y = slice(0, m), slice(m, None)
        statistic = (sums[0, x] - own[x]).sum() / (m * (m - 1))
        statistic += (sums[1, y] - own[y]).sum() / (n * (n - 1))
        statistic -= 2 * sums[1, x].sum() / (m * n)
        rises = slopes[0, x].sum(axis=0) / (m * (m - 1)) + slopes[1, y].sum(axis=0) / (n * (n - 1))
        rises -= 2 * slopes[1, x].sum(axis=0) / (m * n)
        jacobian = np.ascontiguousarray((slopes[0] / m - slopes[1] / n).T)
        return self._regularized(float(statistic), sums[0] / m - sums[1] / n, rises, jacobian)


def _diagonal(rows: slice) -> tuple[IntArray, IntArray]:
    """Return where a block of rows meets itself."""
    return np.arange(rows.stop - rows.start), np.arange(rows.start, rows.stop)


def _opened(products: FloatArray, values: FloatArray) -> FloatArray:
    """Return Σ_j G_ij (u_is − u_js)² from Σ_j G_ij (1, u_js, u_js²)."""
    size = values.shape[1]
    total = values**2 * products[:, :1]
    total -= 2 * values * products[:, 1 : size + 1]
    total += products[:, size + 1 :]
    return total


def _scaled(samples: Samples, columns: IntArray, scales: FloatArray) -> FloatArray:
    """Return the pooled rows in units of τ_s, about the medians."""
    pooled = np.concatenate([samples.x[:, columns], samples.y[:, columns]])
    with np.errstate(over="ignore"):
        return np.ascontiguousarray((pooled - np.median(pooled, axis=0)) / scales)
