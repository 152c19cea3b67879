import numpy as np
import pytest

from tellapart.kernels import GaussianScalar, Indicator, LaplaceScalar

U, V = np.array([-1.0, 0.0, 2.5]), np.array([0.0, 2.5])


@pytest.mark.parametrize(
    ("scalar", "formula"),
    [
        (GaussianScalar(0.7), lambda u, v: np.exp(-((u - v) ** 2) / (2 * 0.7**2))),
        (LaplaceScalar(0.7), lambda u, v: np.exp(-np.abs(u - v) / 0.7)),
        (Indicator(), lambda u, v: (u == v).astype(float)),
    ],
)
def test_gram_elementwise_and_sums_follow_the_formula(scalar, formula):
    expected = formula(U[:, None], V)
    np.testing.assert_allclose(scalar.gram(U, V), expected, rtol=1e-14)
    np.testing.assert_allclose(scalar.elementwise(U[:2], V), formula(U[:2], V), rtol=1e-14)
    sums = scalar.expand(scalar.moments(U), scalar.moments(V))
    assert sums.mean_xy == pytest.approx(expected.mean(), abs=1e-14)
    np.testing.assert_allclose(
        sums.witness(V), expected.mean(0) - formula(V[:, None], V).mean(0), atol=1e-14
    )


@pytest.mark.parametrize("scalar", [GaussianScalar(1e-5), LaplaceScalar(1e-5)])
def test_values_too_far_apart_for_a_float_have_kernel_zero(scalar):
    far = np.array([-1.5e308, 1.5e308])
    np.testing.assert_array_equal(scalar.gram(far, far), np.eye(2))
    np.testing.assert_array_equal(scalar.elementwise(far, far[::-1]), [0.0, 0.0])


@pytest.mark.parametrize("extent", [0.0, 1.0, 12.0, 60.0])
def test_gaussian_features_reproduce_the_gram_matrix(extent):
    rng = np.random.default_rng(0)
    values = 1e4 + np.r_[0.0, extent, rng.uniform(0, extent, 80)] * 3.0
    scalar = GaussianScalar(3.0)
    features = scalar.features(values)
    assert features.shape[1] <= 200
    np.testing.assert_allclose(
        features @ features.T, scalar.gram(values, values), rtol=0, atol=1e-12
    )


def test_no_short_features():
    assert GaussianScalar(1.0).features(np.array([0.0, 1e3])) is None
    assert GaussianScalar(1.0).features(np.array([-1e308, 1e308])) is None
    assert LaplaceScalar(1.0).features(U) is None
    assert Indicator().features(np.arange(201.0)) is None


def test_indicator_features_reproduce_the_gram_matrix():
    values = np.random.default_rng(0).integers(0, 9, 40).astype(float)
    features = Indicator().features(values)
    assert features.shape == (40, np.unique(values).shape[0])
    np.testing.assert_array_equal(features @ features.T, Indicator().gram(values, values))
