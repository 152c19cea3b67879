"""F and its derivatives for any additive-index kernel, as weighted sums over pairs of rows.

Pool the rows, m of X and then n of Y. With c_j = 1/m on X and −1/n on Y, r = K c holds p on X
and −q on Y. Let r̃ be r centred within each sample, g_i = 1/m² on X and 1/n² on Y, b = g r̃,
ñ = 2mn/(m + n), and W the weights of MMD²_u (0 on the diagonal). Then

    F = Σ_ij W_ij K_ij − 4λñ Σ_i g_i r̃_i²
    ∇F = Σ_ij W_ij ∇K_ij − 8λñ Σ_i b_i ∇r_i
    ∇²F = Σ_ij M_ij ∇²K_ij − 8λñ Σ_i g_i ∇r̃_i ∇r̃_iᵀ,  M_ij = W_ij − 4λñ (b_i c_j + c_i b_j)

Since K depends on z through the weights ω(z_s) only, derivatives are taken with respect to these
and the chain rule comes last. The sums run over square tiles of pairs on and above the diagonal;
in a tile ψ is a stack of matrices, one per column, and the Hessian is one matrix product.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.interrupts import check_interrupts
from tellapart.kernels.base import FittedKernel
from tellapart.threads import one_blas_thread

# Numbers in the stack of one tile at most: 2 MB, which stay in cache from one use to the next.
TILE_ENTRIES = 262_144
# Rows of a tile at least, if the budget allows: below, the calls cost more than the numbers.
LEAST_SIDE = 64


@dataclass(frozen=True)
class FirstOrder:
    """F at a point with its derivatives with respect to the weights ω_s of some columns.

    Attributes
    ----------
    value : float
        F.
    slopes : array of shape (|S|,)
        ∂F/∂ω_s.
    jacobian : array of shape (|S|, m + n)
        ∂r_i/∂ω_s, not centred.
    pulls : array of shape (m + n,)
        b = g r̃.
    gram : array of shape (m + n, m + n), or None
        K, where it is at hand and spares the second derivatives to make it again.
    """

    value: float
    slopes: FloatArray
    jacobian: FloatArray
    pulls: FloatArray
    gram: FloatArray | None = None


@dataclass(frozen=True)
class _Tile:
    rows: slice
    columns: slice

    @property
    def diagonal(self) -> bool:
        return self.rows == self.columns

    @property
    def copies(self) -> float:
        # A tile off the diagonal stands for its mirror image, too.
        return 1.0 if self.diagonal else 2.0

    @property
    def size(self) -> int:
        return int((self.rows.stop - self.rows.start) * (self.columns.stop - self.columns.start))


class PairSums:
    """The sums over pairs of one pair of samples under one kernel.

    Parameters
    ----------
    samples : Samples
        The two samples.
    kernel : FittedKernel
        The kernel; its constant columns take no part.
    regularization : float
        λ.
    memory_budget : int
        Bytes that matrices over pairs may take. ψ does not depend on z: it is kept from call to
        call if half of the budget holds it, and made again tile by tile otherwise. The Jacobian,
        of shape (|S|, m + n), comes on top.
    """

    def __init__(
        self, samples: Samples, kernel: FittedKernel, regularization: float, memory_budget: int
    ) -> None:
        m, n = samples.n_x, samples.n_y
        self.kernel = kernel
        self.memory_budget = memory_budget
        self.varying = np.flatnonzero(~kernel.constant)
        self._m, self._n = m, n
        # One contiguous row per varying column.
        self._values = np.concatenate([samples.x[:, self.varying], samples.y[:, self.varying]]).T
        self._values = np.ascontiguousarray(self._values)
        self._signs = np.repeat([1 / m, -1 / n], [m, n])
        self._group_weights = np.repeat([1 / m**2, 1 / n**2], [m, n])
        self._variance_weight = self._variance_weight_of(regularization)
        depth = max(1, self.varying.shape[0])
        # A tile's stack, its product with φ′ or M φ″, and a copy of some of its columns; the
        # other matrices of a tile have the depth of one column each.
        entries = max(TILE_ENTRIES, LEAST_SIDE**2 * (depth + 2))
        entries = min(entries, memory_budget // 64)
        self._tiles = _tiles(m + n, max(1, math.isqrt(entries // (depth + 2))))
        needed = 8 * depth * sum(tile.size for tile in self._tiles)
        self._keep = needed <= memory_budget // 2
        self._kept: dict[int, FloatArray] = {}

    def at(self, regularization: float) -> PairSums:
        """Return the same sums with another λ; what is kept is shared."""
        other = copy(self)
        other._variance_weight = self._variance_weight_of(regularization)
        return other

    def _variance_weight_of(self, regularization: float) -> float:
        return 4 * regularization * 2 * self._m * self._n / (self._m + self._n)

    def prepare(self) -> None:
        """Make what is kept from call to call."""
        if self._keep:
            everything = np.arange(self.varying.shape[0])
            self._kept = {k: self._stack(tile, everything) for k, tile in enumerate(self._tiles)}

    def first_order(self, z: FloatArray, variables: IntArray) -> FirstOrder:
        """Return F(z) and its slopes in the weights of `variables`, positions in `varying`."""
        # The products of a tile are too small to be worth the threads of BLAS.
        with one_blas_thread():
            return self._first_order(z, variables)

    def second_order(self, z: FloatArray, variables: IntArray, first: FirstOrder) -> FloatArray:
        """Return ∂²F/∂ω_s∂ω_r for `variables`; `first` are the derivatives in these."""
        with one_blas_thread():
            return self._second_order(z, variables, first)

    def statistic_form(self) -> tuple[FloatArray, FloatArray]:
        """Return 𝒜 and 𝒯 of the varying columns, MMD² = ωᵀ𝒜ω + 𝒯ᵀω, where φ is a square."""
        everything = np.arange(self.varying.shape[0])
        nowhere = np.zeros(self.kernel.constant.shape[0])
        free = self.at(0.0)
        first = free.first_order(nowhere, everything)
        return free.second_order(nowhere, everything, first) / 2, first.slopes

    def _first_order(self, z: FloatArray, variables: IntArray) -> FirstOrder:
        weights = self.kernel.weights(z)[self.varying]
        signs, size = self._signs, variables.shape[0]
        statistic = 0.0
        sums = np.zeros(signs.shape[0])
        slopes, jacobian = np.zeros(size), np.zeros((size, signs.shape[0]))
        for k, tile in enumerate(self._tiles):
            check_interrupts()
            index, stack = self._index(k, weights, variables)
            pair_weights = self._statistic_weights(tile)
            gram = self.kernel.outer.value(index)
            statistic += tile.copies * float(np.vdot(pair_weights, gram))
            sums[tile.rows] += gram @ signs[tile.columns]
            if not tile.diagonal:
                sums[tile.columns] += signs[tile.rows] @ gram
            if size == 0:
                continue
            moved = stack * self.kernel.outer.slope(index)
            slopes += tile.copies * (moved.reshape(size, -1) @ pair_weights.ravel())
            jacobian[:, tile.rows] += moved @ signs[tile.columns]
            if not tile.diagonal:
                jacobian[:, tile.columns] += signs[tile.rows] @ moved
        return self._regularized(statistic, sums, slopes, jacobian)

    def _regularized(
        self, statistic: float, sums: FloatArray, slopes: FloatArray, jacobian: FloatArray
    ) -> FirstOrder:
        """Return F and its slopes, given those of MMD², and r with its derivatives."""
        centred = self._centred(sums)
        pulls = self._group_weights * centred
        value = statistic - self._variance_weight * float(centred @ pulls)
        slopes = slopes - 2 * self._variance_weight * (jacobian @ pulls)
        if not (math.isfinite(value) and np.isfinite(slopes).all()):
            raise InputError(
                f"kernel {self.kernel.name!r} must be finite on the samples; got NaN or infinity"
            )
        return FirstOrder(value, slopes, jacobian, pulls)

    def _second_order(self, z: FloatArray, variables: IntArray, first: FirstOrder) -> FloatArray:
        weights = self.kernel.weights(z)[self.varying]
        size = variables.shape[0]
        centred = self._centred(first.jacobian)
        hessian = (centred * (-2 * self._variance_weight * self._group_weights)) @ centred.T
        if size == 0:
            return hessian
        for k, tile in enumerate(self._tiles):
            check_interrupts()
            index, stack = self._index(k, weights, variables)
            pair_weights = self._statistic_weights(tile)
            pulls, signs = self._variance_weight * first.pulls, self._signs
            pair_weights -= np.multiply.outer(pulls[tile.rows], signs[tile.columns])
            pair_weights -= np.multiply.outer(signs[tile.rows], pulls[tile.columns])
            pair_weights *= tile.copies * self.kernel.outer.curvature(index)
            flat = stack.reshape(size, -1)
            hessian += (flat * pair_weights.ravel()) @ flat.T
        # The products are symmetric up to rounding only.
        return (hessian + hessian.T) / 2

    def _index(
        self, k: int, weights: FloatArray, variables: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return t on a tile, and the stack of ψ_s of `variables`."""
        tile = self._tiles[k]
        depth = weights.shape[0]
        active = np.flatnonzero(weights)
        if not self._keep:
            stack = self._stack(tile, variables)
            shared = np.isin(variables, active)
            index = np.tensordot(weights[variables[shared]], stack[shared], 1)
            for s in np.setdiff1d(active, variables):
                index += weights[s] * self._stack(tile, np.array([s]))[0]
            return index, stack
        if k not in self._kept:
            self._kept[k] = self._stack(tile, np.arange(depth))
        kept = self._kept[k]
        # No copy where all columns are asked for.
        stack = kept if variables.shape[0] == depth else kept[variables]
        sources = kept if active.shape[0] == depth else kept[active]
        return np.tensordot(weights[active], sources, 1), stack

    def _stack(self, tile: _Tile, variables: IntArray) -> FloatArray:
        shape = (tile.rows.stop - tile.rows.start, tile.columns.stop - tile.columns.start)
        stack = np.empty((variables.shape[0], *shape))
        for i, s in enumerate(variables):
            values = self._values[s]
            psi = self.kernel.scalars[self.varying[s]]
            stack[i] = psi.gram(values[tile.rows], values[tile.columns])
        return stack

    def _statistic_weights(self, tile: _Tile) -> FloatArray:
        m, n = self._m, self._n
        of_x = self._signs > 0
        rows, columns = of_x[tile.rows][:, None], of_x[tile.columns]
        weights = np.where(rows, 1 / (m * (m - 1)), 1 / (n * (n - 1)))
        weights = np.where(rows == columns, weights, -1 / (m * n))
        if tile.diagonal:
            np.fill_diagonal(weights, 0.0)
        return weights

    def _centred(self, sums: FloatArray) -> FloatArray:
        """Return `sums` less their mean within each sample, along the last axis."""
        centred = sums.copy()
        for group in (slice(0, self._m), slice(self._m, None)):
            centred[..., group] -= centred[..., group].mean(axis=-1, keepdims=True)
        return centred


def _tiles(n_rows: int, side: int) -> list[_Tile]:
    """Cut the pairs on and above the diagonal into squares of about equal sides."""
    count = -(-n_rows // side)
    edges = [i * n_rows // count for i in range(count + 1)]
    blocks = [slice(start, stop) for start, stop in pairwise(edges)]
    return [_Tile(rows, columns) for i, rows in enumerate(blocks) for columns in blocks[i:]]
