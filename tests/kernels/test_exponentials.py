"""Mixtures of exponentials: which kernels are such, and how closely."""

import numpy as np
import pytest

from tellapart.kernels import AdditiveIndex
from tellapart.kernels.base import Exponential
from tellapart.statistics.fourier_objective import ACCURACY, exponentials_of

POINTS = np.linspace(0.0, 40.0, 401)


def kernel(value, slope, curvature):
    return AdditiveIndex(value=value, slope=slope, curvature=curvature)


MIXTURES = [
    kernel(
        lambda t: 3 / (1 + t / 2),
        lambda t: -1.5 / (1 + t / 2) ** 2,
        lambda t: 1.5 / (1 + t / 2) ** 3,
    ),
    kernel(lambda t: np.exp(-t / 3), lambda t: -np.exp(-t / 3) / 3, lambda t: np.exp(-t / 3) / 9),
]
OTHERS = [
    kernel(lambda t: (t + 1) ** 2, lambda t: 2 * (t + 1), lambda t: 2 + 0 * t),
    kernel(np.cos, lambda t: -np.sin(t), lambda t: -np.cos(t)),
    kernel(lambda t: -t, lambda t: -1 + 0 * t, lambda t: 0 * t),
]


def test_the_gaussian_kernel_is_one_exponential():
    found = exponentials_of(Exponential(2.0))
    assert found.rates.tolist() == [0.25]
    np.testing.assert_allclose(found.value(POINTS), Exponential(2.0).value(POINTS), rtol=1e-14)


@pytest.mark.parametrize("outer", MIXTURES)
def test_a_mixture_is_found_to_its_accuracy(outer):
    found = exponentials_of(outer)
    assert (found.shares >= 0).all()
    assert found.shares.sum() == pytest.approx(1.0)
    assert found.height == pytest.approx(float(outer.value(np.zeros(1))[0]))
    error = np.abs(found.value(POINTS) - outer.value(POINTS)).max()
    assert error <= ACCURACY * found.height


@pytest.mark.parametrize("outer", OTHERS)
def test_what_is_no_mixture_is_refused(outer):
    assert exponentials_of(outer) is None
