"""Orders of rows that comparisons share: their sums, and what they depend on."""

import numpy as np
import pytest

from tellapart.permutation.shared_orders import RowOrders, WholeMatrix

SIZES = np.array([3, 7, 30, 31, 40])


@pytest.fixture(scope="module")
def orders():
    return RowOrders.draw(90, SIZES, 25, seed=1)


@pytest.fixture(scope="module")
def features():
    return np.random.default_rng(0).normal(size=(90, 70)).astype(np.float32)


def test_orders_are_of_distinct_rows_and_know_no_sizes(orders):
    assert orders.first.shape == (25, 40)
    assert all(np.unique(order).size == 40 for order in orders.first)
    longer = RowOrders.draw(90, np.array([89]), 25, seed=1)
    np.testing.assert_array_equal(longer.first[:, :40], orders.first)
    assert (RowOrders.draw(90, SIZES, 25, seed=2).first != orders.first).any()


def test_every_row_comes_first_equally_often():
    orders = RowOrders.draw(10, np.array([3]), 20_000, seed=0)
    shares = np.bincount(orders.first.ravel(), minlength=10) / 60_000
    np.testing.assert_allclose(shares, 0.1, atol=0.006)


@pytest.mark.parametrize("size", SIZES)
def test_sums_from_an_anchor_are_those_from_the_start_to_the_last_bit(orders, features, size):
    every = slice(None)
    whole = np.zeros((25, 70), dtype=np.float32)
    orders.add(features, 0, int(size), whole, every, every)
    brute = np.stack([features[order[:size]].sum(axis=0) for order in orders.first])
    np.testing.assert_allclose(whole, brute, rtol=1e-4, atol=1e-5)
    anchor = orders.anchor(int(size))
    assert anchor <= size
    assert anchor % 4 == 0
    parts = np.zeros((25, 70), dtype=np.float32)
    orders.add(features, 0, anchor, parts, every, every)
    orders.add(features, anchor, int(size), parts, every, every)
    np.testing.assert_array_equal(parts, whole)


def test_sums_of_some_orders_and_features(orders, features):
    part = np.zeros((10, 5), dtype=np.float32)
    orders.add(features, 0, 7, part, slice(5, 15), slice(60, 65))
    brute = np.stack([features[order[:7], 60:65].sum(axis=0) for order in orders.first[5:15]])
    np.testing.assert_allclose(part, brute, rtol=1e-4, atol=1e-5)


def test_sums_of_a_matrix_and_of_a_vector(orders):
    root = np.random.default_rng(3).normal(size=(90, 90))
    matrix = (root + root.T).astype(np.float32)
    forms = orders.form_sums(WholeMatrix.of(matrix))
    sums = orders.vector_sums(matrix[0].astype(np.float64))
    for place, size in enumerate(SIZES):
        for k, order in enumerate(orders.first):
            own = order[:size]
            assert forms[place, k] == pytest.approx(matrix[np.ix_(own, own)].sum(), abs=1e-3)
            assert sums[place, k] == pytest.approx(matrix[0, own].sum(), abs=1e-4)


def test_the_true_labels_are_summed_as_every_order_is(features):
    """One more order, whose rows stand at random: the same sums to the last bit."""
    orders = RowOrders.draw(90, np.array([31]), 3, seed=5)
    rows = np.arange(31)
    true = orders.true_order(rows)
    assert sorted(true.first[0]) == rows.tolist()
    assert true.first[0].tolist() != rows.tolist()
    again = RowOrders(np.concatenate([true.first, orders.first]), 90, orders.sizes)
    every = np.zeros((4, 70), dtype=np.float32)
    again.add(features, 0, 31, every, slice(None), slice(None))
    alone = np.zeros((1, 70), dtype=np.float32)
    true.add(features, 0, 31, alone, slice(None), slice(None))
    np.testing.assert_array_equal(alone[0], every[0])
