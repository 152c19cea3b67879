"""The quadratic kernel's F of many rows: MMD² of all of them by short features, σ² on some.

With K = (Σ_s ω_s k_s + c)² all that F needs are 𝒜, α, R_i and ρ_i of `RowMoments`. Short features
f_s (`tellapart.kernels.random_features`) and the products C of the two samples give them in
one pass,

    𝒜_sr = MMD² of k_s k_r,   R_i,sr = f_s(i)ᵀ(C^X_sr − C^Y_sr) f_r(i)

in which a row i meets the means over *all* rows. So p_i and q_i are free of the noise of a draw,
and their variance needs no more than some rows, drawn at random.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.budget import current_budget
from tellapart.data.column_store import Values, rows_of
from tellapart.data.samples import Samples
from tellapart.interrupts import check_interrupts
from tellapart.kernels.base import FittedKernel, PairFunction
from tellapart.kernels.random_features import Landmarks
from tellapart.statistics.pair_sums import FirstOrder, PairSums
from tellapart.threads import one_blas_thread


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

    With K = (Σ_s ω_s ψ_s + c)² the sums of a row over a sample are quadratic in ω:

        r_i = ωᵀR_i ω + 2c ρ_iᵀω,  R_i = mean_{x} ψψᵀ − mean_{y} ψψᵀ,  ρ_i = mean_x ψ − mean_y ψ
        MMD² = ωᵀ𝒜ω + 2c αᵀω

    (the constants c² cancel). To gather R takes about as long as one Hessian by `PairSums`; after
    that value, gradient and Hessian take no pair of rows any more.

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
        """The sums, gathered when first needed."""
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
        step = max(1, current_budget().pair_block_entries // (size * n_rows))
        for start in range(0, n_rows, step):
            rows = np.arange(start, min(start + step, n_rows))
            # Each row's own matrix of shape (C, m + n), so that its products are plain ones.
            stack = np.empty((rows.shape[0], size, n_rows))
            for s, values in enumerate(self._values):
                psi = self.kernel.scalars[self.varying[s]]
                stack[:, s, :] = psi.gram(values[rows], values)
            diagonal = stack[np.arange(rows.shape[0]), :, rows]
            of_x = rows < m
            in_x, in_y = stack[:, :, :m], stack[:, :, m:]
            products_x, products_y = in_x @ in_x.transpose(0, 2, 1), in_y @ in_y.transpose(0, 2, 1)
            sums_x, sums_y = in_x.sum(axis=2), in_y.sum(axis=2)
            row_matrices[rows] = products_x / m - products_y / n
            row_vectors[rows] = sums_x / m - sums_y / n
            for rows_in, products, sums, count in (
                (of_x, products_x, sums_x, m),
                (~of_x, products_y, sums_y, n),
            ):
                pairs = count * (count - 1)
                matrix += (
                    products[rows_in].sum(axis=0) - diagonal[rows_in].T @ diagonal[rows_in]
                ) / pairs
                vector += (sums[rows_in].sum(axis=0) - diagonal[rows_in].sum(axis=0)) / pairs
            matrix -= 2 * products_y[of_x].sum(axis=0) / (m * n)
            vector -= 2 * sums_y[of_x].sum(axis=0) / (m * n)
        return Moments((matrix + matrix.T) / 2, vector, row_matrices, row_vectors)

    def _first_order(self, z: FloatArray, variables: IntArray) -> FirstOrder:
        moments, c = self.moments, self._c
        weights = self.kernel.weights(z)[self.varying]
        active = np.flatnonzero(weights)
        w = weights[active]
        all_columns = variables.shape[0] == weights.shape[0]
        statistic = float(w @ moments.matrix[np.ix_(active, active)] @ w)
        statistic += 2 * c * float(moments.vector[active] @ w)
        # Σ_r R_i,sr ω_r for the requested columns, and for the active ones: r needs those.
        needed = np.arange(weights.shape[0]) if all_columns else np.union1d(active, variables)
        pulled = moments.row_matrices[:, needed[:, None], active] @ w
        lines = moments.row_vectors[:, needed]
        inside = np.isin(needed, active)
        sums = (pulled[:, inside] + 2 * c * lines[:, inside]) @ w
        chosen = np.searchsorted(needed, variables)
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
class Tensor:
    """The mean products of features of every two columns in one sample.

    Attributes
    ----------
    count : int
        Rows.
    products : array of shape (D, r, D, r)
        C: mean_i f_s(i) f_r(i)ᵀ.
    self_products : array of shape (D, D)
        mean_i |f_s(i)|² |f_r(i)|².
    """

    count: int
    products: FloatArray
    self_products: FloatArray


@dataclass(frozen=True)
class Products:
    """What the features of one sample add up to; D columns of r features each.

    Let f_s be features of column s, k_s(u, v) ≈ f_s(u)ᵀf_s(v), and C_sr = mean_i f_s(i) f_r(i)ᵀ of
    one sample. Then the mean over pairs of its rows of k_s k_r is ‖C_sr‖²_F, and between two
    samples it is ⟨C_sr, C′_sr⟩. Pairs of a row with itself are subtracted by Σ_i |f_s(i)|²
    |f_r(i)|².

    Attributes
    ----------
    tensor : Tensor
        Of every two columns.
    means : array of shape (D, r)
        mean_i f_s(i).
    self_means : array of shape (D,)
        mean_i |f_s(i)|².
    """

    tensor: Tensor
    means: FloatArray
    self_means: FloatArray


def place_landmarks(
    samples: Samples, scalars: Sequence[PairFunction], rank: int
) -> tuple[Landmarks, ...]:
    """Return the features of every column, from the pooled values."""
    landmarks = []
    for s, scalar in enumerate(scalars):
        column = np.array([s])
        pooled = np.concatenate([samples.x[:, column], samples.y[:, column]]).ravel()
        landmarks.append(Landmarks.of(scalar, pooled, rank))
    return tuple(landmarks)


def features_of(values: FloatArray, landmarks: Sequence[Landmarks], rank: int) -> Singles:
    """Return the features of some rows, of shape (rows, D, r); 0 where a column has fewer."""
    block = np.zeros((values.shape[0], len(landmarks), rank), dtype=np.float32)
    for s, column in enumerate(landmarks):
        block[:, s, : column.rank] = column.features(np.ascontiguousarray(values[:, s]))
    return block


def blocks_of(values: Values, landmarks: Sequence[Landmarks], rank: int) -> Iterator[Singles]:
    """Yield the features of one sample, a block of rows at a time."""
    n_columns = len(landmarks)
    step = max(64, current_budget().feature_block_entries // (n_columns * max(rank, 1)))
    all_columns = np.arange(n_columns)
    for start in range(0, values.shape[0], step):
        check_interrupts()
        rows = np.arange(start, min(start + step, values.shape[0]))
        yield features_of(rows_of(values, rows)[:, all_columns], landmarks, rank)


def products_of(
    values: Values, landmarks: Sequence[Landmarks], rank: int, centre: FloatArray | None = None
) -> Products:
    """Sum the products of features over the rows of one sample, less `centre` if given."""
    n_rows, n_columns = values.shape[0], len(landmarks)
    width = n_columns * rank
    means, products = np.zeros(width), np.zeros((width, width))
    self_products, self_means = np.zeros((n_columns, n_columns)), np.zeros(n_columns)
    for block in blocks_of(values, landmarks, rank):
        if centre is not None:
            block -= centre.astype(np.float32)
        squares = np.einsum("isa,isa->is", block, block)
        flat = block.reshape(-1, width)
        means += flat.sum(axis=0, dtype=np.float64)
        products += flat.T @ flat
        self_products += squares.T @ squares
        self_means += squares.sum(axis=0, dtype=np.float64)
    products = products.reshape(n_columns, rank, n_columns, rank) / n_rows
    return Products(
        Tensor(n_rows, products, self_products / n_rows),
        means.reshape(n_columns, rank) / n_rows,
        self_means / n_rows,
    )


def squared_difference(x: Tensor, y: Tensor) -> FloatArray:
    """Return the unbiased MMD² of k_s k_r for every two columns, of shape (D, D)."""
    total = -2 * np.einsum("sarb,sarb->sr", x.products, y.products)
    for tensor in (x, y):
        squares = np.einsum("sarb,sarb->sr", tensor.products, tensor.products)
        total += _without_own(squares, tensor.self_products, tensor.count)
    return np.asarray(total)


def squared_shift(x: Products, y: Products) -> FloatArray:
    """Return the unbiased MMD² of k_s for every column, of shape (D,)."""
    total = -2 * np.einsum("sa,sa->s", x.means, y.means)
    for products in (x, y):
        squares = np.einsum("sa,sa->s", products.means, products.means)
        total += _without_own(squares, products.self_means, products.tensor.count)
    return np.asarray(total)


def _without_own(over_all: FloatArray, of_own: FloatArray, count: int) -> FloatArray:
    """Return the mean over pairs of different rows, given that over all and that of a row's own."""
    return np.asarray((count * over_all - of_own) / (count - 1))


