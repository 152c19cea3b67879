import dataclasses

import numpy as np
import pytest

from reference import make_samples
from tellapart.errors import InputError
from tellapart.kernels import AdditiveIndex, GaussianScalar, Indicator, LaplaceScalar
from tellapart.kernels.additive_index import WEIGHTS
from tellapart.kernels.base import Mismatch, SquaredDifference
from tellapart.selection.select_variables import select_variables

RATIONAL = {
    "value": lambda t: 1 / (1 + t / 2),
    "slope": lambda t: -0.5 / (1 + t / 2) ** 2,
    "curvature": lambda t: 0.5 / (1 + t / 2) ** 3,
}


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.normal(size=30), rng.integers(0, 3, 30), np.ones(30)])
    y = np.column_stack([rng.normal(size=45), rng.integers(0, 3, 45), np.ones(45)])
    return make_samples(x, y, ["numeric", "categorical", "numeric"])


def test_gram_is_the_formula_also_in_row_blocks(samples, set_budget):
    fitted = AdditiveIndex(**RATIONAL).fit(samples)
    u, v, z = samples.x, samples.y, np.array([0.8, -0.6, 0.5])
    tau = fitted.scalars[0].scale
    t = 0.64 * ((u[:, :1] - v[:, 0]) / tau) ** 2 + 0.36 * (u[:, 1:2] != v[:, 1])
    np.testing.assert_allclose(fitted.gram(u, v, z), 1 / (1 + t / 2), atol=1e-15)
    set_budget(gram_block_entries=100)
    np.testing.assert_allclose(fitted.gram(u, v, z), 1 / (1 + t / 2), atol=1e-15)


def test_constant_columns_are_left_out_whatever_their_weight(samples):
    fitted = AdditiveIndex(**RATIONAL, psi="gaussian", weight="linear").fit(samples)
    u, v = samples.x, samples.y
    with_it, without = np.array([0.8, 0.0, 0.6]), np.array([0.8, 0.0, 0.0])
    np.testing.assert_array_equal(fitted.constant, [False, False, True])
    np.testing.assert_array_equal(fitted.gram(u, v, with_it), fitted.gram(u, v, without))


def test_columns_choose_their_own_psi(samples):
    mixed = AdditiveIndex(**RATIONAL, psi=["laplace", "gaussian", "squared-difference"])
    fitted = mixed.fit(samples)
    assert [type(psi) for psi in fitted.scalars] == [LaplaceScalar, Indicator, SquaredDifference]
    own = AdditiveIndex(**RATIONAL, psi=GaussianScalar(2.0)).fit(samples)
    assert own.scalars == (GaussianScalar(2.0),) * 3
    assert isinstance(AdditiveIndex(**RATIONAL).fit(samples).scalars[1], Mismatch)


def test_a_fitted_kernel_can_be_restricted_to_columns(samples):
    fitted = AdditiveIndex(**RATIONAL).fit(samples)
    part = fitted.columns(np.array([1, 0]))
    z = np.array([0.6, 0.8])
    np.testing.assert_allclose(
        part.gram(samples.x[:, [1, 0]], samples.y[:, [1, 0]], z),
        fitted.gram(samples.x, samples.y, np.array([0.8, 0.6, 0.0])),
        atol=1e-15,
    )


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_and_their_derivatives(name):
    weight, z, step = WEIGHTS[name], np.array([-0.7, 0.0, 0.4]), 1e-5
    slope = (weight.value(z + step) - weight.value(z - step)) / (2 * step)
    bend = (weight.slope(z + step) - weight.slope(z - step)) / (2 * step)
    np.testing.assert_allclose(weight.slope(z), slope, atol=1e-9)
    np.testing.assert_allclose(weight.curvature(z), bend, atol=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weight": "cube"}, "weight must be one of 'linear', 'square'; got 'cube'"),
        ({"bandwidth": "mean"}, "bandwidth must be one of 'median', 'paper'; got 'mean'"),
        ({"psi": "cubic"}, "psi must be one of 'squared-difference', 'gaussian', 'laplace'"),
        ({"psi": ["laplace", 3]}, r"psi\[1\] must be one of .* an object with a method gram"),
        ({"name": "linear"}, "name must be a string of its own, not 'linear'"),
        ({"value": 3}, "value must be a function of an array; got 3"),
        ({"value": lambda t: t * np.nan}, "value must map an array to finite numbers"),
        ({"value": lambda t: 1.0}, "of the same shape"),
        ({"slope": lambda t: t}, "slope must be the derivative of value, which is about -0.378"),
        ({"curvature": lambda t: -t}, "curvature must be the derivative of slope"),
    ],
)
def test_bad_settings_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        AdditiveIndex(**{**RATIONAL, **change})


def test_one_psi_per_column_or_one_for_all(samples):
    with pytest.raises(
        InputError, match="psi must have one entry for each of the 3 columns; got 2"
    ):
        AdditiveIndex(**RATIONAL, psi=["laplace", "laplace"]).fit(samples)


def test_selection_serves_a_kernel_of_ones_own():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 4)), rng.normal([0, 0, 2, 0], size=(70, 4))
    kernel = AdditiveIndex(**RATIONAL, name="rational-quadratic")
    selection = select_variables(x, y, 1, kernel=kernel, random_state=0)
    assert selection.variables == ("x2",)
    assert selection.kernel == "rational-quadratic"
    assert selection.upper_bound is None


def test_settings_are_immutable():
    with pytest.raises(dataclasses.FrozenInstanceError):
        AdditiveIndex(**RATIONAL).weight = "linear"
