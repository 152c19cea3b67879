"""The search against brute force over all supports."""

import numpy as np
import pytest
from logistic_instances import make_problem, supports

from tellapart.baselines.sparse_logistic import improve, solve
from tellapart.strs.contract import Control


def run(problem, most_cuts=500, **limits):
    control = Control(**{"gap": 1e-5, "resolution": problem.resolution, **limits})
    return solve(problem, control, solver="test", most_cuts=most_cuts)


def brute_force(problem):
    return max(problem.on_support(s).value for s in supports(problem))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("d", "gamma", "shift"), [(1, 0.3, 1.0), (3, 0.05, 0.0), (4, 1.0, 0.3)])
def test_optimum_is_that_of_brute_force(seed, d, gamma, shift):
    problem = make_problem(seed, size=8, d=d, gamma=gamma, shift=shift)
    found = run(problem)
    best = brute_force(problem)
    assert found.status == "optimal"
    assert found.fit.value == pytest.approx(best, rel=1e-5)
    assert best <= found.upper_bound <= found.fit.value + 1.01e-5 * abs(found.fit.value)


@pytest.mark.parametrize("limits", [{"time_limit": 1e-9}, {"most_cuts": 1}, {"most_cuts": 4}])
def test_bound_is_proved_and_status_honest_when_stopped_early(limits):
    # Noise under a weak ridge: the hardest to prove.
    problem = make_problem(3, size=8, d=4, gamma=50.0, shift=0.0)
    found = run(problem, **limits)
    assert found.upper_bound >= brute_force(problem)
    assert found.fit.value <= found.upper_bound
    assert found.status == ("time_limit" if "time_limit" in limits else "feasible")
    assert found.support.shape == (4,)


def test_all_columns_allowed():
    problem = make_problem(0, size=4, d=4)
    found = run(problem)
    assert found.support.tolist() == [0, 1, 2, 3]
    assert found.status == "optimal"


def test_equal_columns_are_no_trouble():
    problem = make_problem(0, size=5, d=2)
    problem.x[:, 3] = problem.x[:, 0]
    found = run(problem)
    assert found.status == "optimal"
    assert found.fit.value == pytest.approx(brute_force(problem), rel=1e-5)


def test_exchange_climbs_from_the_worst_support():
    problem = make_problem(1, size=8, d=2, shift=2.0)
    worst = min(supports(problem), key=lambda s: problem.on_support(s).value)
    support, fit = improve(problem, worst, Control())
    assert fit.value == pytest.approx(brute_force(problem))
    assert np.array_equal(support, np.sort(support))
