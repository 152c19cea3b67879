"""Statistics of whole rows: against their definitions over all pairs of rows."""

import numpy as np
import pandas as pd
from pools import is_x, make_pool
from scipy.spatial.distance import cdist

from tellapart.budget import Budget
from tellapart.scan.row_forms import RowForms, RowProducts, ridge_for


def _data(n_x, n_y, columns):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_x, columns)) + 0.3, rng.normal(size=(n_y, columns))


def test_energy_is_the_energy_distance():
    pool = make_pool(*_data(25, 30, 3), n_permutations=5)
    rows = RowForms(pool)
    found = rows.energy()
    points = pool.pooled_scores.clipped
    for e in range(pool.count):
        x, y = points[is_x(pool, e)], points[~is_x(pool, e)]
        expected = 2 * cdist(x, y).mean() - cdist(x, x).mean() - cdist(y, y).mean()
        assert abs(found[e] - expected) < 1e-3


def test_bins_give_the_same_energy_as_their_rows():
    pool = make_pool(*_data(1000, 1000, 2), n_permutations=3)
    assert pool.labels.rows_per_bin == 4
    found = RowForms(pool).energy()
    points = pool.pooled_scores.clipped
    x, y = points[is_x(pool, 1)], points[~is_x(pool, 1)]
    expected = 2 * cdist(x, y).mean() - cdist(x, x).mean() - cdist(y, y).mean()
    assert abs(found[1] - expected) < 1e-3


def test_the_dual_form_is_the_primal_one():
    pool = make_pool(*_data(12, 14, 40), n_permutations=5)
    rows = RowForms(pool)
    found = rows.decorrelated()
    values = pool.pooled_scores.clipped.astype(float)
    inverse = np.linalg.inv(values.T @ values / len(values) + ridge_for(40, 26) * np.eye(40))
    for e in range(pool.count):
        x = is_x(pool, e)
        delta = values[x].mean(axis=0) - values[~x].mean(axis=0)
        assert abs(found[e] / (delta @ inverse @ delta) - 1) < 1e-3


def test_columns_that_move_together_add_up():
    pool = make_pool(*_data(25, 30, 4), n_permutations=5)
    found, values = RowForms(pool).together(), pool.pooled_scores.clipped.astype(float)
    for e in range(pool.count):
        x = is_x(pool, e)
        total = (values[x].mean(axis=0) - values[~x].mean(axis=0)).sum()
        assert abs(found[e] - total**2) < 1e-4
    products = RowProducts()
    products.add(pool)
    np.testing.assert_allclose(RowForms(pool, products).together(), found, rtol=1e-3, atol=1e-6)


def test_a_sum_that_is_nothing_but_rounding_is_none():
    x, y = _data(25, 30, 2)
    pool = make_pool(np.hstack([x, -x]), np.hstack([y, -y]), n_permutations=9)
    assert not RowForms(pool).together().any()


def test_levels_have_no_direction():
    rng = np.random.default_rng(0)
    x, y = (
        pd.DataFrame({"a": rng.choice(list("abc"), 30), "b": rng.normal(size=30)}) for _ in "xy"
    )
    assert RowForms(make_pool(x, y)).n_numeric == 1


def test_of_many_rows_some_of_each_bin_are_kept():
    pool = make_pool(*_data(6000, 7000, 2), n_permutations=3)
    rows = RowForms(pool)
    assert (
        rows.rows_per_bin == Budget().distance_rows // pool.labels.n_bins < pool.labels.rows_per_bin
    )
    assert rows.points.n_rows == rows.rows_per_bin * pool.labels.n_bins
    assert not (rows.points.values == 0).all(axis=1).any()
    assert rows.energy()[0] > rows.energy()[1:].max()
