"""The relaxation: its proximal step against a general optimiser, its bound against all supports."""

import numpy as np
import pytest
from logistic_instances import make_problem, supports
from scipy import optimize

from tellapart.baselines.sparse_logistic_problem import shrink, solve_relaxation
from tellapart.strs.contract import Control


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("d", [1, 3])
def test_shrink_finds_the_least_value(seed, d):
    rng = np.random.default_rng(seed)
    v, c = rng.normal(size=6), float(rng.uniform(0.1, 3.0))

    def left(q):
        return float((c * v**2 / (2 * (q + c))).sum())

    oracle = optimize.minimize(
        left,
        np.full(6, d / 6),
        bounds=[(0, 1)] * 6,
        constraints={"type": "ineq", "fun": lambda q: d - q.sum()},
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    w, q = shrink(v, c, d)
    assert q.min() >= 0
    assert q.max() <= 1
    assert q.sum() == pytest.approx(d)
    assert left(q) <= oracle.fun + 1e-7
    np.testing.assert_allclose(w, v * q / (q + c))


def test_shrink_of_few_entries_marks_them_whole():
    w, q = shrink(np.array([0.0, 2.0, 0.0, -4.0]), 1.0, 3)
    assert q.tolist() == [0.0, 1.0, 0.0, 1.0]
    assert w.tolist() == [0.0, 1.0, 0.0, -2.0]


@pytest.mark.parametrize("seed", range(4))
def test_bound_holds_for_every_support_and_is_the_relaxations(seed):
    problem = make_problem(seed)
    relaxed = solve_relaxation(problem, Control())
    best = max(problem.on_support(s).value for s in supports(problem))
    assert relaxed.bound >= best
    # The marks attain it: the bound is no worse than the relaxation itself.
    assert relaxed.bound <= problem.at(relaxed.q).value + 1e-3


def test_bound_is_proved_even_without_time():
    problem = make_problem(0)
    relaxed = solve_relaxation(problem, Control(time_limit=1e-9))
    assert relaxed.bound >= max(problem.on_support(s).value for s in supports(problem))
