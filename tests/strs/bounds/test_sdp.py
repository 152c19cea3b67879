"""The strong SDP relaxation: its projections, and its dual function as a bound."""

from itertools import combinations

import clarabel
import numpy as np
import pytest
from instances import any_matrix
from scipy import sparse

from tellapart.strs.bounds.conic import solve_conic
from tellapart.strs.bounds.sdp import (
    dual_bound,
    project_rows,
    project_spectrum,
    row_support,
    row_supports,
    sphere_bound,
)
from tellapart.strs.domains import maximise_on_sphere
from tellapart.strs.problem import SparseTrustRegion, polish


def project(X, d, forced=None, guess=None):
    size = X.shape[0]
    forced = np.zeros(size, dtype=bool) if forced is None else forced
    prices, search = (np.zeros((size, 2)), np.zeros(2)) if guess is None else guess
    return project_rows(np.ascontiguousarray(X), forced, d, prices, search)


def shares(Y, d):
    """The smallest q each row needs."""
    needed = np.zeros(Y.shape[0])
    for i, row in enumerate(Y):
        if row.any():
            needed[i] = max(row @ row, np.abs(row).sum() ** 2 / d) / row[i]
    return needed


def random_matrix(rng, trial):
    size = int(rng.integers(1, 8))
    X = rng.normal(size=(size, size)) * 10 ** rng.uniform(-2, 1)
    if trial % 3 == 0:
        X += np.diag(rng.uniform(0, 1, size)) * np.abs(X).max()
    if trial % 4 == 1:
        X = np.round(X, 1)
    if trial % 7 == 2:
        X = np.outer(X[0], X[0])
    return X, int(rng.integers(1, size + 1))


