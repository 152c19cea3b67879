"""The projections of the strong SDP relaxation, against a conic solver and against optimality."""

import clarabel
import numpy as np
import pytest
from scipy import sparse

from tellapart.strs.bounds.sdp import project_rows, project_spectrum, row_support, row_supports


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
