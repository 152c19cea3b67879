"""Weights z ≥ 0: every solver that takes them, against a slow oracle."""

import numpy as np
import pytest
from slow_oracle import TRUST_REGION_KINDS, any_trust_region, nonnegative_optimum

from tellapart.errors import InputError
from tellapart.strs import SOLVERS, ShiftedFactor, SparseTrustRegion, solve
from tellapart.strs.contract import Control
from tellapart.strs.solvers.thresholding import Thresholding

TAKES_SIGNS_ONLY = ["sdp", "convex-integer", "outer-approximation", "misdp"]
EXACT = ["brute-force", "branch-and-bound"]
HEURISTIC = ["truncation", "local-search", "auto"]


def small_problem(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 7))
    d = int(rng.integers(1, min(size, 3) + 1))
    A, a = any_trust_region(rng, size, seed % TRUST_REGION_KINDS)
    required = rng.choice(size, rng.integers(0, d + 1), replace=False) if seed % 4 == 0 else ()
    return SparseTrustRegion(A, a, d, True, np.array(required, dtype=int)), rng


def check(problem, solution, best):
    scale = np.abs(problem.A).max() + np.abs(problem.a).max()
    assert (solution.z >= 0).all()
    assert np.linalg.norm(solution.z) == pytest.approx(1.0, rel=1e-12)
    assert np.union1d(solution.support, problem.required).shape[0] <= problem.d
    assert solution.value == problem.value(solution.z)
    assert solution.value <= best + 1e-9 * scale
    if solution.upper_bound is not None:
        assert solution.upper_bound >= best - 1e-12 * scale
    if solution.status == "optimal":
        assert solution.value >= best - 1e-4 * abs(best) - 1e-9 * scale
    return scale


@pytest.mark.long
def test_exact_solvers_agree_with_the_oracle():
    for seed in range(12 * TRUST_REGION_KINDS):
        problem, rng = small_problem(seed)
        best = nonnegative_optimum(problem.A, problem.a, problem.d, rng, problem.required)
        for name in EXACT:
            solution = solve(problem, name)
            scale = check(problem, solution, best)
            # At a value of 0 rounding error hides the relative gap.
            assert solution.status == "optimal" or abs(best) < 1e-11 * scale


def test_heuristics_are_feasible():
    for seed in range(3 * TRUST_REGION_KINDS):
        problem, rng = small_problem(seed)
        best = nonnegative_optimum(problem.A, problem.a, problem.d, rng, problem.required)
        for name in HEURISTIC:
            check(problem, solve(problem, name), best)
        check(problem, Thresholding().solve(problem, Control()), best)


@pytest.mark.parametrize("name", TAKES_SIGNS_ONLY)
def test_other_solvers_say_who_does(name):
    for options in ({"nonnegative": True}, {"required": [1]}):
        problem = SparseTrustRegion(np.eye(3), np.ones(3), 2, **options)
        with pytest.raises(InputError, match="use 'branch-and-bound', 'brute-force'"):
            solve(problem, name)
    assert {*TAKES_SIGNS_ONLY, *EXACT, "truncation", "local-search"} == {*SOLVERS}


def test_never_above_the_signed_optimum_and_equal_where_its_weights_are_positive():
    equal = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        B = rng.normal(size=(40, 25))
        factor, a = ShiftedFactor(0.0, B / 8), rng.normal(size=25) + 1.0
        signed = solve(SparseTrustRegion(factor, a, 5), "branch-and-bound")
        nonnegative = solve(SparseTrustRegion(factor, a, 5, nonnegative=True), "branch-and-bound")
        assert nonnegative.status == "optimal"
        assert nonnegative.value <= signed.upper_bound
        if (signed.z >= 0).all():
            equal += 1
            assert nonnegative.value == pytest.approx(signed.value, rel=1e-4)
    assert equal > 5


def test_loose_hull_does_not_lead_to_the_semidefinite_bounds():
    rng = np.random.default_rng(3)
    B = rng.normal(size=(14, 14))
    problem = SparseTrustRegion(B.T @ B, np.zeros(14), 4, nonnegative=True)
    solution = solve(problem, "branch-and-bound")
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(solve(problem, "brute-force").value, rel=1e-4)


def test_required_variables():
    A, a = -np.eye(5), np.array([5.0, 4.0, 3.0, 0.1, 0.2])
    for name in [*EXACT, "local-search"]:
        solution = solve(SparseTrustRegion(A, a, 2, required=[3]), name)
        np.testing.assert_array_equal(solution.support, [0, 3])
        whole = solve(SparseTrustRegion(A, a, 2, required=[4, 3]), name, start=np.eye(5)[0])
        np.testing.assert_array_equal(whole.support, [3, 4])


@pytest.mark.parametrize(
    "required", [[5], [-1], [0, 0], [0, 1, 2], [0.5], ["a"], [[0]], 1, [[0], [1, 2]]]
)
def test_required_is_checked(required):
    with pytest.raises(InputError, match="required must be at most d = 2 different indices"):
        SparseTrustRegion(np.eye(5), np.ones(5), 2, required=required)


def test_nonnegative_is_checked():
    with pytest.raises(InputError, match="nonnegative must be True or False"):
        SparseTrustRegion(np.eye(2), np.ones(2), 1, nonnegative=1)
