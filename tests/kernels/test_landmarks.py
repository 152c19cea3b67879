"""Short features of one column: how close they come, and what they depend on."""

import numpy as np
import pytest

from tellapart.kernels.random_features import Landmarks
from tellapart.kernels.scalar import GaussianScalar, Indicator


def test_a_gaussian_kernel_of_normal_values_is_kept():
    values = np.random.default_rng(0).normal(size=3_000)
    features = Landmarks.of(GaussianScalar(0.95), values, 10).features(values[:500])
    gram = GaussianScalar(0.95).gram(values[:500], values[:500])
    error = features @ features.T - gram
    assert np.sqrt(np.mean(error**2)) < 5e-3
    assert features.shape == (500, 10)


def test_few_categories_are_kept_exactly():
    codes = np.random.default_rng(0).integers(0, 5, 1_000).astype(float)
    features = Landmarks.of(Indicator(), codes, 10).features(codes[:50])
    np.testing.assert_allclose(
        features @ features.T, Indicator().gram(codes[:50], codes[:50]), atol=1e-12
    )
    assert features.shape[1] == 5


@pytest.mark.parametrize("rank", [1, 4])
def test_neither_order_nor_labels_of_the_rows_count(rank):
    rng = np.random.default_rng(1)
    values = rng.exponential(size=501)
    one, other = (
        Landmarks.of(GaussianScalar(0.7), order, rank)
        for order in (values, rng.permutation(values))
    )
    np.testing.assert_array_equal(one.points, other.points)
    np.testing.assert_array_equal(one.projection, other.projection)
    assert one.rank == rank


def test_the_largest_eigenvalues_come_first():
    values = np.random.default_rng(2).normal(size=400)
    features = Landmarks.of(GaussianScalar(1.0), values, 6).features(values)
    spread = np.square(features).mean(axis=0)
    assert spread.tolist() == sorted(spread, reverse=True)
    assert spread.sum() == pytest.approx(1.0, abs=1e-2)
