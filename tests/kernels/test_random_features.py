"""Random features approach their kernel as their number grows, categories included."""

import numpy as np
import pytest

from tellapart.data.samples import Samples
from tellapart.kernels import AdditiveIndex, Gaussian, Quadratic
from tellapart.kernels.random_features import draw_features

LEVELS = (0, 0, 4)


def samples():
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.normal(size=60), rng.normal(size=60), rng.integers(0, 4, 60)])
    kinds = ("numeric", "numeric", "categorical")
    return Samples(x[:30], x[30:], ("a", "b", "c"), kinds, {"c": tuple("abcd")})


@pytest.mark.parametrize(
    "kernel",
    [Gaussian(bandwidth="median"), Quadratic(), Quadratic(scalar="laplace"), Quadratic(c=3.0)],
)
@pytest.mark.parametrize("z", [(0.6, 0.64, 0.48), (0.6, -0.64, 0.48), (0.0, 1.0, 0.0)])
@pytest.mark.long
def test_many_features_are_the_kernel(kernel, z):
    data, z = samples(), np.array(z)
    fitted = kernel.fit(data)
    pooled = np.concatenate([data.x, data.y])
    count = 40_000
    drawn = draw_features(fitted, z, LEVELS, count, np.random.default_rng(1))
    features = drawn.of(pooled, np.zeros(3)).astype(float)
    found = (features * np.tile(drawn.weights, 2)) @ features.T
    expected = fitted.gram(pooled, pooled, z) - (fitted.square_offset or 0.0) ** 2
    # Five standard errors of a mean of cosines.
    assert np.abs(found - expected).max() < 5 * drawn.magnitude / np.sqrt(count)
    np.testing.assert_allclose(np.diag(found), drawn.diagonal, rtol=1e-4)


def test_values_beyond_single_precision_have_features_all_the_same():
    data = samples()
    fitted = Gaussian(bandwidth="median").fit(data)
    drawn = draw_features(fitted, np.ones(3) / np.sqrt(3), LEVELS, 50, np.random.default_rng(1))
    rows = np.array([[1e300, -1e300, 1.0], [1e-300, 0.0, 1.0]])
    assert np.isfinite(drawn.of(rows, np.zeros(3))).all()


def test_a_kernel_of_unknown_frequencies_has_none():
    own = AdditiveIndex(
        value=lambda t: 1 / (1 + t),
        slope=lambda t: -1 / (1 + t) ** 2,
        curvature=lambda t: 2 / (1 + t) ** 3,
    )
    fitted = own.fit(samples())
    assert draw_features(fitted, np.ones(3), LEVELS, 50, np.random.default_rng(1)) is None
