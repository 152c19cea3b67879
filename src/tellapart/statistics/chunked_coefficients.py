"""a and V of the linear kernel over data in chunks: two passes of sums over the rows.

The first pass adds up the moments of every column's kernel in X and in Y, which give a and the
witness functions. The second evaluates those, p_i of the rows of X and q_j of the rows of Y, and
adds up their products over the columns, which give V; see `tellapart.statistics.coefficients`.
Arrays are the case of one chunk.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.chunks.chunked_samples import ChunkedSamples
from tellapart.data.chunks.fold import A, Fold, block_rows
from tellapart.kernels.base import FittedKernel, KernelMoments, ScalarKernel
from tellapart.progress import Progress, ShareDone, silent
from tellapart.statistics.coefficients import LinearCoefficients
from tellapart.statistics.column_witness import ColumnWitness
from tellapart.statistics.mmd import effective_size
from tellapart.threads import in_slices, in_threads, one_blas_thread

COLUMNS_AT_A_TIME = 4
# Rows whose products one thread takes at a time.
ROWS_AT_A_TIME = 1 << 13
# Means of a kernel over all pairs that differ from 1 by less are rounding: the column is constant.
ROUNDING = 1e-12


def coefficients_in_chunks(
    samples: ChunkedSamples,
    kernel: FittedKernel,
    *,
    n_jobs: int = 1,
    with_variance: bool = True,
    progress: Progress = silent,
) -> tuple[FittedKernel, LinearCoefficients]:
    """Return a and V over all rows, of the columns that vary, and which do.

    Parameters
    ----------
    samples : ChunkedSamples
        The two samples.
    kernel : FittedKernel
        One whose sums add up; see `tellapart.kernels.fit_on_draw`.
    n_jobs : int
        Threads, where the rows are not shared out already; they change no bit of the answer.
    with_variance : bool
        Whether V is needed: without it one pass does.
    progress : callable
        Told how far the work is.

    Returns
    -------
    kernel : FittedKernel
        The kernel with the columns that are constant over all rows marked.
    coefficients : LinearCoefficients
        Of the columns that are not.

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.data.chunks.chunked_samples import as_chunked
    >>> from tellapart.data.samples import Samples
    >>> from tellapart.kernels import Linear
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(200, 3)), rng.normal(size=(300, 3)) + [1, 0, 0]
    >>> samples = Samples(x, y, ("u", "v", "w"), ("numeric",) * 3)
    >>> _, found = coefficients_in_chunks(as_chunked(samples), Linear().fit(samples))
    >>> int(found.a.argmax()), found.V.shape
    (0, (3, 3))
    """
    passes = _Passes.of(samples, n_jobs, progress, 2 if with_variance else 1)
    scalars, varying = kernel.scalar_kernels, np.flatnonzero(~kernel.constant)
    columns = tuple(varying.tolist())
    of_x, of_y = (
        passes.over(sample, MomentSums(columns, tuple(scalars[s] for s in columns), threads))
        for sample, threads in enumerate(passes.threads)
    )
    m, n = samples.n_x, samples.n_y
    found = {}
    for s, x, y in zip(columns, of_x, of_y, strict=True):
        assert x is not None
        assert y is not None
        found[s] = ColumnWitness.of_sums(s, scalars[s].expand(x, y))
    constant = kernel.constant.copy()
    constant[[s for s in columns if _is_constant(found[s])]] = True
    used = [found[s] for s in columns if not constant[s]]
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

        def some(part: slice) -> None:
            for i in range(part.start, part.stop):
                moments = self.scalars[i].moments(values[:, self.columns[i]])
                held[i] = _merged(held[i], moments)

        in_slices(some, len(self.columns), COLUMNS_AT_A_TIME, self.n_jobs)
        return held

    def merge(
        self, left: list[KernelMoments | None], right: list[KernelMoments | None]
    ) -> list[KernelMoments | None]:
        """Return the moments over the rows of both."""
        return [_merged(mine, its) for mine, its in zip(left, right, strict=True)]


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

        def product(start: int) -> FloatArray:
            rows = slice(start, min(start + ROWS_AT_A_TIME, values.shape[0]))
            block = np.empty((len(self.columns), rows.stop - rows.start))
            for i, column in enumerate(self.columns):
                block[i] = column.centred(self.sample, rows, values[rows, column.index])
            block *= self.scale
            return block @ block.T

        starts = range(0, values.shape[0], ROWS_AT_A_TIME)
        # One BLAS thread, here as on a worker, where each block has a core of its own.
        with one_blas_thread():
            for term in in_threads(product, starts, self.n_jobs) if starts else ():
                held += term
        return held

    def merge(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return the products over the rows of both."""
        left += right
        return left


@dataclass(frozen=True, eq=False)
class _Passes:
    """Passes over both samples, of which progress tells the share that is done."""

    samples: ChunkedSamples
    share: ShareDone
    threads: tuple[int, int]
    _done: list[int]

    @classmethod
    def of(cls, samples: ChunkedSamples, n_jobs: int, progress: Progress, passes: int) -> _Passes:
        total = passes * (samples.n_x + samples.n_y)
        of_x, of_y = (1 if store.side_by_side else n_jobs for store in (samples.x, samples.y))
        return cls(samples, ShareDone(progress, "coefficients", total), (of_x, of_y), [0])

    def over(self, sample: int, fold: Fold[A]) -> A:
        """Return the sum over one of the samples."""
        store = (self.samples.x, self.samples.y)[sample]
        step = block_rows(self.samples.n_columns)
        found = store.fold(fold, step, self.share.after(self._done[0]))
        self._done[0] += store.shape[0]
        return found


def _merged(held: KernelMoments | None, more: KernelMoments | None) -> KernelMoments | None:
    return more if held is None else held if more is None else held.merge(more)


def _is_constant(column: ColumnWitness) -> bool:
    return min(column.mean_xx, column.mean_yy, column.mean_xy) > 1 - ROUNDING
