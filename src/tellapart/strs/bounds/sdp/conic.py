"""The strong SDP relaxation through the interior-point solver Clarabel: oracle and node solver."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.strs.bounds.cone_program import ConeProgram, triangle
from tellapart.strs.bounds.sdp.dual import DualBound, dual_bound


@dataclass(frozen=True)
class ConicRelaxation:
    """What Clarabel says of one relaxation.

    `value` is its primal objective: a number without proof. `bound` is proved: it is the dual
    function at the multiplier W taken from Clarabel's dual point, whatever that point's quality.
    """

    value: float
    bound: DualBound
    Z: FloatArray
    q: FloatArray
    W: FloatArray
    solved: bool


def solve_conic(
    A: FloatArray,
    a: FloatArray,
    d: int,
    forced: BoolArray,
    *,
    tolerance: float = 1e-8,
    time_limit: float | None = None,
    solver: str = "sdp",
) -> ConicRelaxation:
    """Solve max ⟨Ã, Z⟩ over the strong relaxation, with q = 1 where `forced`.

    Variables are the upper triangle of Z, q, and P_ij ≥ |Z_ij| for i < j, which both rows share;
    the cones are one PSD cone of order D + 1, D second-order cones of size D + 1 and D of size 3.
    A q fixed to 0 is a row left out: pass the submatrix of the other variables. `solver` is the
    name that a missing Clarabel is reported under.
    """
    n = a.shape[0]
    index = triangle(n + 1)
    inner, diagonal = index[1:, 1:], np.diag(index)[1:]
    pairs = np.triu_indices(n, 1)
    corner = int(index[-1, -1]) + 1
    q = corner + np.arange(n)
    sizes = corner + n + np.arange(pairs[0].shape[0])
    program = ConeProgram(corner + n + sizes.shape[0], solver)
    row, block = np.arange(n), program.block

    # Z₀₀ = 1, tr Z = 2, q = 1 where forced.
    fixed = np.flatnonzero(forced)
    program.equal(
        [
            block([0], index[:1, 0], 1.0, 1),
            block(np.zeros(n + 1, dtype=np.intp), np.diag(index), 1.0, 1),
            block(np.arange(fixed.shape[0]), q[fixed], 1.0, fixed.shape[0]),
        ],
        np.concatenate([[1.0, 2.0], np.ones(fixed.shape[0])]),
    )
    # Σq ≤ d, q ≤ 1.
    total = block(np.zeros(n, dtype=np.intp), q, 1.0, 1)
    shares = [total, block(row, q, 1.0, n)]
    # Z_ij ≤ P_ij, −Z_ij ≤ P_ij.
    line, count = np.arange(sizes.shape[0]), sizes.shape[0]
    larger = block(line, sizes, -1.0, count)
    sides = [larger + block(line, inner[pairs], sign, count) for sign in (1.0, -1.0)]
    limits = np.concatenate([[float(d)], np.ones(n), np.zeros(2 * count)])
    linear = program.at_most([*shares, *sides], limits)
    # Clarabel's triangle holds √2·Z_ij for i < j.
    entry = np.arange(corner)
    weights = np.full(corner, -np.sqrt(2.0))
    weights[np.diag(index)] = -1.0
    program.semidefinite(block(entry, entry, weights, corner), n + 1)
    # Σ_j Z_ij² ≤ Z_ii q_i is (Z_ii − q_i/2)² + Σ_{j≠i} Z_ij² ≤ (q_i/2)².
    starts, rows = row * (n + 1), n * (n + 1)
    lines = starts[:, None] + 1 + row[None, :]
    balls = program.second_order(
        block(starts, q, -0.5, rows)
        + block(lines.ravel(), inner.ravel(), -1.0, rows)
        + block(np.diag(lines), q, 0.5, rows),
        np.zeros(rows),
        n + 1,
    )
    # (Σ_j|Z_ij|)² ≤ d Z_ii q_i is (Z_ii − q_i)² + (2Σ_j|Z_ij|/√d)² ≤ (Z_ii + q_i)².
    starts, share = 3 * row, -2.0 / np.sqrt(d)
    sums = block(starts, diagonal, -1.0, 3 * n) + block(starts, q, -1.0, 3 * n)
    sums += block(starts + 1, diagonal, -1.0, 3 * n)
    sums += block(starts + 1, q, 1.0, 3 * n)
    sums += block(starts + 2, diagonal, share, 3 * n)
    for side in pairs:
        sums += block(starts[side] + 2, sizes, share, 3 * n)
    cones = program.second_order(sums, np.zeros(3 * n), 3)

    scale = float(np.linalg.norm(A) + np.linalg.norm(a)) or 1.0
    cost = np.zeros(program.columns)
    cost[inner[pairs]] = -2.0 * (A / scale)[pairs]
    cost[diagonal] = -np.diag(A / scale)
    cost[index[0, 1:]] = -2.0 * (a / scale / 2)
    answer = program.solve(cost, time_limit=time_limit, tolerance=tolerance)

    ball = answer.dual[balls].reshape(n, n + 1)
    cone = answer.dual[cones].reshape(n, 3)
    paid = share * cone[:, 2]
    W = -ball[:, 1:]
    W[np.diag_indices(n)] += paid - cone[:, 0] - cone[:, 1]
    above, below = np.split(answer.dual[linear][1 + n :], 2)
    charge_pairs(W, paid, pairs, above - below)
    W *= scale
    bounds = [dual_bound(A, a, d, forced, W), dual_bound(A, a, d, forced)]
    return ConicRelaxation(
        value=-scale * float(cost @ answer.x),
        bound=min(bounds, key=lambda bound: bound.value),
        Z=np.asarray(answer.x[index]),
        q=answer.x[q],
        W=W,
        solved=answer.solved,
    )


def charge_pairs(
    W: FloatArray, paid: FloatArray, pairs: tuple[IntArray, IntArray], charge: FloatArray
) -> None:
    """Add the multipliers of P_ij ≥ |Z_ij|, i < j, to both rows of W that share P_ij.

    In the ratio in which the rows' cones pay for P_ij: each share is then within what its row
    pays.
    """
    i, j = pairs
    together = paid[i] + paid[j]
    ratio = np.divide(paid[i], together, out=np.full(i.shape[0], 0.5), where=together > 0)
    W[i, j] += ratio * charge
    W[j, i] += (1.0 - ratio) * charge
