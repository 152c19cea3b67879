"""Errors under designs: those of paired and cluster-level t tests."""

import numpy as np
import pytest
from scipy import stats

from tellapart.data.design import Design
from tellapart.effects.columns import Column, location
from tellapart.effects.estimate import IndependentRows, sampling_of


def error_of(x, y, design):
    sampling = sampling_of(design)
    errors = sampling.errors((x - x.mean())[:, None], (y - y.mean())[:, None])
    return float(errors.standard_error[0]), float(errors.difference_degrees[0])


def test_independent_rows_have_welchs_error():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=30), 3 * rng.normal(size=12)
    error, degrees = error_of(x, y, None)
    known = stats.ttest_ind(x, y, equal_var=False)
    assert (x.mean() - y.mean()) / error == pytest.approx(known.statistic)
    assert degrees == pytest.approx(known.df)


def test_pairs_have_the_error_of_their_differences():
    rng = np.random.default_rng(1)
    x = rng.normal(size=25)
    y = x + 0.3 * rng.normal(size=25)
    numbers = np.arange(25)
    design = Design((numbers, numbers), (numbers, numbers), paired="id")
    error, degrees = error_of(x, y, design)
    known = stats.ttest_rel(x, y)
    assert (x.mean() - y.mean()) / error == pytest.approx(known.statistic)
    assert degrees == known.df


def test_clusters_of_equal_size_have_the_error_of_their_means():
    rng = np.random.default_rng(2)
    units = np.repeat(np.arange(8), 10)
    x, y = (rng.normal(size=80) + rng.normal(size=8)[units] for _ in range(2))
    one = np.zeros(80, dtype=np.intp)
    design = Design((one, one), (units, units), clusters="donor")
    error, _ = error_of(x, y, design)
    means = [side.reshape(8, 10).mean(axis=1) for side in (x, y)]
    known = stats.ttest_ind(*means, equal_var=False)
    assert (x.mean() - y.mean()) / error == pytest.approx(known.statistic)


def test_strata_that_differ_make_no_difference_between_the_samples():
    """Strata of means 0 and 10, of which X has more of the second: no effect within them."""
    rng = np.random.default_rng(3)
    blocks_x, blocks_y = np.repeat([0, 1], [20, 80]), np.repeat([0, 1], [80, 20])
    x, y = (rng.normal(size=100) + 10 * blocks for blocks in (blocks_x, blocks_y))
    rows = np.arange(100)
    design = Design((blocks_x, blocks_y), (rows, rows), strata="site")
    found = location(Column.of(x, y, sampling_of(design)))
    assert abs(found.values[0] - found.values[1]) < 0.6
    assert found.pvalue > 0.01
    assert location(Column.of(x, y, IndependentRows())).pvalue < 1e-10
