import numpy as np
import pytest

from each import each
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.kernels import GaussianScalar, Indicator, LaplaceScalar, Linear


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.normal(size=40), rng.integers(0, 3, 40), np.ones(40)])
    y = np.column_stack([rng.normal(size=60), rng.integers(0, 3, 60), np.ones(60)])
    return Samples(x, y, ("u", "v", "w"), ("numeric", "categorical", "numeric"))


def test_fit_chooses_scalar_kernels_by_kind(samples):
    gaussian, laplace = Linear().fit(samples), Linear("laplace").fit(samples, n_jobs=2)
    assert [type(k) for k in gaussian.scalars] == [GaussianScalar, Indicator, GaussianScalar]
    assert [type(k) for k in laplace.scalars] == [LaplaceScalar, Indicator, LaplaceScalar]
    assert gaussian.name == "linear"
    assert gaussian.scalars[0].bandwidth == laplace.scalars[0].bandwidth
    np.testing.assert_array_equal(gaussian.constant, [False, False, True])


def test_the_literal_rule_is_the_root_of_the_median_distance(samples):
    median = Linear().fit(samples).scalars[0].bandwidth
    literal = Linear(bandwidth="paper").fit(samples).scalars[0].bandwidth
    assert literal == pytest.approx(np.sqrt(median))


@each("scalar", ["gaussian", "laplace"])
def test_gram_is_the_weighted_sum_over_columns_also_in_row_blocks(samples, scalar, monkeypatch):
    fitted = Linear(scalar).fit(samples)
    z = np.array([0.8, -0.6, 0.0])
    expected = sum(
        z[s] * fitted.scalars[s].gram(samples.x[:, s], samples.y[:, s]) for s in range(3)
    )
    np.testing.assert_allclose(fitted.gram(samples.x, samples.y, z), expected, atol=1e-15)
    with monkeypatch.context() as patch:
        patch.setattr("tellapart.kernels.base._BLOCK_ENTRIES", 150)
        np.testing.assert_allclose(fitted.gram(samples.x, samples.y, z), expected, atol=1e-15)


def test_gram_without_active_columns_is_zero(samples):
    gram = Linear().fit(samples).gram(samples.x, samples.y, np.zeros(3))
    np.testing.assert_array_equal(gram, np.zeros((40, 60)))


def test_bad_settings_are_refused():
    with pytest.raises(InputError, match="'gaussian', 'laplace'; got 'cubic'"):
        Linear(scalar="cubic")
    with pytest.raises(InputError, match="'median', 'paper', 'cv'; got 3"):
        Linear(bandwidth=3)