def conic_projection(X, d, forced):
    """min ½‖Y − X‖² by Clarabel; variables Y, q, P ≥ |Y|."""
    size = X.shape[0]
    n = size * size
    Y = np.arange(n).reshape(size, size)
    q = n + np.arange(size)
    P = n + size + Y
    rows, right, cones = [], [], []

    def add(cone, lines):
        cones.append(cone)
        for line, constant in lines:
            dense = np.zeros(2 * n + size)
            for column, value in line:
                dense[column] -= value
            rows.append(dense)
            right.append(constant)

    inequalities = [([(q[i], -1.0)], 1.0) for i in range(size)]
    inequalities.append(([(column, -1.0) for column in q], float(d)))
    for y, p in zip(Y.ravel(), P.ravel(), strict=True):
        inequalities += [([(p, 1.0), (y, sign)], 0.0) for sign in (1.0, -1.0)]
    inequalities += [([(q[i], 1.0)], -1.0) for i in np.flatnonzero(forced)]
    add(clarabel.NonnegativeConeT(len(inequalities)), inequalities)
    for i in range(size):
        total = [(Y[i, i], 1.0), (q[i], 1.0)]
        difference = [(Y[i, i], 1.0), (q[i], -1.0)]
        entries = [([(y, 2.0)], 0.0) for y in Y[i]]
        add(clarabel.SecondOrderConeT(size + 2), [(total, 0.0), (difference, 0.0), *entries])
        norm = [(p, 2.0 / np.sqrt(d)) for p in P[i]]
        add(clarabel.SecondOrderConeT(3), [(total, 0.0), (difference, 0.0), (norm, 0.0)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    quadratic = sparse.diags(np.append(np.ones(n), np.zeros(n + size))).tocsc()
    linear = np.append(-X.ravel(), np.zeros(n + size))
    answer = clarabel.DefaultSolver(
        quadratic, linear, sparse.csc_matrix(np.array(rows)), np.array(right), cones, settings
    ).solve()
    return np.array(answer.x)[:n].reshape(size, size)


def test_rows_equal_a_conic_solve():
    rng = np.random.default_rng(1)
    for trial in range(40):
        X, d = random_matrix(rng, trial)
        forced = np.zeros(X.shape[0], dtype=bool)
        forced[: int(rng.integers(0, d + 1)) if trial % 5 == 0 else 0] = True
        Y, _ = project(X, d, forced)
        # The interior-point solver itself is accurate to the square root of its gap.
        np.testing.assert_allclose(Y, conic_projection(X, d, forced), atol=1e-4)


def test_rows_are_feasible_and_optimal():
    """X − Y has its largest product with the set at Y: that is what a projection is."""
    rng = np.random.default_rng(2)
    for trial in range(300):
        X, d = random_matrix(rng, trial)
        Y, q = project(X, d)
        assert (shares(Y, d) <= q + 1e-9).all()
        assert (q <= 1.0).all()
        assert q.sum() <= d * (1 + 1e-10)
        normal = X - Y
        supports = np.sort(row_supports(normal, np.sqrt(d), np.zeros((len(X), 2))))[::-1][:d].sum()
        assert supports - np.vdot(normal, Y) <= 1e-9 * (1 + np.abs(X).max()) ** 2


def test_warm_start_changes_nothing():
    rng = np.random.default_rng(3)
    X = np.outer(np.ones(9), np.ones(9)) / 9 + 0.1 * rng.normal(size=(9, 9))
    guess = (np.zeros((9, 2)), np.zeros(2))
    for _ in range(4):
        X += 0.03 * rng.normal(size=X.shape)
        warm, _ = project(X, 3, guess=guess)
        cold, _ = project(X, 3)
        np.testing.assert_allclose(warm, cold, atol=1e-10)


def test_rows_of_a_feasible_matrix_stay():
    z = np.zeros(6)
    z[:3] = [0.6, -0.64, 0.48]
    Z = np.outer(z, z) / (z @ z)
    Y, q = project(Z, 3)
    np.testing.assert_allclose(Y, Z, atol=1e-9)
    np.testing.assert_allclose(q, [1, 1, 1, 0, 0, 0], atol=1e-9)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_row_support_bounds_every_row_and_is_reached(d):
    rng = np.random.default_rng(d)
    for _ in range(30):
        w = rng.normal(size=5) * 10 ** rng.uniform(-3, 3)
        sizes = np.abs(w)
        sizes[0] = 0.0
        bound = row_support(w[0], sizes, np.sqrt(d), (0.0, 0.0))[0]
        # Feasible rows: projections of far points along w approach the maximiser.
        X = np.zeros((5, 5))
        X[0] = w * 1e6 / np.abs(w).max()
        Y, _ = project(X, d, forced=np.eye(1, 5, dtype=bool)[0])
        # The constraints are homogeneous: this makes up for the last digits of a far projection.
        row = Y[0] / max(shares(Y, d)[0], 1.0)
        assert w @ row <= bound * (1 + 1e-12)
        assert w @ row >= bound * (1 - 1e-4) - 1e-12 * np.abs(w).max()


def printed_projection(X):
    """The paper's remark: eigenvalues, the first set to 1, the others onto the unit simplex."""
    values, vectors = np.linalg.eigh(X)
    values, vectors = values[::-1], vectors[:, ::-1]
    rest = values[1:]
    thresholds = (np.cumsum(rest) - 1) / np.arange(1, rest.shape[0] + 1)
    kept = np.count_nonzero(rest > thresholds)
    chosen = np.append(1.0, np.maximum(rest - thresholds[kept - 1], 0.0))
    return (vectors * chosen) @ vectors.T


def test_e4_printed_projection_breaks_z00_and_ours_splits_it_off():
    rng = np.random.default_rng(4)
    for _ in range(20):
        X = rng.normal(size=(6, 6))
        X = (X + X.T) / 2
        printed = printed_projection(X)
        assert np.isclose(np.trace(printed), 2.0)
        assert abs(printed[0, 0] - 1.0) > 1e-3
        Z = project_spectrum(X)
        assert np.isclose(np.trace(Z), 2.0)
        assert np.linalg.eigvalsh(Z)[0] >= -1e-12
        # Nearest in {Z ⪰ 0, tr Z = 2}: ⟨X − Z, V − Z⟩ ≤ 0 for all V, the largest at 2vvᵀ.
        assert 2 * np.linalg.eigvalsh(X - Z)[-1] <= np.vdot(X - Z, Z) + 1e-10


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
