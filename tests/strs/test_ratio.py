"""Sparse ratios: against a slow oracle, and in the corners."""

import numpy as np
import pytest
from slow_oracle import RATIO_KINDS, any_ratio, ratio_optimum

from tellapart.errors import InputError
from tellapart.strs import SparseRatio, compare, solve
from tellapart.strs.contract import PLAIN_ONLY


def small_ratio(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 9))
    d = int(rng.integers(1, min(size, 4) + 1))
    M, a = any_ratio(rng, size, seed // 2 % RATIO_KINDS)
    count = int(rng.integers(0, d + 1)) if seed % 5 == 0 else 0
    required = rng.choice(size, count, replace=False)
    return SparseRatio(M, a, d, nonnegative=bool(seed % 2), required=required)


def check(problem, solution, best):
    assert not problem.nonnegative or (solution.z >= 0).all()
    assert np.linalg.norm(solution.z) == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_array_equal(solution.support, np.flatnonzero(solution.z))
    assert np.union1d(solution.support, problem.required).shape[0] <= problem.d
    assert solution.value == problem.value(solution.z)
    z = solution.z
    assert solution.value == pytest.approx(problem.a @ z / np.sqrt(z @ problem.M @ z), rel=1e-6)
    assert solution.value <= best + 1e-9 * abs(best)
    if solution.upper_bound is not None:
        assert solution.upper_bound >= best - 1e-11 * abs(best)
    if solution.status == "optimal":
        assert solution.gap <= 1e-4
        assert solution.value >= best - 1.001e-4 * abs(best)


def test_exact_solvers_agree_with_the_oracle():
    for seed in range(16 * RATIO_KINDS):
        problem = small_ratio(seed)
        best = ratio_optimum(
            problem.M, problem.a, problem.d, problem.nonnegative, problem.required.tolist()
        )
        for name in ("brute-force", "branch-and-bound"):
            solution = solve(problem, name)
            check(problem, solution, best)
            assert solution.status == "optimal"
        for name in ("truncation", "local-search", "auto"):
            check(problem, solve(problem, name), best)


def test_equals_least_squares_on_the_whole_set():
    rng = np.random.default_rng(0)
    B = rng.normal(size=(8, 5))
    M, a = B.T @ B, rng.normal(size=5)
    solution = solve(SparseRatio(M, a, 5))
    assert solution.value == pytest.approx(np.sqrt(a @ np.linalg.solve(M, a)), rel=1e-12)
    direction = np.linalg.solve(M, a)
    np.testing.assert_allclose(solution.z, direction / np.linalg.norm(direction), atol=1e-10)


def test_no_positive_numerator():
    M = np.array([[1.0, 0.2, 0.0], [0.2, 4.0, 0.0], [0.0, 0.0, 1.0]])
    solution = solve(SparseRatio(M, [-3.0, -2.0, -2.0], 2, nonnegative=True))
    np.testing.assert_array_equal(solution.z, [0, 1, 0])
    assert (solution.value, solution.status) == (-1.0, "optimal")
    within = SparseRatio(M, [-3.0, 5.0, -2.0], 2, nonnegative=True, required=[0, 2])
    assert solve(within).value == -2.0
    nothing = solve(SparseRatio(M, np.zeros(3), 2))
    assert (nothing.value, nothing.upper_bound, nothing.status) == (0.0, 0.0, "optimal")


def test_units_and_scale_change_nothing():
    rng = np.random.default_rng(4)
    M, a = any_ratio(rng, 7, 0)
    one = solve(SparseRatio(M, a, 3), "branch-and-bound")
    units = 2.0 ** rng.integers(-40, 40, size=7)
    other = SparseRatio(M * units[:, None] * units, 2.0**-200 * a * units, 3)
    scaled = solve(other, "branch-and-bound")
    np.testing.assert_array_equal(scaled.support, one.support)
    assert scaled.value * 2.0**200 == pytest.approx(one.value, rel=1e-12)


def test_progress_speaks_of_ratios():
    rng = np.random.default_rng(1)
    M, a = any_ratio(rng, 30, 0)
    told = []
    solution = solve(
        SparseRatio(M, a, 4), "branch-and-bound", progress=lambda *news: told.append(news)
    )
    assert told[-1][1] == pytest.approx(solution.value)
    assert all(bound is None or bound >= solution.value * (1 - 1e-9) for _, _, bound in told)


@pytest.mark.parametrize("name", sorted(PLAIN_ONLY))
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_other_solvers_say_who_does(name, sign):
    with pytest.raises(InputError, match="ratios use 'branch-and-bound'"):
        solve(SparseRatio(np.eye(3), sign * np.ones(3), 2, nonnegative=True), name)


def test_compare_leaves_out_who_does_not():
    table = compare(SparseRatio(np.eye(4), np.arange(4.0), 2))
    assert set(table.solutions) == {"truncation", "local-search", "branch-and-bound"}


@pytest.mark.parametrize(
    ("M", "message"),
    [
        (np.ones((2, 2)), "positive definite beyond rounding error"),
        (np.diag([1.0, -1.0]), "positive definite"),
        (np.diag([1.0, 1e-200]), "positive definite, with a diagonal between"),
        (np.ones((2, 3)), "M must be a square matrix"),
        (np.eye(3), "a must have as many entries as M has columns, 3; got 2"),
        ([[1.0, 0.5], [0.0, 1.0]], r"M must be symmetric; got max \|M - M\^T\| = 0.5"),
    ],
)
def test_the_door(M, message):
    with pytest.raises(InputError, match=message):
        SparseRatio(M, np.ones(2), 1)


def test_only_problems_are_solved():
    with pytest.raises(InputError, match="must be a SparseTrustRegion or a SparseRatio; got int"):
        solve(3)
