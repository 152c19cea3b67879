"""The best support so far, and the swaps that improve it within the time there is."""

import numpy as np
import pytest
from held_clock import stopped_after
from hypothesis import given
from hypothesis import strategies as st
from instances import KINDS, best_value, examples, problem_of, scale_of

from tellapart.strs import SparseTrustRegion
from tellapart.strs.contract import Control
from tellapart.strs.incumbent import Incumbent, fill_up, improve_by_swaps
from tellapart.strs.problem import polish


def test_only_a_higher_value_takes_over():
    problem = SparseTrustRegion(np.diag([1.0, 3.0, 3.0, 2.0]), np.zeros(4), 1)
    best = Incumbent(problem, Control())
    assert best.value == -np.inf
    offered = [best.offer(np.array([i])) for i in range(4)]
    assert offered == [1.0, 3.0, 3.0, 2.0]
    assert (best.support.tolist(), best.value) == ([1], 3.0)


def test_swaps_start_from_better_supports_only():
    problem = problem_of("indefinite", 9, 3)
    worst, other = np.array([0, 1, 2]), np.array([3, 4, 5])
    if polish(problem, worst)[1] > polish(problem, other)[1]:
        worst, other = other, worst
    plain, swapped = Incumbent(problem, Control()), Incumbent(problem, Control())
    plain.offer(other)
    assert plain.offer(worst, swaps=True) == polish(problem, worst)[1]
    assert plain.support is other
    assert swapped.offer(worst, swaps=True) == polish(problem, worst)[1]
    assert plain.value < swapped.value <= best_value(problem) + 1e-12
    assert plain.improve(other) >= 1
    assert plain.value > polish(problem, other)[1]


def test_the_solution_is_that_of_the_best_support():
    problem = problem_of("indefinite", 9, 3)
    best = Incumbent(problem, Control(gap=0.1))
    best.offer(np.array([1, 4, 6]))
    solution = best.solution("mine", 7, upper_bound=best.cutoff * (1 - 1e-12))
    assert (solution.solver, solution.iterations, solution.status) == ("mine", 7, "optimal")
    assert solution.support.tolist() == [1, 4, 6]
    assert solution.value == problem.value(solution.z)
    assert best.solution("mine", 7).upper_bound is None


@examples(48)
@given(st.sampled_from(list(KINDS)), st.sampled_from([(12, 4), (12, 1), (7, 6)]))
def test_no_swap_helps(kind, shape):
    size, d = shape
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


def test_all_variables_chosen_leaves_nothing_to_swap():
    problem = problem_of("indefinite", 5, 5)
    support, _, sweeps = improve_by_swaps(problem, np.arange(5), Control())
    assert support.tolist() == [0, 1, 2, 3, 4]
    assert sweeps == 0


def test_no_time_means_no_sweep():
    problem = problem_of("indefinite", 9, 3)
    support, value, sweeps = improve_by_swaps(problem, np.array([0, 1, 2]), stopped_after(0))
    assert support.tolist() == [0, 1, 2]
    assert value == polish(problem, support)[1]
    assert sweeps == 0


def test_short_supports_are_filled_up():
    problem = SparseTrustRegion(np.eye(4), np.array([0.0, 3.0, 1.0, 2.0]), 3)
    assert fill_up(problem, np.array([2])).tolist() == [1, 2, 3]
    assert fill_up(problem, np.array([0, 1, 2])).tolist() == [0, 1, 2]
