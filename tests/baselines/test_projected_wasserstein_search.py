"""The search against fine grids and against all supports."""

import itertools

import numpy as np
import pytest

from tellapart.baselines import projected_wasserstein as search
from tellapart.baselines.projected_wasserstein import ProjectedDistance


def make_distance(seed, m=30, n=45, n_columns=2, order=2):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(m, n_columns)), rng.normal(size=(n, n_columns))
    y[:, 0] *= 2.0
    y[:, -1] += np.where(rng.random(n) < 0.5, -1.0, 1.0)
    return ProjectedDistance.of(x, y, order)


def on_circle(n_columns, pair, count=2000):
    angles = np.linspace(0, np.pi, count, endpoint=False)
    directions = np.zeros((count, n_columns))
    directions[:, pair[0]], directions[:, pair[1]] = np.cos(angles), np.sin(angles)
    return directions


def test_optimum_is_that_of_a_fine_grid():
    for seed, order in itertools.product(range(5), (1, 2)):
        distance = make_distance(seed, order=order)
        beta, value = search.farthest_direction(distance, 2, 10, np.random.default_rng(0))
        best = distance.value(on_circle(2, (0, 1))).max()
        assert value >= best * (1 - 1e-4)
        assert value == pytest.approx(distance.value(beta[None])[0])


def test_support_is_the_best_of_all():
    for seed in range(4):
        distance = make_distance(seed, n_columns=7)
        beta, value = search.farthest_direction(distance, 2, 30, np.random.default_rng(0))
        pairs = itertools.combinations(range(7), 2)
        best = max(distance.value(on_circle(7, pair, 500)).max() for pair in pairs)
        assert value >= best * (1 - 1e-3)
        assert np.count_nonzero(beta) <= 2
        assert np.linalg.norm(beta) == pytest.approx(1)
        assert beta[np.argmax(np.abs(beta))] > 0


def test_one_variable_is_the_column_of_greatest_distance():
    distance = make_distance(1, n_columns=6)
    beta, value = search.farthest_direction(distance, 1, 20, np.random.default_rng(0))
    marginals = distance.value(np.eye(6))
    assert np.flatnonzero(beta).tolist() == [np.argmax(marginals)]
    assert value == pytest.approx(marginals.max())


def test_ascent_never_falls():
    distance = make_distance(2, n_columns=8)
    starts = search.to_sparse_sphere(np.random.default_rng(0).normal(size=(20, 8)), 3)
    points, values = search.ascend(distance, starts, 3)
    assert np.all(values >= distance.value(starts))
    assert np.all(np.count_nonzero(points, axis=1) <= 3)
    np.testing.assert_allclose(values, distance.value(points))


def test_many_rows_are_searched_on_some_and_finished_on_all(set_budget):
    set_budget(direction_rows=40)
    distance = make_distance(3, m=300, n=90, n_columns=4)
    _, value = search.farthest_direction(distance, 2, 10, np.random.default_rng(0))
    pairs = itertools.combinations(range(4), 2)
    best = max(distance.value(on_circle(4, pair, 500)).max() for pair in pairs)
    assert value >= 0.95 * best


def test_equal_samples_have_distance_0_and_a_direction():
    x = np.random.default_rng(0).normal(size=(10, 3))
    beta, value = search.farthest_direction(
        ProjectedDistance.of(x, x.copy(), 2), 2, 3, np.random.default_rng(0)
    )
    assert value == pytest.approx(0, abs=1e-20)
    assert np.linalg.norm(beta) == pytest.approx(1)


def test_nothing_points_somewhere():
    assert search.to_sparse_sphere(np.zeros((1, 3)), 2).tolist() == [[1.0, 0.0, 0.0]]


def test_covariances_of_many_columns_are_compared_without_forming_them(set_budget):
    distance = make_distance(0, m=200, n=300, n_columns=12)
    dense = search.simple_directions(distance)
    set_budget(dense_covariance_columns=5)
    loose = search.simple_directions(distance)
    np.testing.assert_allclose(np.abs(loose), np.abs(dense), atol=1e-2)
