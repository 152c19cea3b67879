"""The best support so far: higher values take over, equal ones do not."""

import numpy as np
from instances import best_value, problem_of

from tellapart.strs import SparseTrustRegion
from tellapart.strs.contract import Control
from tellapart.strs.incumbent import Incumbent
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
