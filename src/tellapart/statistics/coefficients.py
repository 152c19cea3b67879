"""MMD², its variance under H1, and the coefficients (a, V) of the linear kernel.

    MMD²_u = Σ_{i≠j} K(x_i, x_j)/m(m−1) + Σ_{i≠j} K(y_i, y_j)/n(n−1) − 2 Σ_{ij} K(x_i, y_j)/mn
    p_i = mean_j K(x_i, x_j) − mean_j K(x_i, y_j),  q_j = mean_i K(y_j, y_i) − mean_i K(x_i, y_j)
    σ² = 4ñ [var(p)/m + var(q)/n],  ñ = 2mn/(m + n)

with population variances and the diagonals included in p and q. The "paired" estimator is the
paper's, for m = n: the mean over i ≠ j of H_ij = K(x_i, x_j) + K(y_i, y_j) − K(x_i, y_j) −
K(y_i, x_j), with σ² = 4 var(p_i + q_i).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.budget import current_budget
from tellapart.data.column_store import transposed
from tellapart.data.row_stores import A, Fold, block_rows
from tellapart.data.samples import Samples, map_columns
from tellapart.kernels.base import Expansion, FittedKernel, KernelMoments, ScalarKernel
from tellapart.progress import Progress, ShareDone, silent
from tellapart.statistics.mmd import effective_size
from tellapart.threads import in_slices, in_threads, one_blas_thread

B = TypeVar("B")

COLUMNS_AT_A_TIME = 4
# Means of a kernel over all pairs that differ from 1 by less are rounding: the column is constant.
ROUNDING = 1e-12


@dataclass(frozen=True)
class ColumnWitness:
    """The means of one column's kernel, and its p and q: by evaluation, or held."""

    index: int
    mean_xx: float
    mean_yy: float
    mean_xy: float
    diagonal_xy: float = math.nan
    witness: Callable[[FloatArray], FloatArray] | None = None
    held: tuple[FloatArray, FloatArray] | None = None

    @classmethod
    def of(
        cls, index: int, scalar: ScalarKernel, x: FloatArray, y: FloatArray, paired: bool
    ) -> ColumnWitness:
        """Return the witness of a column that is held as a whole."""
        n_pairs = x.size**2 + x.size * y.size + y.size**2
        if not paired and n_pairs <= current_budget().gram_pairs:
            return cls._of_few(index, scalar, x, y)
        sums = scalar.expand(scalar.moments(x), scalar.moments(y))
        # The cross terms i = j, which only the paired estimator leaves out.
        diagonal = float(scalar.elementwise(x, y).mean()) if paired else math.nan
        witness, held = None, None
        if scalar.compact:
            witness = sums.witness
        else:
            held = sums.witness(x), sums.witness(y)
        return cls(index, sums.mean_xx, sums.mean_yy, sums.mean_xy, diagonal, witness, held)

    @classmethod
    def of_sums(cls, index: int, sums: Expansion) -> ColumnWitness:
        """Return the witness of a column whose kernel sums are known."""
        return cls(index, sums.mean_xx, sums.mean_yy, sums.mean_xy, witness=sums.witness)

    @classmethod
    def _of_few(
        cls, index: int, scalar: ScalarKernel, x: FloatArray, y: FloatArray
    ) -> ColumnWitness:
        kxx, kyy, kxy = scalar.gram(x, x), scalar.gram(y, y), scalar.gram(x, y)
        held = kxx.mean(axis=1) - kxy.mean(axis=1), kxy.mean(axis=0) - kyy.mean(axis=1)
        means = float(kxx.mean()), float(kyy.mean()), float(kxy.mean())
        return cls(index, *means, held=held)

    def mmd2(self, m: int, n: int, paired: bool = False) -> float:
        """Return MMD²_u of samples of m and n rows, or the paired form."""
        # k(v, v) = 1 is taken out of the means over all pairs.
        within = (m * self.mean_xx - 1) / (m - 1) + (n * self.mean_yy - 1) / (n - 1)
        if paired:
            return within - 2 * (m * self.mean_xy - self.diagonal_xy) / (m - 1)
        return within - 2 * self.mean_xy

    @property
    def is_constant(self) -> bool:
        """Whether the column never varies: then all means are 1."""
        return min(self.mean_xx, self.mean_yy, self.mean_xy) > 1 - ROUNDING

    def centred(self, side: int, rows: slice, values: FloatArray) -> FloatArray:
        """Return p − mean(p) of some rows of x (side 0), or −(q − mean(q)) of y (side 1)."""
        if self.held is not None:
            result = self.held[side][rows].copy()
        else:
            assert self.witness is not None
            result = self.witness(values)
        result -= self.mean_xx - self.mean_xy if side == 0 else self.mean_xy - self.mean_yy
        return result


