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
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.by_column import map_columns, transposed
from tellapart.data.samples import Samples
from tellapart.kernels.base import FittedKernel
from tellapart.statistics.column_witness import ColumnWitness
from tellapart.statistics.mmd import effective_size
from tellapart.threads import in_threads, one_blas_thread

# Columns up to which V is always formed as a matrix.
DENSE_COLUMNS = 2_000
# Rows of a factor of V at most, in multiples of D: beyond, the matrix is smaller and faster.
MOST_FACTOR_ROWS = 2
# Numbers in one block of rows: 8 MB.
BLOCK_ENTRIES = 1_048_576


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
    D = samples.n_columns
    if paired:
        parts = [_Part((0, 1), m, 4.0 / m)]
    else:
        scale = 4 * effective_size(m, n)
        parts = [_Part((0,), m, scale / m**2), _Part((1,), n, scale / n**2)]
    rows = sum(part.rows for part in parts)
    if D > DENSE_COLUMNS and rows <= MOST_FACTOR_ROWS * D:
        return LinearCoefficients(a, None, _factor(samples, columns, parts, n_jobs), m, n)
    return LinearCoefficients(a, _covariance(samples, columns, parts, n_jobs), None, m, n)


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
class _Part:
    """A term weight · CᵀC of V, C the centred rows of P, of Q, or of P + Q."""

    sides: tuple[int, ...]
    rows: int
    weight: float

    def block(self, samples: Samples, columns: Sequence[ColumnWitness], rows: slice) -> FloatArray:
        """Return the rows of √weight · C as columns: an array of shape (D, rows)."""
        total = np.zeros((samples.n_columns, rows.stop - rows.start))
        for side in self.sides:
            values = transposed((samples.x, samples.y)[side], None, rows)
            scale = math.sqrt(self.weight) * (1.0 if side == 0 else -1.0)
            for column in columns:
                part = column.centred(side, rows, values[column.index])
                part *= scale
                total[column.index] += part
        return total


def _covariance(
    samples: Samples, columns: Sequence[ColumnWitness], parts: Sequence[_Part], n_jobs: int
) -> FloatArray:
    D = samples.n_columns
    total = np.zeros((D, D))

    def product(task: tuple[_Part, slice]) -> FloatArray:
        block = task[0].block(samples, columns, task[1])
        return block @ block.T

    tasks = _tasks(parts, D)
    # One BLAS thread in each of ours: on a busy machine its own threads wait for each other far
    # longer than the products take.
    with one_blas_thread():
        # A few blocks at a time bound the memory; adding in order makes the sum independent of
        # the number of threads.
        for i in range(0, len(tasks), n_jobs):
            for term in in_threads(product, tasks[i : i + n_jobs], n_jobs):
                total += term
    return total


def _factor(
    samples: Samples, columns: Sequence[ColumnWitness], parts: Sequence[_Part], n_jobs: int
) -> FloatArray:
    factor = np.empty((sum(part.rows for part in parts), samples.n_columns))
    offset = {part.sides: sum(p.rows for p in parts[:i]) for i, part in enumerate(parts)}

    def fill(task: tuple[_Part, slice]) -> None:
        part, rows = task
        start = offset[part.sides]
        factor[start + rows.start : start + rows.stop] = part.block(samples, columns, rows).T

    in_threads(fill, _tasks(parts, samples.n_columns), n_jobs)
    return factor


def _tasks(parts: Sequence[_Part], n_columns: int) -> list[tuple[_Part, slice]]:
    step = max(1, BLOCK_ENTRIES // n_columns)
    return [
        (part, slice(start, min(start + step, part.rows)))
        for part in parts
        for start in range(0, part.rows, step)
    ]
