import numpy as np
import pytest
from instances import KINDS, problem_of

from tellapart.strs import SparseTrustRegion
from tellapart.strs.domains import block_slack, dual_bound_on_sphere
from tellapart.strs.problem import polish, support_bound


def value_slack(problem, support):
    """The slack of the block of A; a factor is multiplied out first."""
    return block_slack(problem.submatrix(support), problem.a[support]) + problem.forming_error


@pytest.mark.parametrize("kind", KINDS)
def test_dual_bound_holds_at_every_multiplier(kind):
    problem = problem_of(kind, 5, 5)
    value = polish(problem, np.arange(5))[1]
    slack = value_slack(problem, np.arange(5))
    top = float(np.linalg.eigvalsh(problem.A)[-1])
    for mu in top + np.array([-1.0, 1e-12, 1e-6, 0.1, 1.0, 100.0]):
        assert dual_bound_on_sphere(problem.A, problem.a, float(mu)) >= value - slack


def test_no_variable_on_a_huge_scale_blurs_the_bound_of_a_support():
    # 1/2 + 1/2 at e₁; the third variable may be in, but adds nothing.
    A = np.diag([0.5, -1.0, -1e14])
    A[0, 2] = A[2, 0] = 1.0
    problem = SparseTrustRegion(A, np.array([0.5, 0.0, 0.0]), 3)
    value = polish(problem, np.arange(3))[1]
    assert value_slack(problem, np.arange(3)) > 0.1
    assert 1.0 <= support_bound(problem, np.arange(3), value, cutoff=1.0) < 1.0 + 1e-10


def test_a_bound_below_the_cutoff_costs_nothing_more(monkeypatch):
    monkeypatch.setattr("tellapart.strs.domains._least_dual_bound", None)
    problem = problem_of("PSD", 5, 5)
    value = polish(problem, np.arange(5))[1]
    expected = value + value_slack(problem, np.arange(5))
    assert support_bound(problem, np.arange(5), value, cutoff=2 * value) == expected


def test_the_slack_of_numbers_whose_squares_vanish_does_not():
    A, a = np.diag([1.0, 1e-170, -1e-170]), np.array([0.0, 1e-171, 1e-171])
    slack = value_slack(SparseTrustRegion(A, a, 2), np.array([1, 2]))
    assert 1e-186 < slack < 1e-183
