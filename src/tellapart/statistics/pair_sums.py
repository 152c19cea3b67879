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
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.interrupts import check_interrupts
from tellapart.kernels.base import Exponential, FittedKernel
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
class Derivatives:
    """A function of z at a point to second order, in some variables.

    Attributes
    ----------
    value : float
        F(z).
    gradient : array of shape (|S|,)
        ∇F(z).
    hessian : array of shape (|S|, |S|)
        ∇²F(z).
    """

    value: float
    gradient: FloatArray
    hessian: FloatArray

    @classmethod
    def constant(cls, value: float, size: int) -> Derivatives:
        """Return those of a constant function of `size` variables."""
        return cls(value, np.zeros(size), np.zeros((size, size)))

    def __add__(self, other: Derivatives) -> Derivatives:
        return Derivatives(
            self.value + other.value,
            self.gradient + other.gradient,
            self.hessian + other.hessian,
        )

    def __mul__(self, factor: float) -> Derivatives:
        return Derivatives(factor * self.value, factor * self.gradient, factor * self.hessian)

    def __sub__(self, other: Derivatives) -> Derivatives:
        return self + other * -1.0


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
            all_columns = np.arange(self.varying.shape[0])
            self._kept = {k: self._stack(tile, all_columns) for k, tile in enumerate(self._tiles)}

    def value(self, z: FloatArray) -> float:
        """Return F(z)."""
        return self.first_order(z, np.zeros(0, dtype=np.intp)).value

    def weight_slopes(self, z: FloatArray) -> FloatArray:
        """Return ∂F/∂ω_s of all columns."""
        all_columns = np.arange(self.varying.shape[0])
        return self._of_columns(self.first_order(z, all_columns).slopes, all_columns)

    def local(self, z: FloatArray, variables: IntArray) -> Derivatives:
        """Return F(z), and ∇F(z) and ∇²F(z) in `variables`, by the chain rule through ω."""
        positions = np.flatnonzero(np.isin(self.varying, variables))
        first = self.first_order(z, positions)
        columns, weight = self.varying[positions], self.kernel.weight
        slope, curvature = weight.slope(z), weight.curvature(z)
        gradient = slope * self._of_columns(first.slopes, positions)
        hessian = np.diag(self._of_columns(curvature[columns] * first.slopes, positions)[variables])
        # Where ω′ = 0 only the diagonal is left: a sparse z costs a small matrix product.
        curved = np.flatnonzero(slope[columns] != 0)
        first = replace(first, slopes=first.slopes[curved], jacobian=first.jacobian[curved])
        second = self.second_order(z, positions[curved], first)
        second *= np.multiply.outer(slope[columns[curved]], slope[columns[curved]])
        among = _positions_among(columns[curved], variables, z.shape[0])
        hessian[np.ix_(among, among)] += second
        return Derivatives(first.value, gradient[variables], hessian)

    def in_weights(self, z: FloatArray, variables: IntArray) -> Derivatives:
        """Return F(z), and its derivatives with respect to the weights ω_s of `variables`."""
        positions = np.flatnonzero(np.isin(self.varying, variables))
        first = self.first_order(z, positions)
        among = _positions_among(self.varying[positions], variables, z.shape[0])
        hessian = np.zeros((variables.shape[0], variables.shape[0]))
        hessian[np.ix_(among, among)] = self.second_order(z, positions, first)
        slopes = self._of_columns(first.slopes, positions)
        return Derivatives(first.value, slopes[variables], hessian)

    def quadratic_form(self) -> tuple[FloatArray, FloatArray] | None:
        """Return 𝒜 and 𝒯 with MMD²(z) = zᵀ𝒜z + 𝒯ᵀz for the quadratic kernel, None for others."""
        if self.kernel.square_offset is None:
            return None
        n_columns = self.kernel.constant.shape[0]
        matrix = np.zeros((n_columns, n_columns))
        varying_matrix, slopes = self.statistic_form()
        matrix[np.ix_(self.varying, self.varying)] = varying_matrix
        return matrix, self._of_columns(slopes, np.arange(self.varying.shape[0]))

    def _of_columns(self, values: FloatArray, positions: IntArray) -> FloatArray:
        """Return values of some varying columns as values of all columns, 0 for the others."""
        spread = np.zeros(self.kernel.constant.shape[0])
        spread[self.varying[positions]] = values
        return spread

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
        all_columns = np.arange(self.varying.shape[0])
        nowhere = np.zeros(self.kernel.constant.shape[0])
        free = self.at(0.0)
        first = free.first_order(nowhere, all_columns)
        return free.second_order(nowhere, all_columns, first) / 2, first.slopes

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
        # No copy where all columns are requested.
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


def _positions_among(columns: IntArray, variables: IntArray, n_columns: int) -> IntArray:
    """Return the position of each of `columns` among `variables`."""
    position = np.full(n_columns, -1)
    position[variables] = np.arange(variables.shape[0])
    return position[columns]


