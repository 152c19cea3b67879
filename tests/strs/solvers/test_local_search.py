import numpy as np
import pytest
from held_clock import stopped_after
from hypothesis import given
from hypothesis import strategies as st
from instances import KINDS, best_value, examples, gram, problem_of, scale_of

from tellapart.strs import SparseTrustRegion, solve
from tellapart.strs.contract import Control
from tellapart.strs.solvers.local_search import LocalSearch


@examples(32)
@given(st.sampled_from(list(KINDS)), st.sampled_from([1e-12, 1e12]))
def test_never_above_the_optimum(kind, scale):
    problem = problem_of(kind, 8, 3, scale=scale)
    solution = solve(problem, "local-search")
    assert solution.upper_bound is None
    assert solution.value <= best_value(problem) + 1e-12 * scale_of(problem)


def test_a_start_is_never_lost():
    problem = problem_of("indefinite", 10, 3)
    best = solve(problem, "brute-force")
    assert solve(problem, "local-search", start=best.z).value == pytest.approx(best.value)


def test_few_candidates_still_feasible():
    problem = problem_of("indefinite", 12, 4)
    solution = LocalSearch(candidates=2).solve(problem, Control())
    assert solution.support.shape == (4,)


@pytest.mark.parametrize("d", [100, 250])
def test_time_limit_is_obeyed_for_large_supports(d):
    rng = np.random.default_rng(0)
    problem = SparseTrustRegion(-gram(rng, 400, 100), rng.normal(size=400), d)
    for readings in (0, 1, 20):
        control = stopped_after(readings)
        solution = LocalSearch().solve(problem, control)
        # One more look ends each loop that was under way, one more gives the status.
        assert control.clock.now <= readings + 10
        assert solution.status == "time_limit"
        assert solution.support.shape[0] <= d
