import numpy as np
import pytest

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


def test_bad_settings_are_refused():
    with pytest.raises(InputError, match="'gaussian', 'laplace'; got 'cubic'"):
        Linear(scalar="cubic")
    with pytest.raises(InputError, match="'median', 'paper', 'mixed', 'cv'; got 3"):
        Linear(bandwidth=3)