def _tiles(n_rows: int, side: int) -> list[_Tile]:
    """Cut the pairs on and above the diagonal into squares of about equal sides."""
    count = -(-n_rows // side)
    edges = [i * n_rows // count for i in range(count + 1)]
    blocks = [slice(start, stop) for start, stop in pairwise(edges)]
    return [_Tile(rows, columns) for i, rows in enumerate(blocks) for columns in blocks[i:]]


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

    Where ψ_s(u, v) = (u − v)² with u, v in units of τ_s, the square opens up:

        t_ij = Σ_s ω_s u_is² + Σ_s ω_s u_js² − 2 Σ_s ω_s u_is u_js
        Σ_j G_ij ψ_s(u_i, u_j) = u_is² Σ_j G_ij − 2 u_is Σ_j G_ij u_js + Σ_j G_ij u_js²

    So F and its slopes in *all* columns take a few products of the matrix φ′(t) with the samples,
    and no matrix over pairs per column. F, r and their derivatives need only, for each row, the
    sums of K and of φ′ψ_s over the rows of X and over those of Y. With B_ij = M_ij φ″(t_ij), β its
    row sums,

        Σ_ij B_ij ψ_s ψ_r = 2 Σ_i β_i u_is² u_ir² + 2 (u_s²)ᵀB u_r² + 4 (u_s u_r)ᵀB (u_s u_r)
                            − 4 (u_s² u_r)ᵀB u_r − 4 (u_r² u_s)ᵀB u_s

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
        self._keep = False  # second derivatives are needed in few columns only
        scales = kernel.squared_scales
        assert scales is not None  # `opens_up` says so
        self._scaled = _scaled(samples, self.varying, scales)
        n_rows = self._scaled.shape[0]
        self._rows = max(1, min(_BLOCK_ENTRIES, memory_budget // 64) // n_rows)

    def _first_order(self, z: FloatArray, variables: IntArray) -> FirstOrder:
        m, n = self._m, self._n
        index_of = self._index_rows(z)
        values = self._values_of(variables)
        # Beside each other, so that one product with φ′ does for the sums, the values, the squares.
        moments = np.concatenate([np.ones((m + n, 1)), values, values**2], axis=1)
        sums = np.empty((2, m + n))
        slope_sums = np.empty((2, m + n, values.shape[1]))
        diagonal = np.empty(m + n)
        for rows in self._blocks:
            index, on_diagonal = index_of(rows), _diagonal(rows)
            gram = self.kernel.outer.value(index)
            diagonal[rows] = gram[on_diagonal]
            for k, group in enumerate((slice(0, m), slice(m, None))):
                sums[k, rows] = gram[:, group].sum(axis=1)
            if variables.shape[0] == 0:
                continue
            slope = self._slope_of(gram, index)
            for k, group in enumerate((slice(0, m), slice(m, None))):
                slope_sums[k, rows] = _opened(slope[:, group] @ moments[group], values[rows])
        first = self._assembled(sums, diagonal, slope_sums)
        # One block is all of K: too good to throw away.
        return replace(first, gram=gram) if len(self._blocks) == 1 else first

    def _second_order(self, z: FloatArray, variables: IntArray, first: FirstOrder) -> FloatArray:
        size = variables.shape[0]
        centred = self._centred(first.jacobian)
        hessian = (centred * (-2 * self._variance_weight * self._group_weights)) @ centred.T
        if size == 0:
            return hessian
        index_of, values = self._index_rows(z), self._values_of(variables)
        squares = values**2
        left, right = np.triu_indices(size)
        moments = np.concatenate([values, squares], axis=1)
        # So many products u_s u_r at a time as an eighth of the budget holds; made once if all.
        width = max(1, self.memory_budget // (64 * values.shape[0]))
        chunks = [slice(i, i + width) for i in range(0, left.shape[0], width)]
        crosses = values[:, left[chunks[0]]] * values[:, right[chunks[0]]]
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
            totals, own_squares = weights.sum(axis=1)[:, None], squares[rows]
            hessian += 2 * own_squares.T @ (totals * own_squares + products[:, size:])
            mixed += own_squares.T @ (values[rows] * products[:, :size])
            for chunk in chunks:
                if len(chunks) > 1:
                    crosses = values[:, left[chunk]] * values[:, right[chunk]]
                paired[chunk] += np.einsum("ip,ip->p", crosses[rows], weights @ crosses)
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

    def _values_of(self, variables: IntArray) -> FloatArray:
        all_columns = variables.shape[0] == self._scaled.shape[1]
        return self._scaled if all_columns else self._scaled[:, variables]

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
        outer = self.kernel.outer
        return (
            outer.slope_from_value(gram) if isinstance(outer, Exponential) else outer.slope(index)
        )

    def _curvature(
        self, gram: FloatArray | None, index_of: Callable[[slice], FloatArray], rows: slice
    ) -> FloatArray:
        """Return φ″(t) of a block of rows, from φ(t) where that is at hand and enough."""
        outer = self.kernel.outer
        if gram is not None and isinstance(outer, Exponential):
            return outer.curvature_from_value(gram[rows])
        return outer.curvature(index_of(rows))

    def _assembled(self, sums: FloatArray, diagonal: FloatArray, slopes: FloatArray) -> FirstOrder:
        """Return F and its slopes from the sums of each row over X and over Y."""
        m, n = self._m, self._n
        x, y = slice(0, m), slice(m, None)
        statistic = (sums[0, x] - diagonal[x]).sum() / (m * (m - 1))
        statistic += (sums[1, y] - diagonal[y]).sum() / (n * (n - 1))
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
