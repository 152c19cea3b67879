"""The witness function: which sample is the denser at a point, as the kernel sees it."""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.samples import Samples
from tellapart.kernels.base import FittedKernel

BLOCK_BYTES = 100_000_000


def mean_difference(
    kernel: FittedKernel, samples: Samples, z: FloatArray, points: FloatArray
) -> FloatArray:
    """Return mean_i K_z(x_i, v) − mean_j K_z(y_j, v) at each point v, in bounded memory."""
    every = np.arange(samples.n_columns)
    x, y = samples.x[:, every], samples.y[:, every]
    step = max(BLOCK_BYTES // (8 * max(samples.n_x, samples.n_y)), 1)
    parts = [
        kernel.gram(points[start : start + step], x, z).mean(axis=1)
        - kernel.gram(points[start : start + step], y, z).mean(axis=1)
        for start in range(0, points.shape[0], step)
    ]
    return np.concatenate(parts) if parts else np.zeros(0)
