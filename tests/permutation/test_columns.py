"""Statistics of all columns under all permutations, against dense formulas."""

import numpy as np
import pytest

from permuted_samples import label_rows, make
from tellapart.kernels import GaussianScalar, Indicator, LaplaceScalar
from tellapart.permutation.forms import mmd_statistic, permuted_statistics, standardise
from tellapart.statistics.mmd import mmd2


def test_mmd_statistics_are_the_dense_formula_with_and_without_features():
    samples = make()
    scalars = (GaussianScalar(0.7), Indicator(), LaplaceScalar(1.3))
    labels, rows = label_rows(samples)
    table = permuted_statistics(samples, np.arange(3), labels, mmd_statistic(scalars), 1)
    pooled = np.concatenate([samples.x, samples.y])
    for i, row in enumerate(rows):
        for s, scalar in enumerate(scalars):
            x, y = pooled[row == 1, s], pooled[row == 0, s]
            expected = mmd2(scalar.gram(x, x), scalar.gram(y, y), scalar.gram(x, y))
            assert table[i, s] == pytest.approx(expected, abs=1e-10)


def test_standardised_columns_have_mean_zero_and_deviation_one():
    table = np.random.default_rng(0).normal(3.0, 5.0, size=(50, 4))
    table[:, 2] = 8.0
    standardised = standardise(table)
    assert standardised.mean(axis=0) == pytest.approx(np.zeros(4), abs=1e-12)
    assert standardised.std(axis=0) == pytest.approx([1, 1, 0, 1])
