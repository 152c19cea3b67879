"""Labels by shared orders: which sample the first rows are, and forms of both."""

import numpy as np
import pytest

from tellapart.permutation.shared_orders import RowOrders, SharedOrders


@pytest.mark.parametrize("n_x", [8, 20, 33])
def test_contrasts_are_those_of_dense_weights(n_x):
    rng = np.random.default_rng(0)
    n_rows = 40
    rows = rng.permutation(n_rows)
    rows_x, rows_y = np.sort(rows[:n_x]), np.sort(rows[n_x:])
    size = min(n_x, n_rows - n_x)
    orders = RowOrders.draw(n_rows, np.array([3, size]), 12, seed=4)
    labels = SharedOrders.of(orders, rows_x, rows_y)
    assert (labels.count, labels.n_bins, labels.fewest) == (13, n_rows, size)
    assert labels.of_x == (n_x <= 20)
    root = rng.normal(size=(n_rows, n_rows))
    matrix = (root + root.T).astype(np.float32)
    found = labels.quadratic(orders.form(matrix))
    np.testing.assert_array_equal(labels.quadratic(matrix), found)
    smaller = [rows_x if labels.of_x else rows_y, *(order[:size] for order in orders.first)]
    for value, own in zip(found, smaller, strict=True):
        weights = np.full(n_rows, -1 / (n_rows - size))
        weights[own] = 1 / size
        assert value == pytest.approx(weights @ matrix @ weights, abs=1e-5)
