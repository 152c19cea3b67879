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
from tellapart.data.samples import Samples, Values, rows_of
from tellapart.interrupts import check_interrupts
from tellapart.kernels.base import FittedKernel, PairFunction
from tellapart.kernels.random_features import Landmarks
from tellapart.statistics.objective import MEMORY_BUDGET, FittedObjective
from tellapart.statistics.objective_sums import IndexSums, Moments, RowMoments, fits

# Products of short features, summed over all rows of each sample: one pass, no pairs of rows.
#
# Let f_s be features of column s, k_s(u, v) ≈ f_s(u)ᵀf_s(v), and C_sr = mean_i f_s(i) f_r(i)ᵀ of
# one sample. Then the mean over pairs of its rows of k_s k_r is ‖C_sr‖²_F, and between two
# samples it is ⟨C_sr, C′_sr⟩. Pairs of a row with itself are told apart by Σ_i |f_s(i)|²
# |f_r(i)|².


# Numbers in a block of features: 16 MB in single precision.
_BLOCK_ENTRIES = 4_194_304


@dataclass(frozen=True)
class Tensor:
    """The mean products of features of every two columns in one sample.

    Attributes
    ----------
    count : int
        Rows.
    products : array of shape (D, r, D, r)
        C: mean_i f_s(i) f_r(i)ᵀ.
    own : array of shape (D, D)
        mean_i |f_s(i)|² |f_r(i)|².
    """

    count: int
    products: FloatArray
    own: FloatArray


@dataclass(frozen=True)
class Products:
    """What the features of one sample add up to; D columns of r features each.

    Attributes
    ----------
    tensor : Tensor
        Of every two columns.
    means : array of shape (D, r)
        mean_i f_s(i).
    own_means : array of shape (D,)
        mean_i |f_s(i)|².
    """

    tensor: Tensor
    means: FloatArray
    own_means: FloatArray


def place_landmarks(
    samples: Samples, scalars: Sequence[PairFunction], rank: int
) -> tuple[Landmarks, ...]:
    """Return the features of every column, from the pooled values."""
    found = []
    for s, scalar in enumerate(scalars):
        column = np.array([s])
        pooled = np.concatenate([samples.x[:, column], samples.y[:, column]]).ravel()
        found.append(Landmarks.of(scalar, pooled, rank))
    return tuple(found)


def features_of(values: FloatArray, landmarks: Sequence[Landmarks], rank: int) -> Singles:
    """Return the features of some rows, of shape (rows, D, r); 0 where a column has fewer."""
    block = np.zeros((values.shape[0], len(landmarks), rank), dtype=np.float32)
    for s, one in enumerate(landmarks):
        block[:, s, : one.rank] = one.features(np.ascontiguousarray(values[:, s]))
    return block


def blocks_of(values: Values, landmarks: Sequence[Landmarks], rank: int) -> Iterator[Singles]:
    """Yield the features of one sample, a block of rows at a time."""
    n_columns = len(landmarks)
    step = max(64, _BLOCK_ENTRIES // (n_columns * max(rank, 1)))
    everything = np.arange(n_columns)
    for start in range(0, values.shape[0], step):
        check_interrupts()
        rows = np.arange(start, min(start + step, values.shape[0]))
        yield features_of(rows_of(values, rows)[:, everything], landmarks, rank)


def products_of(
    values: Values, landmarks: Sequence[Landmarks], rank: int, centre: FloatArray | None = None
) -> Products:
    """Sum the products of features over the rows of one sample, less `centre` if given."""
    n_rows, n_columns = values.shape[0], len(landmarks)
    width = n_columns * rank
    means, products = np.zeros(width), np.zeros((width, width))
    own, own_means = np.zeros((n_columns, n_columns)), np.zeros(n_columns)
    for block in blocks_of(values, landmarks, rank):
        if centre is not None:
            block -= centre.astype(np.float32)
        squares = np.einsum("isa,isa->is", block, block)
        flat = block.reshape(-1, width)
        means += flat.sum(axis=0, dtype=np.float64)
        products += flat.T @ flat
        own += squares.T @ squares
        own_means += squares.sum(axis=0, dtype=np.float64)
    products = products.reshape(n_columns, rank, n_columns, rank) / n_rows
    return Products(
        Tensor(n_rows, products, own / n_rows),
        means.reshape(n_columns, rank) / n_rows,
        own_means / n_rows,
    )


def squared_difference(x: Tensor, y: Tensor) -> FloatArray:
    """Return the unbiased MMD² of k_s k_r for every two columns, of shape (D, D)."""
    total = -2 * np.einsum("sarb,sarb->sr", x.products, y.products)
    for one in (x, y):
        squares = np.einsum("sarb,sarb->sr", one.products, one.products)
        total += _without_own(squares, one.own, one.count)
    return np.asarray(total)


def squared_shift(x: Products, y: Products) -> FloatArray:
    """Return the unbiased MMD² of k_s for every column, of shape (D,)."""
    total = -2 * np.einsum("sa,sa->s", x.means, y.means)
    for one in (x, y):
        squares = np.einsum("sa,sa->s", one.means, one.means)
        total += _without_own(squares, one.own_means, one.tensor.count)
    return np.asarray(total)


def _without_own(over_all: FloatArray, own: FloatArray, count: int) -> FloatArray:
    """Return the mean over pairs of different rows, given that over all and that of a row's own."""
    return np.asarray((count * over_all - own) / (count - 1))


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


class FeatureObjective(FittedObjective):
    """F of the quadratic kernel on many rows, by `FeatureMoments`; see `FittedObjective`.

    `samples` are the drawn rows, `whole` all of them.
    """

    def __init__(
        self,
        whole: Samples,
        drawn: Samples,
        kernel: FittedKernel,
        regularization: float,
        memory_budget: int = MEMORY_BUDGET,
        *,
        nonnegative: bool = False,
    ) -> None:
        super().__init__(drawn, kernel, regularization, memory_budget, nonnegative=nonnegative)
        self.whole = whole
        sums = FeatureMoments(whole, drawn, kernel, regularization, memory_budget)
        self._sums = IndexSums(sums, kernel, drawn)

    @staticmethod
    def serves(drawn: Samples, kernel: FittedKernel, memory_budget: int = MEMORY_BUDGET) -> bool:
        """Whether the kernel is quadratic, its k_s have short features, and the sums fit in memory.

        Only the sums of the `drawn` rows are held, and k_s is checked on these.
        """
        return fits(drawn, kernel, memory_budget) and _has_short_features(drawn, kernel)

    def columns(self, index: IntArray) -> FeatureObjective:
        """Return the objective of some variables only, the others at 0, kernel as it is."""
        return FeatureObjective(
            self.whole.columns(index),
            self.samples.columns(index),
            self.kernel.columns(index),
            self.regularization,
            self.memory_budget,
            nonnegative=self.nonnegative,
        )

    @property
    def n_features(self) -> int:
        """Features of a column."""
        return RANK


def _has_short_features(samples: Samples, kernel: FittedKernel) -> bool:
    """Whether features stand for every k_s: a function of the user's own need not be a kernel."""
    varying = np.flatnonzero(~kernel.constant)
    part = samples.columns(varying)
    for s, one in enumerate(place_landmarks(part, [kernel.scalars[i] for i in varying], RANK)):
        column = np.array([s])
        values = np.concatenate([part.x[:_CHECKED, column], part.y[:_CHECKED, column]]).ravel()
        features = one.features(values)
        error = features @ features.T - one.scalar.gram(values, values)
        if np.sqrt(np.mean(np.square(error))) > ACCURACY:
            return False
    return True
