"""One table: what every solver must do, whatever its method."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from instances import KINDS, best_value, problem_of, scale_of

from tellapart.strs import SOLVERS, ShiftedFactor, SparseTrustRegion, solve

EXACT = {"brute-force", "branch-and-bound", "outer-approximation", "misdp"}
SIZES = [(1, 1), (5, 1), (6, 3), (5, 5)]


def table_problem(kind, size, d):
    """Return the problem; the hard case needs two variables, factors come as one kind more."""
    if kind == "factor":
        rng = np.random.default_rng([size, d])
        return SparseTrustRegion(
            ShiftedFactor(0.2, rng.normal(size=(3, size))), rng.normal(size=size), d
        )
    return problem_of(kind, max(size, 2) if kind == "hard case" else size, d)


@cache
def optimum(kind, size, d):
    """Return the optimal value of a problem of the table, computed once."""
    return best_value(table_problem(kind, size, d))


@pytest.mark.parametrize("name", SOLVERS)
def test_contract(name):
    for kind, (size, d) in product([*KINDS, "factor"], SIZES):
        check(name, kind, size, d)


def check(name, kind, size, d):
    problem = table_problem(kind, size, d)
    solution = solve(problem, name, random_state=0)
    scale = scale_of(problem)
    assert solution.solver == name
    assert solution.z.shape == (problem.n_columns,)
    assert np.linalg.norm(solution.z) == pytest.approx(1.0, rel=1e-12)
    assert 1 <= solution.support.shape[0] <= problem.d
    np.testing.assert_array_equal(solution.support, np.flatnonzero(solution.z))
    assert solution.value == problem.value(solution.z)

    best = optimum(kind, size, d)
    noise = max(1e-11 * scale, problem.resolution)
    assert solution.value <= best + noise
    if solution.upper_bound is not None:
        assert solution.upper_bound >= solution.value
        assert solution.upper_bound >= best - 1e-12 * scale
    if solution.status == "optimal":
        assert solution.value >= best - 1e-4 * abs(best) - noise
    if name in EXACT:
        assert solution.status == "optimal"


@pytest.mark.parametrize("name", SOLVERS)
def test_start_is_never_lost_and_the_same_seed_gives_the_same_point(name):
    problem = problem_of("indefinite", 6, 3)
    best = solve(problem, "brute-force")
    solution = solve(problem, name, start=best.z, random_state=0)
    assert solution.value >= best.value - 1e-4 * abs(best.value)
    first, second = (solve(problem, name, random_state=1) for _ in range(2))
    np.testing.assert_array_equal(first.z, second.z)
