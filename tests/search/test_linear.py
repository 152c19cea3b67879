"""The linear kernel as a sparse trust region problem."""

import numpy as np
import pytest

from reference import mixed_samples
from tellapart.budget import Budget
from tellapart.errors import InputError
from tellapart.kernels import Linear
from tellapart.search.starts import MOST_RATIO_COLUMNS, linear_problem, ratio_problem
from tellapart.statistics.coefficients import LinearCoefficients, linear_coefficients
from tellapart.statistics.mmd import mmd2, variance
from tellapart.strs import solve


def coefficients_of(a, V):
    return LinearCoefficients(np.array(a), np.array(V), None, 20, 20)


@pytest.mark.parametrize("estimator", ["unbiased", "paired"])
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


def test_a_factor_gives_the_same_problem(set_budget):
    samples = mixed_samples(45, 60)
    kernel = Linear().fit(samples)
    first = linear_problem(linear_coefficients(samples, kernel), 0.3, 2)
    set_budget(dense_variance_columns=1)
    set_budget(factor_rows_per_column=110)
    second = linear_problem(linear_coefficients(samples, kernel), 0.3, 2)
    assert (first.factor is None, second.factor is None) == (True, False)
    z = np.linspace(-1, 1, samples.n_columns)
    assert first.value(z) == pytest.approx(second.value(z), abs=1e-13)


def test_weights_may_have_to_be_nonnegative(set_budget):
    samples = mixed_samples(45, 60)
    kernel = Linear().fit(samples)
    for columns in (Budget().dense_variance_columns, 1):
        set_budget(dense_variance_columns=columns)
        set_budget(factor_rows_per_column=110)
        found = linear_coefficients(samples, kernel)
        problem = linear_problem(found, 0.3, 2, nonnegative=True)
        assert problem.domain.nonnegative
        assert not linear_problem(found, 0.3, 2).domain.nonnegative
        assert (solve(problem).z >= 0).all()


def test_the_ratio_is_of_a_variance_with_a_floor():
    V = np.array([[4.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    given = V.copy()
    problem = ratio_problem(coefficients_of([1.0, -2.0, 0.5], V), 2, 0.1)
    np.testing.assert_allclose(problem.M, V + 0.3 * np.eye(3))  # 3: the median of 4 and 2
    np.testing.assert_array_equal(V, given)
    assert not problem.nonnegative
    z = np.array([0.6, 0.0, 0.8])
    assert problem.value(z) == pytest.approx(1.0 / np.sqrt(0.36 * 4.3 + 0.64 * 0.3))


@pytest.mark.parametrize("nonnegative", [False, True])
def test_the_best_ratio_of_samples(nonnegative):
    samples = mixed_samples(45, 60)
    found = linear_coefficients(samples, Linear().fit(samples))
    problem = ratio_problem(found, 2, 0.05, nonnegative)
    solution = solve(problem)
    assert solution.status == "optimal"
    assert not nonnegative or (solution.z >= 0).all()
    floor = 0.05 * np.median(np.diag(found.V)[np.diag(found.V) > 0])
    length = np.sqrt(found.variance_at(solution.z) + floor * solution.z @ solution.z)
    assert solution.value == pytest.approx(found.statistic(solution.z) / length)


def test_without_variance_the_ratio_is_that_of_a_alone():
    problem = ratio_problem(coefficients_of([3.0, 4.0], np.zeros((2, 2))), 2, 0.25)
    assert solve(problem).z == pytest.approx([0.6, 0.8])


def test_a_ratio_of_very_many_columns_is_refused():
    many = MOST_RATIO_COLUMNS + 1
    coefficients = LinearCoefficients(np.ones(many), None, np.ones((1, many)), 20, 20)
    with pytest.raises(InputError, match="the ratio takes at most 2,000 columns; got 2,001"):
        ratio_problem(coefficients, 2, 0.1)
