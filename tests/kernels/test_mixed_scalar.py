"""A mean of kernels of several bandwidths: sums, features and Gram matrices agree."""

import numpy as np

import tellapart as ta
from tellapart.data.samples import Samples
from tellapart.kernels import GaussianScalar, LaplaceScalar, Linear
from tellapart.kernels.scalar import MixedScalar
from tellapart.statistics.coefficients import linear_coefficients

MIXED = MixedScalar((GaussianScalar(0.5), GaussianScalar(2.0)))


def test_everything_is_the_mean_of_the_parts():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=300), rng.normal(size=200) + 1
    gram = (GaussianScalar(0.5).gram(x, y) + GaussianScalar(2.0).gram(x, y)) / 2
    np.testing.assert_allclose(MIXED.gram(x, y), gram, rtol=1e-14)
    np.testing.assert_allclose(MIXED.elementwise(x[:200], y), np.diag(gram[:200]), rtol=1e-14)
    sums = MIXED.expand(MIXED.moments(x), MIXED.moments(y))
    np.testing.assert_allclose(sums.mean_xy, gram.mean(), rtol=1e-10)
    np.testing.assert_allclose(sums.mean_xx, MIXED.gram(x, x).mean(), rtol=1e-10)
    np.testing.assert_allclose(sums.mean_yy, MIXED.gram(y, y).mean(), rtol=1e-10)
    witness = MIXED.gram(x, y).mean(axis=0) - MIXED.gram(y, y).mean(axis=0)
    np.testing.assert_allclose(sums.witness(y), witness, atol=1e-10)
    features = MIXED.features(x)
    np.testing.assert_allclose(features @ features.T, MIXED.gram(x, x), atol=1e-10)


def test_no_features_where_a_part_has_none():
    mixed = MixedScalar((GaussianScalar(1.0), LaplaceScalar(1.0)))
    assert mixed.features(np.arange(5.0)) is None
    assert not mixed.compact
    assert MIXED.compact


def test_the_linear_kernel_takes_it():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(80, 3)), rng.normal(size=(90, 3))
    samples = Samples(x, y, ("a", "b", "c"), ("numeric",) * 3)
    fitted = Linear(bandwidth="mixed").fit(samples)
    parts = [
        linear_coefficients(samples, Linear(multiplier=m).fit(samples)).a for m in (0.5, 1.0, 2.0)
    ]
    np.testing.assert_allclose(
        linear_coefficients(samples, fitted).a, np.mean(parts, axis=0), atol=1e-12
    )
    y[:, 1] += 1
    result = ta.two_sample_test(
        x, y, method="split", kernel=Linear(bandwidth="mixed"), n_permutations=99, random_state=0
    )
    assert result.variables == ("b",) or "x1" in result.variables
