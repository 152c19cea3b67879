from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from held_clock import stopped_after
from hypothesis import given
from hypothesis import strategies as st
from instances import KINDS, best_value, examples, problem_of, scale_of

from tellapart.errors import InputError
from tellapart.strs import ShiftedFactor, SparseTrustRegion, solve
from tellapart.strs.solvers.brute_force import BruteForce


@examples(48)
@given(st.sampled_from(list(KINDS)), st.sampled_from([1, 3, 6]))
def test_best_of_all_supports_with_a_bound_above_it(kind, d):
    problem = problem_of(kind, 6, d)
    solution = solve(problem, "brute-force")
    best = best_value(problem)
    assert solution.value == pytest.approx(best, rel=1e-12, abs=1e-12 * scale_of(problem))
    assert solution.upper_bound >= best
    assert solution.iterations == len(list(combinations(range(6), d)))


def test_smaller_supports_are_no_better():
    problem = problem_of("indefinite", 6, 3)
    values = [solve(SparseTrustRegion(problem.A, problem.a, d)).value for d in (1, 2, 3)]
    assert values == sorted(values)


def test_bound_holds_in_exact_arithmetic():
    """One variable each: the optimum of A_ii + |a_i| is a rational number."""
    rng = np.random.default_rng(0)
    B, a = rng.normal(size=(50, 8)), rng.normal(size=8)
    solution = solve(SparseTrustRegion(ShiftedFactor(-0.3, B), a, 1), "brute-force")
    exact = max(
        Fraction(-0.3) - sum(Fraction(x) ** 2 for x in B[:, i]) + abs(Fraction(a[i]))
        for i in range(8)
    )
    assert Fraction(solution.upper_bound) >= exact


def test_time_limit_leaves_no_bound():
    problem = problem_of("indefinite", 20, 8)
    solution = BruteForce(batch=10).solve(problem, stopped_after(3))
    assert solution.status == "time_limit"
    assert solution.upper_bound is None
    assert solution.iterations == 20
    assert solution.support.shape == (8,)


def test_progress_and_start():
    told = []
    problem = problem_of("indefinite", 8, 3)
    best = solve(problem, "brute-force", progress=lambda *args: told.append(args))
    assert told[-1] == (56, pytest.approx(best.value), None)
    again = solve(problem, "brute-force", start=best.z)
    assert again.value == pytest.approx(best.value)


def test_too_many_supports_are_refused_with_advice():
    with pytest.raises(InputError, match=r"brute-force.*branch-and-bound"):
        solve(problem_of("NSD", 60, 10), "brute-force")
