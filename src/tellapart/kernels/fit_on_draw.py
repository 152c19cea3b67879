"""Kernels fitted to samples in chunks: bandwidths come from rows drawn without regard to labels."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tellapart.data.chunks.chunked_samples import ChunkedSamples
from tellapart.kernels.bandwidth import check_extent
from tellapart.kernels.base import FittedKernel, Kernel


def fit_on_draw(kernel: Kernel, samples: ChunkedSamples, *, n_jobs: int = 1) -> FittedKernel:
    """Freeze the bandwidths on the rows drawn from both samples together, at most 65,536.

    Where these are all the rows, the bandwidths are those of all the rows. A column that varies,
    but not among the drawn rows, has values too rare to be drawn: its bandwidth is the distance of
    the farthest one from the others, as if one row with it had been drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.data.chunks.chunked_samples import as_chunked
    >>> from tellapart.data.samples import Samples
    >>> from tellapart.kernels import Linear
    >>> x, y = np.array([[0.0], [1.0]]), np.array([[3.0], [7.0]])
    >>> fit_on_draw(Linear(), as_chunked(Samples(x, y, ("u",), ("numeric",)))).scalars
    (GaussianScalar(bandwidth=3.5),)
    """
    values = samples.pooled.values
    usual = values[0]
    rare = (values.min(axis=0) == values.max(axis=0)) & (samples.least < samples.greatest)
    if rare.any():
        above = samples.greatest - usual >= usual - samples.least
        farthest = np.where(above, samples.greatest, samples.least)
        values = values.copy(order="F")
        values[0, rare] = farthest[rare]
    half = values.shape[0] // 2
    # Fitting pools the two samples: which rows are called x and which y does not matter.
    pooled = replace(samples.drawn, x=values[:half], y=values[half:], shared=None)
    fitted = kernel.fit(pooled, n_jobs=n_jobs)
    for s, scalar in enumerate(fitted.scalars):
        # Rows that were not drawn may lie anywhere.
        low, high = float(samples.least[s]), float(samples.greatest[s])
        check_extent(samples.names[s], low, high, getattr(scalar, "bandwidth", math.inf))
    return fitted


def adds_up(kernel: FittedKernel) -> bool:
    """Say whether all that a choice with the kernel needs of the rows are sums over chunks."""
    return kernel.abilities.fast_sums and all(scalar.compact for scalar in kernel.scalar_kernels)
