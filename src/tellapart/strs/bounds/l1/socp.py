"""The program without an integer part: one second-order cone program, with a proof in hand."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tellapart.arrays import FloatArray
from tellapart.strs.bounds.cone_program import ConeProgram
from tellapart.strs.bounds.l1.region import support_function
from tellapart.strs.control import Control
from tellapart.strs.rounding import EPS


def solve_socp(
    A: FloatArray, a: FloatArray, d: int, kappa: float, control: Control, solver: str
) -> tuple[FloatArray, float]:
    """Return z and a proved bound of max κ − zᵀ(κI − A)z + aᵀz over ‖z‖₂ ≤ 1, ‖z‖₁ ≤ √d.

    For κ ≥ λmax(A) this is concave, and on the sphere it is zᵀAz + aᵀz. Clarabel finds z; the
    bound is `tangent_bound` there, so that it is proved whatever Clarabel's tolerance, and if
    Clarabel stops early it is only weaker.
    """
    n = a.shape[0]
    nothing = np.zeros(n)
    if control.out_of_time:
        return nothing, tangent_bound(A, a, d, kappa, nothing)
    # Variables (z, y): Σy ≤ √d, |z| ≤ y, ‖z‖₂ ≤ 1.
    program = ConeProgram(2 * n, solver)
    z, y = np.arange(n), n + np.arange(n)
    total = program.block(np.zeros(n, dtype=np.intp), y, 1.0, 1)
    larger = program.block(z, y, -1.0, n)
    sides = [program.block(z, z, sign, n) + larger for sign in (1.0, -1.0)]
    program.at_most([total, *sides], np.append(np.sqrt(d), np.zeros(2 * n)))
    program.second_order(program.block(1 + z, z, -1.0, n + 1), np.append(1.0, nothing), n + 1)
    scale = float(np.abs(A).max()) + abs(kappa) + float(np.abs(a).max()) or 1.0
    curvature = (kappa * np.eye(n) - A) / scale
    quadratic = sparse.block_diag(
        [sparse.csc_matrix(np.triu(2 * curvature)), sparse.csc_matrix((n, n))], format="csc"
    )
    cost = np.concatenate([-a / scale, nothing])
    found = program.solve(cost, quadratic, time_limit=control.remaining).x[:n]
    # z = 0 proves κ + the support function of a, should the answer be useless.
    return found, min(tangent_bound(A, a, d, kappa, u) for u in (found, nothing))


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