@dataclass(frozen=True)
class LinearCoefficients:
    """The objective of the linear kernel, F(z) = aᵀz − λ zᵀVz.

    Attributes
    ----------
    a : array of shape (D,)
        MMD² of each column under its scalar kernel.
    V : array of shape (D, D), or None
        The variance, σ²(z) = zᵀVz.
    B : array of shape (r, D), or None
        Its factor, V = BᵀB, in place of V where D is large.
    n_x, n_y : int
        Rows of the samples.
    """

    a: FloatArray
    V: FloatArray | None
    B: FloatArray | None
    n_x: int
    n_y: int

    def statistic(self, z: FloatArray) -> float:
        """Return MMD²(z) = aᵀz."""
        return float(self.a @ z)

    def variance_at(self, z: FloatArray) -> float:
        """Return σ²(z) = zᵀVz."""
        return float(z @ self.variance_product(z))

    def variance_product(self, z: FloatArray) -> FloatArray:
        """Return V z."""
        if self.B is not None:
            return self.B.T @ (self.B @ z)
        return self.variance_matrix() @ z

    def variance_matrix(self) -> FloatArray:
        """Return V as a matrix; avoid it where `B` is set and D is large."""
        if self.V is not None:
            return self.V
        assert self.B is not None
        return self.B.T @ self.B


