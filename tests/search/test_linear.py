"""The linear kernel as a sparse trust region problem."""

import numpy as np
import pytest

from each import each
from reference import mixed_samples
from tellapart.kernels import Linear
from tellapart.search.linear import linear_problem
from tellapart.statistics import coefficients as coefficients_module
from tellapart.statistics.coefficients import linear_coefficients
from tellapart.statistics.mmd import mmd2, variance


@each("estimator", ["unbiased", "paired"])
def test_the_variance_is_a_cost_unlike_the_printed_sign(estimator):
    samples = mixed_samples(40, 40, seed=5)
    kernel = Linear().fit(samples)
    found = linear_coefficients(samples, kernel, estimator=estimator)
    z = np.random.default_rng(6).normal(size=samples.n_columns)
    z[kernel.constant] = 0
    z /= np.linalg.norm(z)
    grams = [
        kernel.gram(u, v, z)
        for u, v in (
            (samples.x, samples.x),
            (samples.y, samples.y),
            (samples.x, samples.y),
        )
    ]
    strength = 0.7
    cost = strength * variance(*grams, estimator)
    objective = mmd2(*grams, estimator) - cost
    problem = linear_problem(found, strength, samples.n_columns)
    assert problem.value(z) == pytest.approx(objective, abs=1e-12)
    assert found.statistic(z) == pytest.approx(mmd2(*grams, estimator), abs=1e-12)
    assert found.variance_at(z) == pytest.approx(variance(*grams, estimator), abs=1e-12)
    assert cost > 1e-4
    assert -z @ problem.A @ z + problem.a @ z == pytest.approx(objective + 2 * cost, abs=1e-12)


def test_a_factor_gives_the_same_problem(monkeypatch):
    samples = mixed_samples(45, 60)
    kernel = Linear().fit(samples)
    first = linear_problem(linear_coefficients(samples, kernel), 0.3, 2)
    monkeypatch.setattr(coefficients_module, "DENSE_COLUMNS", 1)
    monkeypatch.setattr(coefficients_module, "MOST_FACTOR_ROWS", 110)
    second = linear_problem(linear_coefficients(samples, kernel), 0.3, 2)
    assert (first.factor is None, second.factor is None) == (True, False)
    z = np.linspace(-1, 1, samples.n_columns)
    assert first.value(z) == pytest.approx(second.value(z), abs=1e-13)
