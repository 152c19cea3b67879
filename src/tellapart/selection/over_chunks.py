"""The linear kernel of samples in chunks, with its coefficients summed over all their rows."""

from __future__ import annotations

from dataclasses import dataclass

from tellapart.data.chunks.chunked_samples import ChunkedSamples
from tellapart.kernels import FittedKernel, Kernel
from tellapart.kernels.fit_on_draw import adds_up, fit_on_draw
from tellapart.progress import Progress
from tellapart.statistics.chunked_coefficients import coefficients_in_chunks
from tellapart.statistics.coefficients import LinearCoefficients


@dataclass(frozen=True)
class SummedKernel:
    """A kernel frozen on drawn rows, and a and V over all rows of the columns that vary."""

    kernel: FittedKernel
    coefficients: LinearCoefficients


def sum_over_chunks(
    samples: ChunkedSamples,
    kernel: Kernel,
    *,
    n_jobs: int,
    progress: Progress,
    with_variance: bool = True,
) -> SummedKernel | None:
    """Fit the kernel on drawn rows and sum its coefficients over all rows.

    None for kernels whose sums do not add up over chunks: those that are no sum over columns,
    and the linear one of Laplace kernels, which needs every value. They choose by drawn rows, and
    so does every kernel where values are missing: what is missing is filled in there.
    """
    if samples.pattern is not None or not kernel.abilities.fast_sums:
        return None
    fitted = fit_on_draw(kernel, samples, n_jobs=n_jobs)
    if not adds_up(fitted):
        return None
    found = coefficients_in_chunks(
        samples, fitted, n_jobs=n_jobs, with_variance=with_variance, progress=progress
    )
    return SummedKernel(*found)
