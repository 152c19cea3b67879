import numpy as np
import pytest
from held_clock import stopped_after
from instances import KINDS, best_value, gram, problem_of, scale_of

from tellapart.strs import SparseTrustRegion, solve
from tellapart.strs.control import Control
from tellapart.strs.solvers.local_search import LocalSearch, fill_up, improve_by_swaps
from tellapart.strs.trust_region import polish


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("size", "d"), [(12, 4), (12, 1), (7, 6)])
def test_no_swap_helps(kind, size, d):
    problem = problem_of(kind, size, d)
    start = np.sort(np.random.default_rng(0).choice(size, d, replace=False))
    support, value, sweeps = improve_by_swaps(problem, start, Control())
    assert support.shape == (d,)
    assert sweeps >= 1
    assert value >= polish(problem, start)[1]
    assert value == pytest.approx(polish(problem, support)[1], rel=1e-12)
    for leaving in support:
        for coming in np.setdiff1d(np.arange(size), support):
            other = np.sort(np.append(support[support != leaving], coming))
            assert polish(problem, other)[1] <= value + 2e-12 * scale_of(problem)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_never_above_the_optimum(kind, scale):
    problem = problem_of(kind, 8, 3, scale=scale)
    solution = solve(problem, "local-search")
    assert solution.upper_bound is None
    assert solution.value <= best_value(problem) + 1e-12 * scale_of(problem)


def test_all_variables_chosen_leaves_nothing_to_swap():
    problem = problem_of("indefinite", 5, 5)
    support, _, sweeps = improve_by_swaps(problem, np.arange(5), Control())
    assert support.tolist() == [0, 1, 2, 3, 4]
    assert sweeps == 0


def test_short_supports_are_filled_up():
    problem = SparseTrustRegion(np.eye(4), np.array([0.0, 3.0, 1.0, 2.0]), 3)
    assert fill_up(problem, np.array([2])).tolist() == [1, 2, 3]
    assert fill_up(problem, np.array([0, 1, 2])).tolist() == [0, 1, 2]


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
