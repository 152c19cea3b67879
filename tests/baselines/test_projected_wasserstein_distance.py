"""Distances on a line against SciPy and brute force, gradients against differences."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from tellapart.baselines.projected_wasserstein import (
    ProjectedDistance,
    QuantileMerge,
    permuted_distances,
)

ROWS, ORDERS, SEEDS = st.integers(1, 12), st.sampled_from([1, 2]), st.integers(0, 2**32 - 1)


def transport(x, y, order):
    """Solve the transport problem itself as a linear program."""
    cost = np.abs(np.subtract.outer(x, y)) ** order
    m, n = cost.shape
    rows = np.kron(np.eye(m), np.ones(n))
    columns = np.kron(np.ones(m), np.eye(n))
    return optimize.linprog(
        cost.ravel(),
        A_eq=np.vstack([rows, columns]),
        b_eq=np.concatenate([np.full(m, 1 / m), np.full(n, 1 / n)]),
    ).fun


@given(m=ROWS, n=ROWS, order=ORDERS, seed=SEEDS)
@settings(max_examples=20, deadline=None)
def test_distance_is_that_of_the_best_transport(m, n, order, seed):
    rng = np.random.default_rng(seed)
    x, y = np.sort(rng.normal(size=(3, m))), np.sort(rng.normal(size=(3, n)) + 0.5)
    found = QuantileMerge.of_sizes(m, n).distances(x, y, order)
    expected = [transport(*pair, order) for pair in zip(x, y, strict=True)]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    if order == 1:
        oracle = [stats.wasserstein_distance(*pair) for pair in zip(x, y, strict=True)]
        np.testing.assert_allclose(found, oracle)


@given(m=st.integers(1, 3_000), n=st.integers(1, 3_000))
@example(m=20_000, n=2_000)
@settings(max_examples=50, deadline=None)
def test_pieces_cover_everything_once(m, n):
    merge = QuantileMerge.of_sizes(m, n)
    assert merge.share.min() > 0
    np.testing.assert_allclose(np.bincount(merge.of_x, merge.share), 1 / m)
    np.testing.assert_allclose(np.bincount(merge.of_y, merge.share), 1 / n)


@pytest.mark.parametrize(("m", "n"), [(7, 7), (4, 9), (12, 5)])
def test_gradient_is_that_of_small_differences(m, n):
    for order in (1, 2):
        check_gradient(m, n, order)


def check_gradient(m, n, order):
    rng = np.random.default_rng(1)
    distance = ProjectedDistance.of(rng.normal(size=(m, 3)), rng.normal(size=(n, 3)), order)
    beta = rng.normal(size=(4, 3))
    value, gradient = distance.value_and_gradient(beta)
    np.testing.assert_allclose(value, distance.value(beta))
    for k in range(4):
        differences = optimize.approx_fprime(
            beta[k], lambda b: distance.value(b[None])[0], epsilon=1e-7
        )
        np.testing.assert_allclose(gradient[k], differences, atol=1e-5)


@pytest.mark.parametrize("order", [1, 2])
def test_permuted_distances_are_those_of_each_permutation(order):
    rng = np.random.default_rng(2)
    scores = np.round(rng.normal(size=13), 1)  # with ties
    labels = rng.permuted(np.tile(np.arange(13) < 5, (20, 1)), axis=1)
    merge = QuantileMerge.of_sizes(5, 8)
    expected = [
        merge.distances(np.sort(scores[side])[None], np.sort(scores[~side])[None], order)[0]
        for side in labels
    ]
    found = permuted_distances(scores, labels.astype(float), order)
    np.testing.assert_allclose(found, expected)
