"""The quadratic kernel on many rows: F by features against F by pairs."""

import numpy as np
import pytest

from reference import make_samples
from tellapart.kernels import Gaussian, Quadratic
from tellapart.statistics.objective import FittedObjective
from tellapart.statistics.quadratic_moments import has_feature_moments

Z = np.array([0.5, 0.5, 0.5, 0.5, 0.0])


def data(m=600, n=400, seed=0):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(m, 5)), rng.normal(size=(n, 5))
    y[:, 2] = 0.6 * y[:, 1] + 0.8 * y[:, 2]
    y[:, 0] += 0.3
    return make_samples(x, y)


def test_with_all_rows_drawn_it_is_the_objective_itself():
    samples = data()
    kernel = Quadratic().fit(samples)
    exact = FittedObjective(samples, kernel, 0.5).derivatives(Z)
    found = FittedObjective(samples, kernel, 0.5, whole=samples).derivatives(Z)
    assert found.value == pytest.approx(exact.value, rel=1e-3)
    np.testing.assert_allclose(found.gradient, exact.gradient, atol=1e-3)
    np.testing.assert_allclose(found.hessian, exact.hessian, atol=1e-3)


def test_with_some_rows_drawn_the_statistic_is_still_that_of_all():
    samples = data(900, 500)
    kernel = Quadratic().fit(samples)
    drawn = samples.draw(150, np.random.default_rng(1))
    free = FittedObjective(drawn, kernel, 0.0, whole=samples)
    assert free.value(Z) == pytest.approx(FittedObjective(samples, kernel, 0.0).value(Z), rel=1e-3)
    variance = free.value(Z) - free.at(1.0).value(Z)
    exact = FittedObjective(samples, kernel, 0.0).value(Z)
    exact -= FittedObjective(samples, kernel, 1.0).value(Z)
    assert variance == pytest.approx(exact, rel=0.3)


def test_some_columns_of_it_are_the_objective_of_these():
    samples = data()
    kernel = Quadratic().fit(samples)
    drawn = samples.draw(100, np.random.default_rng(1))
    whole = FittedObjective(drawn, kernel, 0.5, nonnegative=True, whole=samples)
    part = whole.columns(np.arange(4))
    assert part.value(Z[:4]) == pytest.approx(whole.value(Z), rel=1e-6)
    assert part.nonnegative


def test_it_serves_quadratic_kernels_of_kernels_only():
    class Distance:
        def gram(self, u, v):
            return np.abs(np.subtract.outer(u, v))

    samples = data(60, 60)
    assert has_feature_moments(samples, Quadratic().fit(samples), 10**9)
    assert not has_feature_moments(samples, Gaussian().fit(samples), 10**9)
    assert not has_feature_moments(samples, Quadratic(scalar=Distance()).fit(samples), 10**9)
