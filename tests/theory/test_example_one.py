import math

import numpy as np
import pytest

from tellapart.errors import InputError
from tellapart.statistics.mmd import mmd2, variance
from tellapart.theory import ExampleOne

TAU2, EPSILON = 1.3, 0.7


def printed_product_moment(tau2, epsilon):
    """Give E[H₁₂H₁₃] as the paper prints it, its slip (1+ε)^+ read as (1+ε)² +."""
    b2 = (1 + epsilon) ** 2
    return (
        math.sqrt(tau2**2 / ((tau2 + 1) * (3 + tau2)))
        + math.sqrt(4 * tau2**2 / ((tau2 + 2) * (tau2 + 2 * b2)))
        - math.sqrt(16 * tau2**2 / (2 * tau2 + 1 + b2 + (1 + tau2) * (b2 + tau2)))
        - math.sqrt(16 * tau2**2 / ((tau2 + 1 + b2) * (tau2 + 2 * b2)))
        + math.sqrt(16 * tau2**2 / ((tau2 + b2) * (tau2 + b2 + 2)))
        + math.sqrt(tau2**2 / ((tau2 + b2) * (tau2 + 3 * b2)))
    )


def simulated(n=2_000_000, seed=0):
    """Give MMD², E[H₁₂H₁₃] and var of it per draw, from triples of pairs of rows."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(3, n)), (1 + EPSILON) * rng.normal(size=(3, n))

    def kernel(u, v):
        return np.exp(-((u - v) ** 2) / (2 * TAU2))

    def h(i, j):
        return kernel(x[i], x[j]) + kernel(y[i], y[j]) - kernel(x[i], y[j]) - kernel(y[i], x[j])

    first, product = h(0, 1), h(0, 1) * h(0, 2)
    return first.mean(), first.std() / n**0.5, product.mean(), product.std() / n**0.5


def test_closed_forms_agree_with_simulation_and_the_printed_one_does_not():
    example = ExampleOne(TAU2**0.5, EPSILON)
    mean, mean_error, product, product_error = simulated()
    assert abs(example.mmd2 - mean) < 4 * mean_error
    assert abs(example.product_moment - product) < 4 * product_error
    assert abs(printed_product_moment(TAU2, EPSILON) - product) > 8 * product_error


def test_no_difference_has_no_mmd2_and_no_variance():
    example = ExampleOne(0.9, 0.0)
    assert example.mmd2 == pytest.approx(0, abs=1e-15)
    assert example.sigma2 == pytest.approx(0, abs=1e-14)


def test_sigma2_is_that_of_the_statistics():
    rng = np.random.default_rng(1)
    n = 3000
    x, y = rng.normal(size=n), (1 + EPSILON) * rng.normal(size=n)

    def gram(u, v):
        return np.exp(-(np.subtract.outer(u, v) ** 2) / (2 * TAU2))

    example = ExampleOne(TAU2**0.5, EPSILON)
    grams = gram(x, x), gram(y, y), gram(x, y)
    assert variance(*grams) == pytest.approx(example.sigma2, rel=0.1)
    assert mmd2(*grams) == pytest.approx(example.mmd2, abs=4 * (example.sigma2 / n) ** 0.5)


def test_regularization_below_the_limit_leaves_a_positive_objective():
    example = ExampleOne(1.0, 0.5)
    limit = example.largest_regularization
    assert example.mmd2 - 0.99 * limit * example.sigma2 > 0
    assert example.mmd2 - 1.01 * limit * example.sigma2 < 0


@pytest.mark.parametrize(("bandwidth", "epsilon"), [(0, 1), (-1, 1), (1, -1), (1, math.inf)])
def test_arguments_are_checked(bandwidth, epsilon):
    with pytest.raises(InputError, match="must be a finite number"):
        ExampleOne(bandwidth, epsilon)