ACCURACY = 0.02
"""What features may err by: the root of the mean square of k_s(u, v) − f_s(u)ᵀf_s(v)."""
RANK = 10
"""Features of a column: a Gaussian k_s of normal values is kept to a few parts in a thousand."""
# Values of a column that the features are checked on.
_CHECKED = 200
# Rows whose R_i are made at once.
_ROWS_AT_ONCE = 64


class FeatureMoments(RowMoments):
    """As `RowMoments`, for all rows of `whole`; the row sums are those of the rows `drawn`.

    Parameters
    ----------
    whole : Samples
        All rows.
    drawn : Samples
        Some of them, for σ².
    kernel, regularization, memory_budget
        See `RowMoments`.
    """

    def __init__(
        self,
        whole: Samples,
        drawn: Samples,
        kernel: FittedKernel,
        regularization: float,
        memory_budget: int,
    ) -> None:
        self._whole = whole
        super().__init__(drawn, kernel, regularization, memory_budget)
        # σ² is that of all rows: 4ñ[var(p)/m + var(q)/n], the variances by the drawn ones.
        shares = [1 / (whole.n_x * drawn.n_x), 1 / (whole.n_y * drawn.n_y)]
        self._group_weights = np.repeat(shares, [drawn.n_x, drawn.n_y])

    def _variance_weight_of(self, regularization: float) -> float:
        m, n = self._whole.n_x, self._whole.n_y
        return 4 * regularization * 2 * m * n / (m + n)

    def _gathered(self) -> Moments:
        whole = self._whole.columns(self.varying)
        scalars = [self.kernel.scalars[s] for s in self.varying]
        landmarks = place_landmarks(whole, scalars, RANK)
        x, y = (products_of(values, landmarks, RANK) for values in (whole.x, whole.y))
        matrix = squared_difference(x.tensor, y.tensor)
        difference = (x.tensor.products - y.tensor.products).astype(np.float32)
        means = x.means - y.means
        size, n_rows = self._values.shape
        row_matrices, row_vectors = np.empty((n_rows, size, size)), np.empty((n_rows, size))
        for start in range(0, n_rows, _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            block = features_of(self._values[:, rows].T, landmarks, RANK)
            # (i, s, rb) = Σ_a f_s,a(i) C_sa,rb: one product for each column s.
            pulled = np.matmul(block.transpose(1, 0, 2), difference.reshape(size, RANK, -1))
            pulled = pulled.reshape(size, -1, size, RANK)
            row_matrices[rows] = np.einsum("sirb,irb->isr", pulled, block)
            row_vectors[rows] = np.einsum("isa,sa->is", block, means)
        return Moments((matrix + matrix.T) / 2, squared_shift(x, y), row_matrices, row_vectors)


def has_feature_moments(drawn: Samples, kernel: FittedKernel, memory_budget: int) -> bool:
    """Return whether the kernel is quadratic, its k_s have short features, and the sums fit.

    Only the sums of the `drawn` rows are held, and k_s is checked on these.
    """
    return fits(drawn, kernel, memory_budget) and _has_short_features(drawn, kernel)


def _has_short_features(samples: Samples, kernel: FittedKernel) -> bool:
    """Whether features stand for every k_s: a function of the user's own need not be a kernel."""
    varying = np.flatnonzero(~kernel.constant)
    held = samples.columns(varying)
    for s, landmarks in enumerate(
        place_landmarks(held, [kernel.scalars[i] for i in varying], RANK)
    ):
        column = np.array([s])
        values = np.concatenate([held.x[:_CHECKED, column], held.y[:_CHECKED, column]]).ravel()
        features = landmarks.features(values)
        error = features @ features.T - landmarks.scalar.gram(values, values)
        if np.sqrt(np.mean(np.square(error))) > ACCURACY:
            return False
    return True
