"""The statistic of every column under every permutation of the rows, or of bins of them.

One shared set of permutations gives a matrix T, one row per permutation, the true labels first,
and one column per variable: what tests of several variables, or of the best few, compare.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.by_column import map_columns
from tellapart.data.samples import Samples
from tellapart.kernels.base import ScalarKernel
from tellapart.permutation.bins import PermutedBins
from tellapart.permutation.forms import ColumnSums

# Labels of rows at a time, 64 MB.
LABEL_ENTRIES = 8_000_000
# Standardised statistics, of size 1, closer than this are a tie.
TIE = 1e-9

ColumnStatistic = Callable[[int, FloatArray, PermutedBins], FloatArray]
"""From a column, its pooled values and the permuted bins to a statistic for each permutation."""
WeightStatistic = Callable[[int, FloatArray, FloatArray], FloatArray]
"""From a column, its pooled values and weights w of shape (k, m + n) to the k statistics.

A row of w has 1/n_x for rows of x and −1/n_y for those of y, so that w·f = mean_x f − mean_y f.
"""


def mmd_statistic(scalars: tuple[ScalarKernel, ...]) -> ColumnStatistic:
    """Return the function that gives MMD²_u of one column for each permutation.

    It needs the sums of the column's kernel between bins only.
    """

    def statistic(column: int, values: FloatArray, bins: PermutedBins) -> FloatArray:
        return ColumnSums(scalars[column], values[bins.order], bins.starts).mmd2(bins)

    return statistic


def by_rows(statistic: WeightStatistic) -> ColumnStatistic:
    """Return a statistic of the weights of rows as one of the permuted bins.

    Under a design they are those of features centred within blocks: see
    `tellapart.permutation.units`.
    """

    def of_bins(column: int, values: FloatArray, bins: PermutedBins) -> FloatArray:
        entries = LABEL_ENTRIES * bins.n_groups // values.shape[0]
        return np.concatenate(
            [
                statistic(column, values, bins.of_rows(bins.weights(labels)))
                for _, labels in bins.blocks(entries)
            ]
        )

    return of_bins


def permuted_statistics(
    samples: Samples,
    columns: IntArray,
    bins: PermutedBins,
    statistic: ColumnStatistic,
    n_jobs: int,
) -> FloatArray:
    """Return T: the statistic of each column under each permutation, shape (k, |columns|)."""

    def of_column(s: int, x: FloatArray, y: FloatArray) -> FloatArray:
        return statistic(s, np.concatenate([x, y]), bins)

    return np.array(map_columns(of_column, samples, columns, n_jobs)).T


def standardise(table: FloatArray) -> FloatArray:
    """Return T less its mean over the permutations, in units of its standard deviation.

    Both are symmetric in the permutations, the true one included, so these stay exchangeable.
    """
    deviations = table.std(axis=0)
    flat = deviations <= TIE * np.abs(table).max(axis=0)
    centred: FloatArray = table - table.mean(axis=0)
    return np.asarray(np.where(flat, 0.0, centred / np.where(flat, 1.0, deviations)))
