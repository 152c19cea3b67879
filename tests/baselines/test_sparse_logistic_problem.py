"""The fit against scikit-learn, the cuts against every support."""

import numpy as np
import pytest
from logistic_instances import make_problem, marks, supports
from sklearn.linear_model import LogisticRegression

from tellapart.baselines.sparse_logistic_problem import LogisticProblem


@pytest.mark.parametrize("gamma", [1e-3, 0.3, 50.0])
def test_fit_is_that_of_scikit_learn(gamma):
    problem = make_problem(0, gamma=gamma)
    support = np.array([0, 2, 5])
    fit = problem.on_support(support)
    oracle = LogisticRegression(C=gamma, tol=1e-10, max_iter=10_000)
    oracle.fit(problem.x[:, support], problem.signs)
    np.testing.assert_allclose(fit.weights, oracle.coef_[0], rtol=1e-4, atol=1e-6)
    assert fit.intercept == pytest.approx(oracle.intercept_[0], rel=1e-3, abs=1e-5)


def test_value_is_minus_loss_and_ridge():
    problem = make_problem(1)
    support = np.array([1, 4])
    fit = problem.on_support(support)
    scores = problem.x[:, support] @ fit.weights + fit.intercept
    loss = np.log1p(np.exp(-problem.signs * scores)).sum()
    assert fit.value == pytest.approx(-loss - fit.weights @ fit.weights / (2 * problem.gamma))


@pytest.mark.parametrize("seed", range(4))
def test_cut_is_tight_at_its_support_and_valid_at_all(seed):
    problem = make_problem(seed)
    values = [problem.on_support(s).value for s in supports(problem)]
    for support, value in zip(supports(problem), values, strict=True):
        cut = problem.cut(problem.on_support(support).pull)
        assert value <= cut.at(marks(problem, support)) <= value + 1e-7
        limits = [cut.at(marks(problem, s)) for s in supports(problem)]
        assert np.all(np.array(limits) >= values)


def test_cuts_of_any_point_are_valid():
    # Also far from a solution, where the α do not sum to 0.
    problem = make_problem(5)
    values = np.array([problem.on_support(s).value for s in supports(problem)])
    rng = np.random.default_rng(0)
    for spread in (0.1, 3.0, 1000.0):
        pull = problem.pull(spread * rng.normal(size=40))
        cut = problem.cut(pull)
        assert np.isfinite(cut.constant)
        assert np.all([cut.at(marks(problem, s)) for s in supports(problem)] >= values)


def test_fractional_marks_interpolate_concavely():
    problem = make_problem(2)
    one, other = marks(problem, np.array([0, 1, 2])), marks(problem, np.array([3, 4, 5]))
    middle = problem.at((one + other) / 2).value
    assert middle >= (problem.at(one).value + problem.at(other).value) / 2
    assert problem.at(one).value == pytest.approx(problem.on_support(np.array([0, 1, 2])).value)


def test_separable_rows_and_equal_columns_under_a_weak_ridge():
    x = np.repeat([1.0, -1.0], 10)[:, None] * np.ones((1, 3))
    problem = LogisticProblem(x, np.repeat([1.0, -1.0], 10), 1e8, 2)
    fit = problem.on_support(np.array([0, 1]))
    assert -1e-3 < fit.value < 0
    assert fit.weights[0] == pytest.approx(fit.weights[1])
    assert problem.cut(fit.pull).at(np.array([1.0, 1.0, 0.0])) >= fit.value
