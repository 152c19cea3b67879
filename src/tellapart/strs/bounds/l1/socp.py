"""The program without an integer part: one second-order cone program, with a proof in hand."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tellapart.arrays import FloatArray
from tellapart.strs.bounds.l1.region import support_function
from tellapart.strs.control import Control
from tellapart.strs.optional import load
from tellapart.strs.rounding import EPS


def solve_socp(
    A: FloatArray, a: FloatArray, d: int, kappa: float, control: Control, solver: str
) -> tuple[FloatArray, float]:
    """Return z and a proved bound of max κ − zᵀ(κI − A)z + aᵀz over ‖z‖₂ ≤ 1, ‖z‖₁ ≤ √d.

    For κ ≥ λmax(A) this is concave, and on the sphere it is zᵀAz + aᵀz. Clarabel finds z; the
    bound is `tangent_bound` there, so that it is proved whatever Clarabel's tolerance, and if
    Clarabel stops early it is only weaker.
    """
    size = a.shape[0]
    if control.out_of_time:
        return np.zeros(size), tangent_bound(A, a, d, kappa, np.zeros(size))
    clarabel = load("clarabel", solver)
    # Data of size 1: Clarabel's tolerances are then relative ones.
    scale = float(np.abs(A).max()) + abs(kappa) + float(np.abs(a).max()) or 1.0
    curvature = (kappa * np.eye(size) - A) / scale
    # Variables (z, y): Σy ≤ √d, |z| ≤ y, ‖z‖₂ ≤ 1.
    identity = sparse.identity(size, format="csc")
    total = sparse.csc_matrix(np.concatenate([np.zeros(size), np.ones(size)])[None, :])
    ball = sparse.bmat([[None, sparse.csc_matrix((1, size))], [-identity, None]])
    rows = sparse.vstack(
        [
            total,
            sparse.hstack([identity, -identity]),
            sparse.hstack([-identity, -identity]),
            ball,
        ],
        format="csc",
    )
    limits = np.zeros(3 * size + 2)
    limits[0] = np.sqrt(d)
    limits[2 * size + 1] = 1.0
    cones = [clarabel.NonnegativeConeT(2 * size + 1), clarabel.SecondOrderConeT(size + 1)]
    quadratic = sparse.block_diag(
        [sparse.triu(2 * curvature), sparse.csc_matrix((size, size))], format="csc"
    )
    cost = np.concatenate([-a / scale, np.zeros(size)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    if control.time_limit is not None:
        settings.time_limit = max(control.time_limit - control.elapsed, 1e-3)
    answer = clarabel.DefaultSolver(quadratic, cost, rows, limits, cones, settings).solve()
    z = np.array(answer.x[:size])
    if not np.isfinite(z).all():
        z = np.zeros(size)
    # z = 0 proves κ + the support function of a, should the answer be useless.
    return z, min(tangent_bound(A, a, d, kappa, u) for u in (z, np.zeros(size)))


def tangent_bound(A: FloatArray, a: FloatArray, d: int, kappa: float, u: FloatArray) -> float:
    """Return κ + uᵀCu + σ(a − 2Cu) with C = κI − A, a bound on the optimum for **any** u.

    zᵀCz ≥ 2uᵀCz − uᵀCu since C ⪰ 0, and σ is the support function of the region that holds z.
    The best u is the maximiser of the concave program, where the bound is its value. Rounding
    errors, of κ ≥ λmax(A) too, are allowed for.
    """
    product = kappa * u - A @ u
    bound = kappa + float(u @ product) + support_function(a - 2 * product, d)
    size = a.shape[0]
    length = float(np.linalg.norm(u))
    scale = abs(kappa) + float(np.linalg.norm(A))
    # κ may lie below the true λmax by the error of an eigenvalue, which costs (1 + ‖u‖)²
    # times that; the rest is the rounding of Cu, which σ multiplies by at most 1.
    slack: float = 8 * (size + 8) * EPS * (scale * (1 + length) ** 2 + float(np.linalg.norm(a)))
    return bound + slack
