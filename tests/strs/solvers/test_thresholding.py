"""Thresholding: feasible, never worse than the truncation of a, silent about bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import examples

from tellapart.strs import ShiftedFactor, SparseTrustRegion, solve
from tellapart.strs.problem import polish
from tellapart.strs.solvers.thresholding import Thresholding


def problem(seed, size=12, d=4, regularization=1.0, factored=False):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(size // 2, size)) * np.sqrt(regularization)
    a = rng.normal(size=size)
    return SparseTrustRegion(ShiftedFactor(0.0, B) if factored else -B.T @ B, a, d)


@examples(20)
@given(st.integers(0, 10**6), st.sampled_from([0.01, 1.0, 100.0]), st.booleans())
def test_feasible_and_between_truncation_and_optimum(seed, regularization, factored):
    task = problem(seed, regularization=regularization, factored=factored)
    solution = solve(task, solver=Thresholding())
    first = np.sort(np.argsort(-np.abs(task.a))[:4])
    assert solution.support.size <= 4
    assert np.linalg.norm(solution.z) == pytest.approx(1.0)
    assert solution.value == pytest.approx(task.value(solution.z))
    assert solution.value >= polish(task, first)[1] - 1e-12
    assert solution.value <= solve(task, solver="brute-force").value + 1e-9
    assert solution.upper_bound is None
    assert solution.status == "feasible"


def test_exact_without_a_matrix():
    task = SparseTrustRegion(np.zeros((5, 5)), np.array([3.0, -4.0, 0.0, 1.0, 0.0]), 2)
    solution = solve(task, solver=Thresholding())
    assert solution.support.tolist() == [0, 1]
    assert solution.value == pytest.approx(5.0)


def test_a_start_can_only_help():
    task = problem(3)
    optimum = solve(task, solver="brute-force")
    assert solve(task, solver=Thresholding(), start=optimum.z).value == pytest.approx(optimum.value)


def test_nothing_at_all_is_still_a_point():
    task = SparseTrustRegion(np.zeros((3, 3)), np.zeros(3), 2)
    assert solve(task, solver=Thresholding()).value == 0.0


def test_deterministic():
    one, other = (solve(problem(1, size=40), solver=Thresholding()) for _ in range(2))
    np.testing.assert_array_equal(one.z, other.z)
