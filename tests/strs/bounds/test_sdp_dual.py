"""The dual function: a bound for every multiplier, and the relaxation's value at the best."""

from itertools import combinations

import numpy as np
import pytest
from instances import any_matrix

from tellapart.strs.bounds.conic import solve_conic
from tellapart.strs.bounds.sdp import dual_bound, sphere_bound
from tellapart.strs.domains import maximise_on_sphere
from tellapart.strs.problem import SparseTrustRegion, polish


def optimum(A, a, d, forced=()):
    problem = SparseTrustRegion(A, a, d)
    rest = [i for i in range(len(a)) if i not in forced]
    return max(
        polish(problem, np.sort(np.array([*forced, *chosen], dtype=np.intp)))[1]
        for chosen in combinations(rest, d - len(forced))
    )


def random_problem(rng, trial):
    size = int(rng.integers(1, 7))
    A = any_matrix(rng, size, trial % 6)
    a = rng.normal(size=size) * rng.choice([0.0, 1.0, 10.0])
    return A, a, int(rng.integers(1, size + 1))


def test_every_multiplier_gives_a_bound():
    rng = np.random.default_rng(0)
    for trial in range(400):
        A, a, d = random_problem(rng, trial)
        size = len(a)
        forced = np.zeros(size, dtype=bool)
        if trial % 3 == 0:
            forced[rng.permutation(size)[: int(rng.integers(0, d + 1))]] = True
        best = optimum(A, a, d, tuple(np.flatnonzero(forced)))
        W = rng.normal(size=(size, size)) * 10 ** rng.uniform(-3, 1)
        if trial % 2:
            W += A
        for multiplier in (W, A, None):
            bound = dual_bound(A, a, d, forced, multiplier)
            assert bound.value >= best
            free = np.sort(bound.rows[~forced])[::-1][: d - forced.sum()].sum()
            total = bound.sphere + bound.rows[forced].sum() + free
            assert np.isclose(total, bound.value, rtol=1e-9, atol=1e-12)


def test_without_multiplier_it_is_the_trust_region_bound():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(5, 5))
    A = A + A.T
    a = rng.normal(size=5)
    exact = maximise_on_sphere(A, a)[1]
    assert exact <= dual_bound(A, a, 2, np.zeros(5, dtype=bool)).value <= exact + 1e-11


@pytest.mark.parametrize("a", [np.zeros(3), np.array([0.0, 1.0, 0.0]), np.array([1e-9, 0, 0])])
def test_sphere_bound_in_the_hard_case(a):
    A = np.diag([2.0, 2.0, 0.0])
    exact = maximise_on_sphere(A, a)[1]
    assert exact <= sphere_bound(A, a) <= exact + 1e-12


def test_zero_problem_has_bound_zero():
    assert sphere_bound(np.zeros((2, 2)), np.zeros(2)) == 0.0


def test_best_multiplier_reaches_the_relaxation():
    rng = np.random.default_rng(2)
    for trial in range(24):
        A, a, d = random_problem(rng, trial)
        conic = solve_conic(A, a, d, np.zeros(len(a), dtype=bool))
        assert conic.solved
        scale = np.linalg.norm(A) + np.linalg.norm(a)
        assert optimum(A, a, d) <= conic.bound.value
        assert conic.bound.value <= conic.value + 1e-5 * scale


def test_forced_variables_are_in_the_conic_relaxation():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(6, 6))
    A = A + A.T
    a = rng.normal(size=6)
    forced = np.array([True, False, False, True, False, False])
    conic = solve_conic(A, a, 3, forced)
    assert optimum(A, a, 3, (0, 3)) <= conic.bound.value <= conic.value + 1e-5
    assert conic.bound.value <= solve_conic(A, a, 3, np.zeros(6, dtype=bool)).bound.value + 1e-6


@pytest.mark.parametrize("limits", [{"time_limit": 0.0}, {"tolerance": 0.5}])
def test_a_poor_conic_solve_still_proves_its_bound(limits):
    rng = np.random.default_rng(4)
    A = rng.normal(size=(12, 12))
    A = A @ A.T
    conic = solve_conic(A, np.zeros(12), 3, np.zeros(12, dtype=bool), **limits)
    assert conic.bound.value >= optimum(A, np.zeros(12), 3)


def test_guarantee_of_the_relaxation():
    """opt ≤ relaxation ≤ ‖a‖₂ + min{(D/d)·opt, d·opt − min|a_k|} for A ⪰ 0."""
    rng = np.random.default_rng(5)
    for trial in range(30):
        size = int(rng.integers(2, 8))
        d = int(rng.integers(1, size + 1))
        B = rng.normal(size=(int(rng.integers(1, size + 1)), size))
        A = B.T @ B
        a = rng.normal(size=size) * (0.0, 0.3, 3.0)[trial % 3]
        relaxation = solve_conic(A, a, d, np.zeros(size, dtype=bool)).value
        best = optimum(A, a, d)
        ceiling = np.linalg.norm(a) + min(size / d * best, d * best - np.abs(a).min())
        assert best - 1e-6 * abs(best) <= relaxation <= ceiling + 1e-6 * abs(ceiling)
