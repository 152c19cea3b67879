"""A search that the clock stopped goes on where it was, and what it has never gets worse."""

import numpy as np
import pytest
from held_clock import stopped_after

from tellapart.errors import InputError
from tellapart.strs import SparseTrustRegion, solve
from tellapart.strs.contract import Control
from tellapart.strs.problem import SparseRatio
from tellapart.strs.solvers.branch_and_bound import BranchAndBound


def hard_problem(size=60, d=8):
    rng = np.random.default_rng(5)
    B = rng.normal(size=(size, size)) / size**0.5
    return SparseTrustRegion(-(B @ B.T), rng.normal(size=size), d, nonnegative=True)


def hard_ratio(size=36, d=6):
    rng = np.random.default_rng(6)
    B = rng.normal(size=(size, 2 * size))
    M = B @ B.T / (2 * size) + 0.1 * np.eye(size)
    return SparseRatio(M, 0.5 + rng.random(size), d, nonnegative=True)


def test_open_nodes_are_kept():
    problem, solver = hard_ratio().squared, BranchAndBound()
    whole = solver.solve(problem, Control())
    assert whole.search is None
    solution = solver.solve(problem, stopped_after(20))
    bounds, values, pieces = [solution.upper_bound], [solution.value], 1
    while solution.search is not None:
        solution = solution.search.resume(stopped_after(40))
        bounds.append(solution.upper_bound)
        values.append(solution.value)
        pieces += 1
    assert pieces > 3
    assert solution.status == "optimal"
    assert bounds == sorted(bounds, reverse=True)
    assert values == sorted(values)
    assert solution.value == pytest.approx(whole.value, rel=1e-12)
    # In pieces hardly more nodes are visited than at once: none was begun anew.
    assert solution.iterations <= whole.iterations + 2 * pieces


@pytest.mark.parametrize("make", [hard_problem, hard_ratio])
@pytest.mark.parametrize("solver", ["branch-and-bound", "local-search"])
def test_solutions_never_get_worse(make, solver):
    problem = make()
    best = solve(problem, "branch-and-bound")
    earlier = solve(problem, solver, time_limit=1e-9)
    later = solve(problem, solver, resume=earlier)
    assert later.value >= earlier.value
    assert later.seconds >= earlier.seconds
    if earlier.upper_bound is not None:
        assert later.upper_bound <= earlier.upper_bound
    if solver == "branch-and-bound":
        assert later.status == "optimal"
        assert later.value == pytest.approx(best.value, rel=1e-4)
    # Proved before, and kept by a solver that proves nothing.
    kept = solve(problem, "local-search", resume=best, time_limit=1e-9)
    assert (kept.value, kept.upper_bound) == (best.value, best.upper_bound)
    assert kept.status == "optimal"


@pytest.mark.parametrize("wrong", ["x", solve(SparseTrustRegion(np.eye(3), np.ones(3), 1))])
def test_resume_is_checked(wrong):
    with pytest.raises(InputError, match="resume must be a Solution of a problem with 60 columns"):
        solve(hard_problem(), resume=wrong)
