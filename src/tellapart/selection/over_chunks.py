"""The linear kernel of samples in chunks, with its coefficients summed over all their rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.data.chunks.chunked_samples import ChunkedSamples
from tellapart.kernels import FittedKernel, Kernel
from tellapart.kernels.fit_on_draw import adds_up, fit_on_draw
from tellapart.kernels.tuned import with_multiplier
from tellapart.progress import Progress
from tellapart.statistics.chunked_coefficients import coefficients_in_chunks
from tellapart.statistics.coefficients import LinearCoefficients

FEW_ROWS = 50


@dataclass(frozen=True)
class SummedKernel:
    """A kernel frozen on drawn rows, and a and V over all rows of the columns that vary."""

    kernel: FittedKernel
    coefficients: LinearCoefficients


def sums_add_up(samples: ChunkedSamples, kernel: Kernel) -> bool:
    """Say whether a choice with the kernel can be made of sums over chunks.

    Not where the kernel is no sum over columns, not with Laplace kernels, which need every value,
    and not where values are missing: what is missing is filled in among drawn rows, and those
    choose.
    """
    if samples.pattern is not None or not kernel.abilities.fast_sums:
        return False
    # Any bandwidth will do to tell.
    few = np.arange(min(FEW_ROWS, samples.drawn.n_x, samples.drawn.n_y))
    return adds_up(with_multiplier(kernel, 1.0).fit(samples.drawn.rows(few, few)))


def sum_over_chunks(
    samples: ChunkedSamples,
    kernel: Kernel,
    *,
    n_jobs: int,
    progress: Progress,
    with_variance: bool = True,
) -> SummedKernel | None:
    """Fit the kernel on drawn rows and sum its coefficients over all rows.

    None for kernels whose sums do not add up over chunks: see `sums_add_up`.
    """
    if not sums_add_up(samples, kernel):
        return None
    fitted = fit_on_draw(kernel, samples, n_jobs=n_jobs)
    found = coefficients_in_chunks(
        samples, fitted, n_jobs=n_jobs, with_variance=with_variance, progress=progress
    )
    return SummedKernel(*found)
