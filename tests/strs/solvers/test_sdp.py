"""The solver "sdp": ADMM against Clarabel, bounds against brute force, limits and bad input."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from held_clock import stopped_after
from hypothesis import given
from hypothesis import strategies as st
from instances import examples

from tellapart.errors import InputError, MissingDependencyError
from tellapart.strs import ShiftedFactor, SparseTrustRegion, solve
from tellapart.strs.bounds.admm import AdmmSettings, Anderson, solve_admm
from tellapart.strs.bounds.conic import solve_conic
from tellapart.strs.contract import Control
from tellapart.strs.solvers.sdp import Sdp


def admm(A, a, d, *, forced=None, start=None, **settings):
    forced = np.zeros(len(a), dtype=bool) if forced is None else forced
    return solve_admm(A, a, d, forced, AdmmSettings(**settings), lambda _: False, start)


def sparse_pca(rng, size):
    B = rng.normal(size=(size, size))
    return B.T @ B / size, np.zeros(size)


def linear_kernel(rng, size):
    B = rng.normal(size=(size, size)) * rng.uniform(0.1, 1.0, size)
    return -B.T @ B / size, np.abs(rng.normal(size=size)) * 0.3


def indefinite(rng, size):
    B = rng.normal(size=(size, size))
    return (B + B.T) / 2, rng.normal(size=size)


@examples(12)
@given(
    st.sampled_from([sparse_pca, linear_kernel, indefinite]),
    st.sampled_from([(6, 2), (12, 3), (12, 8), (16, 5)]),
)
def test_admm_equals_clarabel(kind, shape):
    size, d = shape
    A, a = kind(np.random.default_rng(size + d), size)
    forced = np.zeros(size, dtype=bool)
    oracle = solve_conic(A, a, d, forced)
    standing = admm(A, a, d)
    assert standing.converged
    assert abs(standing.bound.value - oracle.value) <= 1e-4 * abs(oracle.value)
    assert standing.value == pytest.approx(oracle.value, rel=5e-4)
    forced[[0, 2]] = d > 2
    standing, oracle = admm(A, a, d, forced=forced), solve_conic(A, a, d, forced)
    assert abs(standing.bound.value - oracle.value) <= 1e-4 * abs(oracle.value)


def test_e4_the_solution_has_z00_one():
    A, a = indefinite(np.random.default_rng(0), 10)
    standing = admm(A, a, 3, tolerance=1e-6)
    assert standing.iterate.Y[0, 0] == 1.0
    assert standing.Z[0, 0] == pytest.approx(1.0, abs=1e-4)
    assert np.trace(standing.Z) == pytest.approx(2.0)


def test_progress_is_the_same_at_every_scale():
    A, a = indefinite(np.random.default_rng(1), 10)
    plain = admm(A, a, 3)
    for factor in (1e-8, 1e8):
        scaled = admm(factor * A, factor * a, 3)
        assert scaled.bound.value == pytest.approx(factor * plain.bound.value, rel=1e-4)
    shifted = admm(A + 7.0 * np.eye(10), a, 3)
    assert shifted.bound.value == pytest.approx(plain.bound.value + 7.0, rel=1e-4)


def test_warm_start_saves_iterations():
    A, a = sparse_pca(np.random.default_rng(2), 20)
    cold = admm(A, a, 4)
    warm = admm(A + 1e-4 * np.eye(20), a, 4, start=cold.iterate)
    assert warm.iterations < cold.iterations / 2
    kept = np.arange(1, 20)
    smaller = admm(A[1:, 1:], a[1:], 4, start=cold.iterate.columns(kept))
    assert smaller.bound.value <= cold.bound.value * (1 + 1e-4)


def test_anderson_ends_an_affine_iteration():
    M = np.array([[0.9, 0.05], [0.0, 0.8]])
    anderson = Anderson(5, 2)
    x = np.array([1.0, 1.0])
    for _ in range(6):
        x = anderson.extrapolate(x, M @ x - x)
    assert np.abs(x).max() < 1e-6
    anderson.reset()
    np.testing.assert_allclose(anderson.extrapolate(x, np.ones(2)), x + 1.0)


def problems():
    rng = np.random.default_rng(3)
    B = rng.normal(size=(8, 8))
    zero, ones = np.zeros(8), np.ones(8)
    low_rank = np.outer(B[0], B[0])
    return {
        "psd": SparseTrustRegion(B @ B.T, B[0], 3),
        "nsd": SparseTrustRegion(-B @ B.T, B[0], 3),
        "indefinite": SparseTrustRegion(B + B.T, B[0], 3),
        "a is zero": SparseTrustRegion(B @ B.T, zero, 3),
        "a dominates": SparseTrustRegion(B + B.T, 100 * B[0], 3),
        "ties": SparseTrustRegion(np.ones((8, 8)), ones, 3),
        "identity": SparseTrustRegion(np.eye(8), zero, 3),
        "all zero": SparseTrustRegion(np.zeros((8, 8)), zero, 3),
        "d = 1": SparseTrustRegion(B + B.T, B[0], 1),
        "d = D": SparseTrustRegion(B + B.T, B[0], 8),
        "D = 1": SparseTrustRegion([[2.0]], [-1.0], 1),
        "low rank": SparseTrustRegion(low_rank, zero, 3),
        "hard case": SparseTrustRegion(np.diag([3.0, 3, 3, 1, 1, 1, 1, 1]), np.eye(8)[4], 3),
        "factor": SparseTrustRegion(ShiftedFactor(1.0, B[:5]), B[0], 3),
        "value near zero": SparseTrustRegion(B @ B.T - 20.5 * np.eye(8), zero, 3),
    }


@examples(len(problems()))
@given(st.sampled_from(list(problems())))
def test_solution_is_feasible_and_bounded(case):
    problem = problems()[case]
    solution = solve(problem, Sdp())
    best = solve(problem, "brute-force").value
    assert solution.support.shape[0] <= problem.d
    assert np.linalg.norm(solution.z) == pytest.approx(1.0)
    assert solution.value == pytest.approx(problem.value(solution.z))
    assert solution.upper_bound is not None
    assert solution.value <= best + 1e-9 * (1 + abs(best))
    assert best <= solution.upper_bound + 1e-15 * abs(best)
    assert solution.status in ("optimal", "feasible")
    assert solution.solver == "sdp"
    if case in ("d = D", "D = 1", "identity", "all zero", "ties", "a dominates", "hard case"):
        assert solution.status == "optimal"


def test_bounds_hold_on_many_random_problems():
    rng = np.random.default_rng(4)
    for trial in range(150):
        size = int(rng.integers(1, 9))
        A, a = (sparse_pca, linear_kernel, indefinite)[trial % 3](rng, size)
        problem = SparseTrustRegion(A, a, int(rng.integers(1, size + 1)))
        solution = solve(problem, Sdp(settings=AdmmSettings(max_iterations=40)))
        best = solve(problem, "brute-force").value
        assert solution.value <= best + 1e-12 * (1 + abs(best))
        assert best <= solution.upper_bound + 1e-15 * abs(best)


def test_start_is_used():
    problem = problems()["indefinite"]
    best = solve(problem, "brute-force")
    solution = Sdp().solve(problem, stopped_after(0), best.support)
    assert solution.value == pytest.approx(best.value)


def test_time_limit_is_kept_with_a_bound():
    B = np.random.default_rng(5).normal(size=(60, 60))
    problem = SparseTrustRegion(B @ B.T, np.zeros(60), 10)
    for readings in (0, 1, 35):
        solution = Sdp().solve(problem, stopped_after(readings, gap=1e-9))
        assert solution.status == "time_limit"
        assert solution.iterations <= readings
        assert solution.value <= solution.upper_bound


def test_interrupt_returns_the_best_so_far():
    problem = problems()["psd"]

    def interrupt(iterations, value, bound):
        if iterations >= 10:
            raise KeyboardInterrupt

    control = replace(Control(gap=0.0), progress=interrupt)
    solution = Sdp().solve(problem, control)
    assert solution.iterations == 10
    assert solution.upper_bound >= solve(problem, "brute-force").value


def test_too_many_variables_are_refused():
    problem = SparseTrustRegion(np.eye(5), np.zeros(5), 2)
    with pytest.raises(InputError, match="at most 4 variables; got D = 5"):
        solve(problem, Sdp(largest=4))


def test_missing_clarabel_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(MissingDependencyError, match=r"tellapart\[solvers\]"):
        solve_conic(np.eye(2), np.zeros(2), 1, np.zeros(2, dtype=bool))
    assert solve(SparseTrustRegion(np.eye(2), np.zeros(2), 1), Sdp()).status == "optimal"
