"""The paper's cuts: f(q) as a semidefinite program, its dual point made a proof.

For 0 ≤ q ≤ 1, f(q) is the maximum of ⟨Ã, Z⟩, Ã = [[0, aᵀ/2], [a/2, A]], over Z ⪰ 0 of order
D + 1 with Z₀₀ = 1 and tr Z = 2 (dropped in the printed theorem, without them f is unbounded) and,
for i, j = 1..D,

    Σ_j Z_ij² ≤ Z_ii q_i            multipliers Λ_i (a row) and ‖Λ_i‖₂ ≤ μ_i,
    (Σ_j |Z_ij|)² ≤ d Z_ii q_i      multipliers ν1_i, ν2_i, β_i with β_i² + ν2_i² ≤ ν1_i²,
    |Z_ij| ≤ U_ij                   multipliers W1_ij + W2_ij ≤ β_i for **all** j.

In the dual the corner is −λ₀ − λ, since tr Z counts Z₀₀ too (printed: −λ₀); minimised over λ₀
and λ it is a trust region problem. So any Λ, W1 − W2, ν1 + ν2 give a valid cut

    f(q) ≤ max_{‖v‖=1} vᵀ(A − W)v + aᵀv + Σ_i q_i h_i(W_i),   W = W2 − W1 − Λ − ½Diag(ν1 + ν2),

with h_i the support function of row i (`sdp.dual`): nothing of the conic solver's accuracy
enters the proof.
"""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.strs.bounds.cone_program import ConeProgram, triangle
from tellapart.strs.bounds.cuts.cut import Cut
from tellapart.strs.bounds.cuts.hull import HullCuts
from tellapart.strs.bounds.sdp.conic import charge_pairs, solve_conic
from tellapart.strs.bounds.sdp.dual import dual_bound
from tellapart.strs.control import Control

INWARD = 0.02
"""Cuts are taken this part of the way from q̂ to the centre d/D: at a binary q̂ itself the
program has no interior, and its multipliers need not exist."""


class SdpCuts:
    """Cuts from the strong semidefinite relaxation, over the variables the hull's root left."""

    rounds = 0
    points = 2

    def __init__(self, hull: HullCuts, control: Control, solver: str) -> None:
        self.hull = hull
        self.control = control
        self.solver = solver
        self.variables = hull.variables
        self.forced = hull.forced
        self.A, self.a, self.d = hull.A, hull.a, hull.d
        left = control.remaining
        root = solve_conic(self.A, self.a, self.d, self.forced, time_limit=left, solver=solver)
        self.bound = min(root.bound.value, hull.bound)
        self.root = Cut(root.bound.sphere, root.bound.rows)

    def seed(self) -> list[Cut]:
        """Return the cut of the relaxation over 0 ≤ q ≤ 1, Σq ≤ d, and the hull's."""
        return [self.root, *self.hull.seed()]

    def at(self, q: FloatArray) -> list[Cut]:
        """Return the cut next to q and, for a binary q, the one that is exact there."""
        centre = self.d / self.a.shape[0]
        cuts = [self.cut((1 - INWARD) * q + INWARD * centre)]
        if ((q == 0) | (q == 1)).all():
            cuts.append(self.hull.support_cut(q))
        return cuts

    def cut(self, q: FloatArray) -> Cut:
        """Return f's tangent at a q with 0 < q < 1."""
        multiplier = inner_multiplier(self.A, self.a, self.d, q, self.control, self.solver)
        proved = dual_bound(self.A, self.a, self.d, self.forced, multiplier)
        return Cut(proved.sphere, proved.rows)


def inner_multiplier(
    A: FloatArray, a: FloatArray, d: int, q: FloatArray, control: Control, solver: str
) -> FloatArray:
    """Solve the program for f(q) in Clarabel and return the multiplier W of its rows.

    If Clarabel fails or runs out of time the multiplier is worse, the cut still valid.
    """
    n = a.shape[0]
    index = triangle(n + 1)
    inner, diagonal = index[1:, 1:], np.diag(index)
    pairs = np.triu_indices(n, 1)
    count = pairs[0].shape[0]
    corner = int(index[-1, -1]) + 1
    sizes = corner + np.arange(count)
    # Clarabel's triangle holds √2·Z_ij for i < j: an entry of Z is that times `half`.
    half = np.full(corner, np.sqrt(0.5))
    half[diagonal] = 1.0
    program = ConeProgram(corner + count, solver)
    block = program.block

    # Z₀₀ = 1, tr Z = 2.
    program.equal(
        [block([0], [0], 1.0, 1), block(np.zeros(n + 1, dtype=np.intp), diagonal, 1.0, 1)],
        np.array([1.0, 2.0]),
    )
    line, entry = np.arange(count), inner[pairs]
    larger = block(line, sizes, 1.0, count)
    sides = [block(line, entry, sign * half[entry], count) - larger for sign in (1.0, -1.0)]
    linear = program.at_most(sides, np.zeros(2 * count))
    program.semidefinite(block(np.arange(corner), np.arange(corner), -1.0, corner), n + 1)
    # (Z_ii − q_i/2)² + Σ_{j≠i} Z_ij² ≤ (q_i/2)².
    lines = np.arange(n)[:, None] * (n + 1) + 1 + np.arange(n)[None, :]
    flat = inner.ravel()
    ball_right = np.zeros((n, n + 1))
    ball_right[:, 0] = q / 2
    ball_right[np.arange(n), 1 + np.arange(n)] = -q / 2
    balls = program.second_order(
        block(lines.ravel(), flat, -half[flat], n * (n + 1)), ball_right.ravel(), n + 1
    )
    # (Z_ii/2 − d q_i/2)² + (Σ_j |Z_ij|)² ≤ (Z_ii/2 + d q_i/2)².
    start, own = 3 * np.arange(n), np.diag(inner)
    sums = block(start, own, -0.5, 3 * n) + block(start + 1, own, -0.5, 3 * n)
    sums = sums + block(start + 2, own, -1.0, 3 * n)
    for side in pairs:
        sums = sums + block(start[side] + 2, sizes, -1.0, 3 * n)
    sums_right = np.stack([d * q / 2, -d * q / 2, np.zeros(n)], axis=1)
    cones = program.second_order(sums, sums_right.ravel(), 3)

    scale = float(np.linalg.norm(A)) + float(np.linalg.norm(a)) or 1.0
    cost = np.zeros(program.columns)
    cost[inner[pairs]] = -np.sqrt(2.0) * A[pairs] / scale
    cost[np.diag(inner)] = -np.diag(A) / scale
    cost[index[0, 1:]] = -np.sqrt(0.5) * a / scale
    dual = program.solve(cost, time_limit=control.remaining).dual

    # W = W2 − W1 − Λ − ½Diag(ν1 + ν2).
    cone = dual[cones].reshape(n, 3)
    beta = np.maximum(-cone[:, 2], 0.0)
    W = -dual[balls].reshape(n, n + 1)[:, 1:]
    # On the diagonal U_ii = Z_ii, so the whole β_i is charged.
    W[np.diag_indices(n)] += beta - (cone[:, 0] + cone[:, 1]) / 2
    above, below = np.split(dual[linear], 2)
    charge_pairs(W, beta, pairs, above - below)
    return np.asarray(scale * W)
