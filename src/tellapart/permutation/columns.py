"""The statistic of every column under every permutation of the rows.

One shared set of permutations gives a matrix T, one row per permutation, the true labels first,
and one column per variable: what tests of several variables, or of the best few, compare.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.by_column import map_columns
from tellapart.data.samples import Samples
from tellapart.interrupts import check_interrupts
from tellapart.kernels.base import ScalarKernel
from tellapart.permutation.labels import Permutations

# Labels at a time, 64 MB: features are made again for every block of them. And the pairs of rows
# of one block of a Gram matrix.
LABEL_ENTRIES = 8_000_000
GRAM_ENTRIES = 2_000_000
# Standardised statistics, of size 1, closer than this are a tie.
TIE = 1e-9

ColumnStatistic = Callable[[int, FloatArray, FloatArray], FloatArray]
"""From a column, its pooled values and labels of shape (k, m + n) to the k statistics."""


def mmd_statistic(scalars: tuple[ScalarKernel, ...]) -> ColumnStatistic:
    """Return the function that gives MMD²_u of one column for each row of labels.

    With features Φ of the pooled values, A = EΦ and B = (1 − E)Φ for labels E, it is
    (|A|² − m)/m(m − 1) + (|B|² − n)/n(n − 1) − 2 A·B/mn, row by row.
    """

    def statistic(column: int, values: FloatArray, labels: FloatArray) -> FloatArray:
        scalar = scalars[column]
        m = float(labels[0].sum())
        n = values.shape[0] - m
        features = scalar.features(values)
        if features is None:
            xx, yy, xy = _gram_sums(scalar, values, labels)
        else:
            a = labels @ features
            b = features.sum(axis=0) - a
            xx, yy = np.einsum("ij,ij->i", a, a), np.einsum("ij,ij->i", b, b)
            xy = np.einsum("ij,ij->i", a, b)
        return np.asarray((xx - m) / (m * (m - 1)) + (yy - n) / (n * (n - 1)) - 2 * xy / (m * n))

    return statistic


def _gram_sums(
    scalar: ScalarKernel, values: FloatArray, labels: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the sums of k within x, within y and across, for each row of labels."""
    xx, touching, total = np.zeros(labels.shape[0]), np.zeros(labels.shape[0]), 0.0
    step = max(GRAM_ENTRIES // values.shape[0], 1)
    for start in range(0, values.shape[0], step):
        rows = slice(start, start + step)
        gram = scalar.gram(values[rows], values)
        sums = gram.sum(axis=1)
        xx += np.einsum("ij,ij->i", labels[:, rows] @ gram, labels)
        touching += labels[:, rows] @ sums
        total += float(sums.sum())
    return xx, total - 2 * touching + xx, touching - xx


def permuted_statistics(
    samples: Samples,
    columns: IntArray,
    labels: Permutations,
    statistic: ColumnStatistic,
    n_jobs: int,
) -> FloatArray:
    """Return T: the statistic of each column under each permutation, shape (k, |columns|)."""
    n_rows, k = samples.n_x + samples.n_y, labels.bits.shape[0]
    table = np.empty((k, columns.shape[0]))
    step = max(LABEL_ENTRIES // n_rows, 1)
    for start in range(0, k, step):
        check_interrupts()
        rows = slice(start, min(start + step, k))
        block = Permutations(labels.bits[rows], labels.exact).block(0, n_rows)

        def of_column(
            s: int, x: FloatArray, y: FloatArray, block: FloatArray = block
        ) -> FloatArray:
            return statistic(s, np.concatenate([x, y]), block)

        table[rows] = np.array(map_columns(of_column, samples, columns, n_jobs)).T
    return table


def standardise(table: FloatArray) -> FloatArray:
    """Return T less its mean over the permutations, in units of its standard deviation.

    Both are symmetric in the permutations, the true one included, so these stay exchangeable.
    """
    deviations = table.std(axis=0)
    flat = deviations <= TIE * np.abs(table).max(axis=0)
    centred: FloatArray = table - table.mean(axis=0)
    return np.asarray(np.where(flat, 0.0, centred / np.where(flat, 1.0, deviations)))
