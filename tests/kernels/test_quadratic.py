import numpy as np
import pytest

from reference import make_samples
from tellapart.errors import InputError
from tellapart.kernels import GaussianScalar, Indicator, LaplaceScalar, Quadratic
from tellapart.kernels.bandwidth import median_bandwidths
from tellapart.kernels.quadratic import Square


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.normal(size=30), 50 * rng.normal(size=30), rng.integers(0, 3, 30)])
    y = np.column_stack([rng.normal(size=45), 50 * rng.normal(size=45), rng.integers(0, 3, 45)])
    return make_samples(x, y, ["numeric", "numeric", "categorical"])


@pytest.mark.parametrize(
    ("scalar", "kind"), [("gaussian", GaussianScalar), ("laplace", LaplaceScalar)]
)
def test_gram_is_the_square_of_the_weighted_sum(samples, scalar, kind):
    fitted = Quadratic(0.7, scalar).fit(samples, n_jobs=2)
    assert [type(k) for k in fitted.scalars] == [kind, kind, Indicator]
    u, v, z = samples.x, samples.y, np.array([0.6, 0.0, -0.8])
    k0 = fitted.scalars[0].gram(u[:, 0], v[:, 0])
    expected = (0.6 * k0 - 0.8 * (u[:, 2:] == v[:, 2]) + 0.7) ** 2
    np.testing.assert_allclose(fitted.gram(u, v, z), expected, atol=1e-15)


def test_c_is_the_root_of_the_joint_scale(samples):
    pooled = np.concatenate([samples.x, samples.y])
    tau, _ = median_bandwidths(samples)
    first, second = np.triu_indices(75, 1)
    numeric = (((pooled[first, :2] - pooled[second, :2]) / tau[:2]) ** 2).sum(axis=1)
    total = numeric + (pooled[first, 2] != pooled[second, 2])
    fitted = Quadratic().fit(samples)
    assert fitted.outer.offset == pytest.approx(np.sqrt(np.median(total) / 3), rel=1e-12)
    raw = ((pooled[first, :2] - pooled[second, :2]) ** 2).sum(axis=1)
    literal = np.median(raw + (pooled[first, 2] != pooled[second, 2]))
    assert Quadratic(bandwidth="paper").fit(samples).outer.offset == pytest.approx(np.sqrt(literal))


def test_mixed_scalar_kernels(samples):
    fitted = Quadratic(scalar=("laplace", "gaussian", "gaussian")).fit(samples)
    assert [type(k) for k in fitted.scalars] == [LaplaceScalar, GaussianScalar, Indicator]


def test_derivatives_of_phi():
    phi, t, step = Square(0.7), np.array([-0.4, 0.0, 1.3]), 1e-5
    slope = (phi.value(t + step) - phi.value(t - step)) / (2 * step)
    np.testing.assert_allclose(phi.slope(t), slope, atol=1e-9)
    np.testing.assert_array_equal(phi.curvature(t), 2.0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"c": 0.0}, r"c must be a finite number in \(0, inf\); got 0.0"),
        ({"c": -1}, r"c must be .* got -1.0"),
        ({"c": float("nan")}, "c must be .* got nan"),
        ({"c": "large"}, "c must be .* got 'large'"),
        ({"scalar": "squared-difference"}, "scalar must be one of 'gaussian', 'laplace'"),
        ({"bandwidth": "mean"}, "bandwidth must be one of 'median', 'paper', 'cv'; got 'mean'"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        Quadratic(**settings)
