import numpy as np
import pytest

from tellapart.errors import InputError
from tellapart.kernels import Linear
from tellapart.objective import Objective
from tellapart.statistics import mmd2, variance


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 4)), rng.normal(0.3, 1.2, size=(55, 4))


def test_value_is_mmd2_minus_the_weighted_variance(data):
    x, y = data
    objective = Objective(x, y, kernel=Linear("laplace"), regularization=0.4)
    z = np.array([0.5, -0.5, 0.5, 0.5])
    gram = objective.kernel.gram
    grams = gram(x, x, z), gram(y, y, z), gram(x, y, z)
    assert objective.value(z) == pytest.approx(mmd2(*grams) - 0.4 * variance(*grams), abs=1e-13)


def test_gradient_and_hessian_are_the_derivatives(data):
    objective = Objective(*data, regularization=0.8)
    z = np.array([0.1, 0.7, -0.4, 0.2])
    step = 1e-4
    shifts = step * np.eye(4)
    slopes = [(objective.value(z + e) - objective.value(z - e)) / (2 * step) for e in shifts]
    bends = [(objective.gradient(z + e) - objective.gradient(z - e)) / (2 * step) for e in shifts]
    np.testing.assert_allclose(objective.gradient(z), slopes, atol=1e-10)
    np.testing.assert_allclose(objective.hessian(z), bends, atol=1e-10)


def test_bad_arguments_are_refused(data):
    with pytest.raises(InputError, match="regularization"):
        Objective(*data, regularization=-1)
    with pytest.raises(InputError, match="kernel must be one of"):
        Objective(*data, kernel="cubic")
    objective = Objective(*data)
    for bad in ([1.0, 2.0], [[1.0] * 4], [np.nan, 0, 0, 0], "z"):
        with pytest.raises(InputError, match="z must be a vector of 4 finite numbers"):
            objective.value(bad)