def linear_coefficients(
    samples: Samples,
    kernel: FittedKernel,
    *,
    estimator: str = "unbiased",
    n_jobs: int = 1,
) -> LinearCoefficients:
    """Return a and V of the linear kernel, in O(n) per column and without n × n matrices.

    a_s is MMD² of column s under its scalar kernel. With P (m × D) and Q (n × D) the p_i and q_j
    of every column, V = 4ñ [cov(P)/m + cov(Q)/n], or 4 cov(P + Q) for "paired" (ddof 0).
    P and Q are made and used in blocks of rows. Where D > 2,000 and the rows of both samples are
    at most 2 D, a factor of V is returned instead of the D × D matrix.

    Parameters
    ----------
    samples : Samples
        The two samples.
    kernel : FittedKernel
        One with fast sums, that is a linear kernel; its constant columns get a_s = 0 and zero
        rows in V.
    estimator : {"unbiased", "paired"}
        "paired" is the paper's estimator and needs m = n.
    n_jobs : int
        Number of threads.

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.kernels import Linear
    >>> from tellapart.data.samples import Samples
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(200, 3)), rng.normal(size=(300, 3))
    >>> y[:, 0] += 1
    >>> samples = Samples(x, y, ("u", "v", "w"), ("numeric",) * 3)
    >>> coefficients = linear_coefficients(samples, Linear().fit(samples))
    >>> int(coefficients.a.argmax()), coefficients.V.shape
    (0, (3, 3))
    """
    m, n = samples.n_x, samples.n_y
    paired = estimator == "paired"
    columns = _expanded(samples, kernel, paired, n_jobs)
    a = _mmd2(samples, columns, paired)
    D, budget = samples.n_columns, current_budget()
    if paired:
        terms = [_VarianceTerm((0, 1), m, 4.0 / m)]
    else:
        scale = 4 * effective_size(m, n)
        terms = [_VarianceTerm((0,), m, scale / m**2), _VarianceTerm((1,), n, scale / n**2)]
    n_rows = sum(term.rows for term in terms)
    blocks = [
        (term, rows)
        for term in terms
        for rows in _slices(term.rows, max(1, budget.coefficient_block_entries // D))
    ]

    def block_of(block: tuple[_VarianceTerm, slice]) -> FloatArray:
        return block[0].rows_of(samples, columns, block[1])

    if budget.dense_variance_columns >= D or n_rows > budget.factor_rows_per_column * D:
        V = add_products(np.zeros((D, D)), block_of, blocks, n_jobs)
        return LinearCoefficients(a, V, None, m, n)
    factor = np.empty((n_rows, D))

    def fill(block: tuple[_VarianceTerm, slice]) -> None:
        start = 0 if block[0] is terms[0] else terms[0].rows
        factor[start + block[1].start : start + block[1].stop] = block_of(block).T

    in_threads(fill, blocks, n_jobs)
    return LinearCoefficients(a, None, factor, m, n)


def linear_part(samples: Samples, kernel: FittedKernel, n_jobs: int) -> FloatArray:
    """Return a of the linear kernel alone, all that its objective needs at λ = 0."""
    return _mmd2(samples, _expanded(samples, kernel, paired=False, n_jobs=n_jobs), paired=False)


def _expanded(
    samples: Samples, kernel: FittedKernel, paired: bool, n_jobs: int
) -> Sequence[ColumnWitness]:
    scalars = kernel.scalar_kernels

    def expand(s: int, x: FloatArray, y: FloatArray) -> ColumnWitness:
        return ColumnWitness.of(s, scalars[s], x, y, paired)

    return map_columns(expand, samples, np.flatnonzero(~kernel.constant), n_jobs)


def _mmd2(samples: Samples, columns: Sequence[ColumnWitness], paired: bool) -> FloatArray:
    a = np.zeros(samples.n_columns)
    for column in columns:
        a[column.index] = column.mmd2(samples.n_x, samples.n_y, paired)
    return a


@dataclass(frozen=True)
class _VarianceTerm:
    """A term weight · CᵀC of V, C the centred rows of P, of Q, or of P + Q."""

    sides: tuple[int, ...]
    rows: int
    weight: float

    def rows_of(
        self, samples: Samples, columns: Sequence[ColumnWitness], rows: slice
    ) -> FloatArray:
        """Return some rows of √weight · C as columns: an array of shape (D, rows)."""
        total = np.zeros((samples.n_columns, rows.stop - rows.start))
        for side in self.sides:
            values = transposed((samples.x, samples.y)[side], None, rows)
            scale = math.sqrt(self.weight) * (1.0 if side == 0 else -1.0)
            for column in columns:
                centred = column.centred(side, rows, values[column.index])
                centred *= scale
                total[column.index] += centred
        return total


def add_products(
    total: FloatArray, block_of: Callable[[B], FloatArray], blocks: Sequence[B], n_jobs: int
) -> FloatArray:
    """Add C Cᵀ of every block of rows to the total, in order: threads change no bit of the sum."""

    def product(block: B) -> FloatArray:
        rows = block_of(block)
        return rows @ rows.T

    # One BLAS thread in each of ours: on a busy machine its own threads wait for each other far
    # longer than the products take. A few blocks at a time bound the memory.
    with one_blas_thread():
        for i in range(0, len(blocks), n_jobs):
            for term in in_threads(product, blocks[i : i + n_jobs], n_jobs):
                total += term
    return total


def _slices(n_rows: int, step: int) -> list[slice]:
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def coefficients_in_chunks(
    samples: Samples,
    kernel: FittedKernel,
    *,
    n_jobs: int = 1,
    with_variance: bool = True,
    progress: Progress = silent,
) -> tuple[FittedKernel, LinearCoefficients]:
    """Return a and V over all rows, of the columns that vary, and which do.

    The first pass over the rows adds up the moments of every column's kernel in X and in Y, which
    give a and the witness functions. The second evaluates those, p_i of the rows of X and q_j of
    the rows of Y, and adds up their products over the columns, which give V.

    Parameters
    ----------
    samples : Samples
        The two samples.
    kernel : FittedKernel
        One whose sums add up; see `tellapart.kernels.bandwidth`.
    n_jobs : int
        Threads, where the rows are not shared out already; they change no bit of the answer.
    with_variance : bool
        Whether V is needed: without it one pass does.
    progress : callable
        Called with the progress of the work.

    Returns
    -------
    kernel : FittedKernel
        The kernel with the columns that are constant over all rows marked.
    coefficients : LinearCoefficients
        Of the columns that are not.

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.data.samples import Samples
    >>> from tellapart.kernels import Linear
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(200, 3)), rng.normal(size=(300, 3)) + [1, 0, 0]
    >>> samples = Samples(x, y, ("u", "v", "w"), ("numeric",) * 3)
    >>> _, coefficients = coefficients_in_chunks(samples, Linear().fit(samples))
    >>> int(coefficients.a.argmax()), coefficients.V.shape
    (0, (3, 3))
    """
    passes = _Passes.of(samples, n_jobs, progress, 2 if with_variance else 1)
    scalars, varying = kernel.scalar_kernels, np.flatnonzero(~kernel.constant)
    columns = tuple(varying.tolist())
    of_x, of_y = (
        passes.over(sample, MomentSums(columns, tuple(scalars[s] for s in columns), threads))
        for sample, threads in enumerate(passes.threads)
    )
    m, n = samples.n_read
    witnesses = [
        ColumnWitness.of_sums(s, scalars[s].expand(x, y))
        for s, x, y in zip(columns, of_x, of_y, strict=True)
    ]
    constant = kernel.constant.copy()
    constant[[column.index for column in witnesses if column.is_constant]] = True
    used = [column for column in witnesses if not column.is_constant]
    a = np.array([column.mmd2(m, n) for column in used])
    fitted = replace(kernel, constant=constant)
    if not with_variance:
        return fitted, LinearCoefficients(a, None, None, m, n)
    V = np.zeros((len(used), len(used)))
    scale = 4 * effective_size(m, n)
    for sample, (rows, threads) in enumerate(zip((m, n), passes.threads, strict=True)):
        fold = WitnessProducts(tuple(used), sample, math.sqrt(scale) / rows, threads)
        V += passes.over(sample, fold)
    return fitted, LinearCoefficients(a, V, None, m, n)


@dataclass(frozen=True, eq=False)
class MomentSums:
    """The fold of the first pass: the moments of every column's kernel in one sample."""

    columns: tuple[int, ...]
    scalars: tuple[ScalarKernel, ...]
    n_jobs: int = 1

    def start(self) -> list[KernelMoments | None]:
        """Return the moments of no rows."""
        return [None] * len(self.columns)

    def add(
        self,
        held: list[KernelMoments | None],
        first_row: int,  # noqa: ARG002
        values: FloatArray,
    ) -> list[KernelMoments | None]:
        """Add the moments of a block."""
        if values.shape[0] == 0:
            return held

        def add_some(positions: slice) -> None:
            for i in range(positions.start, positions.stop):
                moments = self.scalars[i].moments(values[:, self.columns[i]])
                held[i] = _merged(held[i], moments)

        in_slices(add_some, len(self.columns), COLUMNS_AT_A_TIME, self.n_jobs)
        return held

    def merge(
        self, left: list[KernelMoments | None], right: list[KernelMoments | None]
    ) -> list[KernelMoments | None]:
        """Return the moments over the rows of both."""
        return [_merged(first, second) for first, second in zip(left, right, strict=True)]


@dataclass(frozen=True, eq=False)
class WitnessProducts:
    """The fold of the second pass: CᵀC, C the centred p (sample 0) or q (sample 1) times `scale`.

    One row of C for each row of the sample, one column for each of `columns`.
    """

    columns: tuple[ColumnWitness, ...]
    sample: int
    scale: float
    n_jobs: int = 1

    def start(self) -> FloatArray:
        """Return the products over no rows."""
        return np.zeros((len(self.columns), len(self.columns)))

    def add(self, held: FloatArray, first_row: int, values: FloatArray) -> FloatArray:  # noqa: ARG002
        """Add the products over a block."""

        def block_of(rows: slice) -> FloatArray:
            block = np.empty((len(self.columns), rows.stop - rows.start))
            for i, column in enumerate(self.columns):
                block[i] = column.centred(self.sample, rows, values[rows, column.index])
            block *= self.scale
            return block

        # Of one BLAS thread on a worker, too, where each block has a core of its own.
        slices = _slices(values.shape[0], current_budget().product_rows)
        return add_products(held, block_of, slices, self.n_jobs)

    def merge(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return the products over the rows of both."""
        left += right
        return left


@dataclass(frozen=True, eq=False)
class _Passes:
    """Passes over both samples, which report their progress."""

    samples: Samples
    share: ShareDone
    threads: tuple[int, int]
    _done: list[int]

    @classmethod
    def of(cls, samples: Samples, n_jobs: int, progress: Progress, passes: int) -> _Passes:
        total = passes * sum(samples.n_read)
        of_x, of_y = (1 if store.side_by_side else n_jobs for store in samples.stores)
        return cls(samples, ShareDone(progress, "coefficients", total), (of_x, of_y), [0])

    def over(self, sample: int, fold: Fold[A]) -> A:
        """Return the sum over one of the samples."""
        store = self.samples.stores[sample]
        step = block_rows(self.samples.n_columns)
        total = store.fold(fold, step, self.share.after(self._done[0]))
        self._done[0] += store.shape[0]
        return total


def _merged(held: KernelMoments | None, more: KernelMoments | None) -> KernelMoments | None:
    return more if held is None else held if more is None else held.merge(more)
