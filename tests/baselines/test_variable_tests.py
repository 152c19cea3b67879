"""Statistics per variable against SciPy and dense formulas; corrections by definition."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from permuted_samples import label_rows, make
from tellapart.baselines.bonferroni import (
    bonferroni,
    ks_statistic,
    ks_tests,
    max_t,
    own_pvalues,
    total_variation,
)
from tellapart.permutation.forms import by_rows, permuted_statistics, standardise


def test_ks_statistics_are_scipys_for_every_permutation_ties_included():
    samples = make()
    labels, rows = label_rows(samples)
    table = permuted_statistics(samples, np.arange(3), labels, by_rows(ks_statistic), 1)
    pooled = np.concatenate([samples.x, samples.y])
    for i, row in enumerate(rows):
        for s in range(3):
            expected = ks_2samp(pooled[row == 1, s], pooled[row == 0, s]).statistic
            assert table[i, s] == pytest.approx(expected, abs=1e-12)


def test_ks_tests_are_exact_for_few_rows_and_asymptotic_for_many(set_budget):
    samples = make()
    columns = np.arange(3)
    for how in ("exact", "asymp"):
        distances, pvalues = ks_tests(samples, columns, 1)
        expected = [ks_2samp(samples.x[:, s], samples.y[:, s], method=how) for s in range(3)]
        assert distances.tolist() == [one.statistic for one in expected]
        assert pvalues.tolist() == pytest.approx([one.pvalue for one in expected])
        set_budget(exact_distance_pairs=10)


def test_own_pvalues_count_the_true_labels_and_ties():
    table = np.array([[2.0, 1.0, 5.0], [3.0, 1.0, 5.0], [1.0, 1.0, 5.0], [2.0, 0.0, 5.0]])
    assert own_pvalues(standardise(table)).tolist() == [0.75, 0.75, 1.0]


def test_bonferroni_by_hand():
    pvalues = np.array([0.01, 0.02, 0.03, 0.9])
    assert bonferroni(pvalues) == pytest.approx([0.04, 0.08, 0.12, 1.0])


def test_max_t_steps_down_as_defined():
    table = np.random.default_rng(3).normal(size=(200, 5))
    table[0] = [4.0, 0.1, 2.5, 2.0, -1.0]
    order = [0, 2, 3, 1, 4]
    expected, last = {}, 0.0
    for j, s in enumerate(order):
        last = max(last, np.mean(table[:, order[j:]].max(axis=1) >= table[0, s] - 1e-12))
        expected[s] = last
    assert max_t(table) == pytest.approx([expected[s] for s in range(5)])


def test_max_t_of_copies_is_no_stricter_than_of_one():
    table = standardise(np.random.default_rng(3).normal(size=(100, 1)))
    copies = np.repeat(table, 30, axis=1)
    assert max_t(copies)[0] == own_pvalues(table)[0]
    assert bonferroni(own_pvalues(copies))[0] == min(1.0, 30 * own_pvalues(table)[0])


def test_total_variation_of_two_values_is_the_kolmogorov_smirnov_distance():
    rng = np.random.default_rng(0)
    labels = rng.permuted(np.tile(np.arange(20) < 8, (30, 1)), axis=1).astype(float)
    values = rng.integers(0, 2, 20).astype(float)
    weights = labels / 8 - (1 - labels) / 12
    np.testing.assert_allclose(
        total_variation(0, values, weights), ks_statistic(0, values, weights)
    )
