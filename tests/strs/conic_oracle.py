"""The relaxations written out for Clarabel: slow, general, and independent of our own methods."""

import clarabel
import numpy as np
from scipy import sparse


def _solve(P, c, rows):
    """Minimise ½xᵀPx + cᵀx; rows are (matrix, right side, cone) with right − matrix·x in cone."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-9
    matrix = sparse.csc_matrix(sparse.vstack([row[0] for row in rows]))
    right = np.concatenate([row[1] for row in rows])
    cones = [row[2] for row in rows]
    solver = clarabel.DefaultSolver(sparse.csc_matrix(P), c, matrix, right, cones, settings)
    return solver.solve()


def _perspective_rows(z, t, q, width):
    """Return z_i² ≤ t_i q_i as the cones (t + q, t − q, 2z), given the columns of z, t, q."""
    rows = []
    for i, j, k in zip(z, t, q, strict=True):
        block = sparse.lil_matrix((3, width))
        block[0, j] = block[0, k] = block[1, j] = -1.0
        block[1, k] = 1.0
        block[2, i] = -2.0
        rows.append((block, np.zeros(3), clarabel.SecondOrderConeT(3)))
    return rows


def _picked_rows(q, forced, picks, width):
    """Return 0 ≤ q ≤ 1, q = 1 where forced, and Σ q over the others = picks."""
    n = len(q)
    select = sparse.lil_matrix((n, width))
    select[np.arange(n), q] = 1.0
    rows = [
        (-select, np.zeros(n), clarabel.NonnegativeConeT(n)),
        (select, np.ones(n), clarabel.NonnegativeConeT(n)),
    ]
    total = sparse.lil_matrix((1, width))
    total[0, q] = 1.0
    count = picks + int(forced.sum())
    rows.append((total, np.array([float(count)]), clarabel.ZeroConeT(1)))
    fixed = np.flatnonzero(forced)
    if fixed.size:
        rows.append((select.tocsr()[fixed], np.ones(fixed.size), clarabel.ZeroConeT(fixed.size)))
    return rows


def hull_value(C, a, delta, forced, picks):
    """Return max aᵀz − zᵀCz − Σδt, z² ≤ tq, Σt = 1, over the picked q."""
    n = len(a)
    width = 3 * n
    P = sparse.block_diag([sparse.triu(2 * C), sparse.csc_matrix((2 * n, 2 * n))])
    c = np.concatenate([-a, delta, np.zeros(n)])
    z, t, q = np.arange(n), n + np.arange(n), 2 * n + np.arange(n)
    total = sparse.lil_matrix((1, width))
    total[0, t] = 1.0
    rows = [(total, np.ones(1), clarabel.ZeroConeT(1))]
    rows += _picked_rows(q, forced, picks, width) + _perspective_rows(z, t, q, width)
    return -_solve(P, c, rows).obj_val


def perspective_sdp_value(M, a, forced, picks):
    """Return max aᵀz − ⟨M, Z⟩, [[1, zᵀ], [z, Z]] ⪰ 0, z_i² ≤ Z_ii q_i, tr Z = 1."""
    n = len(a)
    pairs = [(i, j) for j in range(n + 1) for i in range(j + 1)]
    position = {pair: place for place, pair in enumerate(pairs)}
    width = len(pairs) + n
    c = np.zeros(width)
    for (i, j), place in position.items():
        if i >= 1:
            c[place] = M[i - 1, j - 1] * (1.0 if i == j else 2.0)
        elif j >= 1:
            c[place] = -a[j - 1]
    diagonal = [position[i, i] for i in range(1, n + 1)]
    q = len(pairs) + np.arange(n)
    corner = sparse.lil_matrix((1, width))
    corner[0, position[0, 0]] = 1.0
    trace = sparse.lil_matrix((1, width))
    trace[0, diagonal] = 1.0
    weights = [1.0 if i == j else np.sqrt(2.0) for i, j in pairs]
    triangle = sparse.hstack([-sparse.diags(weights), sparse.csc_matrix((len(pairs), n))])
    rows = [
        (corner, np.ones(1), clarabel.ZeroConeT(1)),
        (trace, np.ones(1), clarabel.ZeroConeT(1)),
        (triangle, np.zeros(len(pairs)), clarabel.PSDTriangleConeT(n + 1)),
    ]
    rows += _picked_rows(q, forced, picks, width)
    first_row = [position[0, j] for j in range(1, n + 1)]
    rows += _perspective_rows(first_row, diagonal, q, width)
    return -_solve(sparse.csc_matrix((width, width)), c, rows).obj_val
