"""Sums of random features over groups of rows."""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.compiling import compiled
from tellapart.data.samples import Samples
from tellapart.kernels.random_features import RandomFeatures
from tellapart.permutation.bins import PermutedBins
from tellapart.permutation.forms import Forms, forms_of
from tellapart.threads import in_threads, one_blas_thread

# Rows of features at a time in each thread: 16 MB at 2,048 of them.
BLOCK_ROWS = 2_048


def random_forms(
    samples: Samples, features: RandomFeatures, bins: PermutedBins, n_jobs: int
) -> Forms:
    """Return the forms of the kernel that the features approximate."""
    every = np.arange(samples.n_columns)
    pooled = np.concatenate([samples.x[:, every], samples.y[:, every]])
    centre = np.where([kind == "categorical" for kind in samples.kinds], 0.0, _middle(pooled))
    sums = np.zeros((bins.n_groups, 2 * features.weights.shape[0]))
    group = np.repeat(np.arange(bins.n_groups), bins.rows)
    starts = range(0, pooled.shape[0], BLOCK_ROWS)

    def work(start: int) -> tuple[int, FloatArray]:
        rows = slice(start, min(start + BLOCK_ROWS, pooled.shape[0]))
        values = features.of(pooled[bins.order[rows]], centre)
        mine = group[rows]
        part = np.zeros((int(mine[-1] - mine[0]) + 1, values.shape[1]))
        _add_rows(values, mine - mine[0], part)
        return int(mine[0]), part

    with one_blas_thread():
        for i in range(0, len(starts), 4 * n_jobs):
            for first, part in in_threads(work, starts[i : i + 4 * n_jobs], n_jobs):
                sums[first : first + part.shape[0]] += part
    forms = forms_of(bins, n_jobs)
    forms.add_features(sums, np.tile(features.weights, 2))
    forms.leave_out_diagonal(np.multiply(features.diagonal, bins.rows))
    forms.magnitude = features.magnitude
    return forms


@compiled
def _add_rows(values, group, sums):  # type: ignore[no-untyped-def]
    for i in range(values.shape[0]):
        row = sums[group[i]]
        for j in range(values.shape[1]):
            row[j] += values[i, j]


def _middle(pooled: FloatArray) -> FloatArray:
    return np.asarray(np.median(pooled, axis=0))
