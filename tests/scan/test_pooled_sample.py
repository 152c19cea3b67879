"""Rows that make the tables: all, or a draw that labels have no part in, with a valid p-value."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tellapart.budget import Budget, using_budget
from tellapart.data.reader import read_samples
from tellapart.scan.scan import scan
from tellapart.scan.tables import PooledSample


def test_few_rows_are_all_there_those_of_x_first():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 3)), rng.normal(size=(20, 3))
    samples = read_samples(x, y)
    for found in (PooledSample.of(samples), PooledSample.of_all_rows(samples)):
        assert found.complete
        np.testing.assert_array_equal(found.values, np.vstack([x, y]))
        np.testing.assert_array_equal(found.limits[1], found.values.max(axis=0))


def test_of_many_rows_a_share_of_each_sample_is_drawn(set_budget):
    set_budget(pooled_rows=1000)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(9000, 2)), 10 + rng.normal(size=(3000, 2))
    found = PooledSample.of(replace(read_samples(x, y), seed=1))
    assert not found.complete
    assert found.values.shape == (1000, 2)
    share = (found.values[:, 0] < 5).mean()
    assert 0.7 < share < 0.8
    assert found.limits[0][0] == x[:, 0].min()
    some = found.some_rows(10**9, rng)
    assert some.shape == (1000, 2)  # never fewer than the plan needs


@pytest.mark.parametrize("nulls", [60, pytest.param(400, marks=pytest.mark.long)])
def test_the_level_holds_where_tables_are_made_of_drawn_rows(nulls):
    rejections = 0
    for seed in range(nulls):
        rng = np.random.default_rng(seed)
        x, y = rng.lognormal(size=(70, 4)), rng.lognormal(size=(50, 4))
        with using_budget(Budget(complete_rows=10, pooled_rows=60)):
            samples = replace(read_samples(x, y), seed=seed)
            assert not PooledSample.of(samples).complete
            found = scan(samples, n_permutations=39, alpha=0.1, rng=rng)
        rejections += found.null.pvalue <= 0.1
    low, high = stats.binom.ppf([5e-4, 1 - 5e-4], nulls, 0.1)
    assert low <= rejections <= high
