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

with h_i the support function of row i (`sdp_dual`): nothing of the conic solver's accuracy
enters the proof.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tellapart.arrays import FloatArray, IntArray
from tellapart.strs.bounds.cuts.cut import Cut
from tellapart.strs.bounds.cuts.hull import HullCuts
from tellapart.strs.bounds.sdp.conic import solve_conic
from tellapart.strs.bounds.sdp.dual import dual_bound
from tellapart.strs.control import Control
from tellapart.strs.optional import load

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
        limit = None if control.time_limit is None else control.time_limit - control.elapsed
        root = solve_conic(self.A, self.a, self.d, self.forced, time_limit=limit, solver=solver)
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
    clarabel = load("clarabel", solver)
    n = a.shape[0]
    # Data of size 1: Clarabel's tolerances are then relative ones.
    scale = float(np.linalg.norm(A)) + float(np.linalg.norm(a)) or 1.0
    cell = _triangle(n + 1)
    inner = cell[1:, 1:]
    first, second = np.triu_indices(n, 1)
    pairs = first.shape[0]
    order = cell[-1, -1] + 1
    columns = order + pairs
    sizes = order + np.arange(pairs)
    # Clarabel stores √2·Z_ij for i < j: an entry of Z is that times `half`.
    diagonal = np.diag(cell)
    half = np.full(order, np.sqrt(0.5))
    half[diagonal] = 1.0

    cost = np.zeros(columns)
    cost[inner[first, second]] = -np.sqrt(2.0) * A[first, second] / scale
    cost[np.diag(inner)] = -np.diag(A) / scale
    cost[cell[0, 1:]] = -np.sqrt(0.5) * a / scale

    def rows(lines: Any, where: Any, values: Any, count: int) -> Any:
        lines, where = np.asarray(lines), np.asarray(where)
        data = np.broadcast_to(np.asarray(values, dtype=float), lines.shape)
        return sparse.csr_matrix((data, (lines, where)), shape=(count, columns))

    line = np.arange(pairs)
    entry = inner[first, second]
    above = rows(line, entry, half[entry], pairs) - rows(line, sizes, 1.0, pairs)
    below = rows(line, entry, -half[entry], pairs) - rows(line, sizes, 1.0, pairs)
    ball_line = np.arange(n)[:, None] * (n + 1) + 1 + np.arange(n)[None, :]
    ball = rows(ball_line.ravel(), inner.ravel(), -half[inner.ravel()], n * (n + 1))
    start = 3 * np.arange(n)
    own = np.diag(inner)
    cone = rows(start, own, -0.5, 3 * n) + rows(start + 1, own, -0.5, 3 * n)
    cone = cone + rows(start + 2, own, -1.0, 3 * n)
    for side in (first, second):
        cone = cone + rows(start[side] + 2, sizes, -1.0, 3 * n)
    matrix = sparse.vstack(
        [
            rows([0], [0], 1.0, 1),
            rows(np.zeros(n + 1, dtype=int), diagonal, 1.0, 1),
            above,
            below,
            rows(np.arange(order), np.arange(order), -1.0, order),
            ball,
            cone,
        ],
        format="csc",
    )
    ball_right = np.zeros((n, n + 1))
    ball_right[:, 0] = q / 2
    ball_right[np.arange(n), 1 + np.arange(n)] = -q / 2
    cone_right = np.stack([d * q / 2, -d * q / 2, np.zeros(n)], axis=1)
    right = np.concatenate(
        [[1.0, 2.0], np.zeros(2 * pairs + order), ball_right.ravel(), cone_right.ravel()]
    )
    cones = [
        clarabel.ZeroConeT(2),
        clarabel.NonnegativeConeT(2 * pairs),
        clarabel.PSDTriangleConeT(n + 1),
        *[clarabel.SecondOrderConeT(n + 1)] * n,
        *[clarabel.SecondOrderConeT(3)] * n,
    ]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    if control.time_limit is not None:
        settings.time_limit = max(control.time_limit - control.elapsed, 1e-3)
    empty = sparse.csc_matrix((columns, columns))
    answer = clarabel.DefaultSolver(empty, cost, matrix, right, cones, settings).solve()
    dual = np.array(answer.z)
    if not np.isfinite(dual).all():
        return np.zeros((n, n))
    return scale * _row_multiplier(dual, n, order, first, second)


def _row_multiplier(
    dual: FloatArray, n: int, order: int, first: IntArray, second: IntArray
) -> FloatArray:
    """Return W = W2 − W1 − Λ − ½Diag(ν1 + ν2) from Clarabel's dual vector.

    U_ij serves rows i and j, so W2 − W1 of the pair is shared in the ratio of β_i to β_j, which
    keeps each share within its β.
    """
    pairs = first.shape[0]
    above = dual[2 : 2 + pairs]
    below = dual[2 + pairs : 2 + 2 * pairs]
    tail = dual[2 + 2 * pairs + order :]
    ball = tail[: n * (n + 1)].reshape(n, n + 1)
    cone = tail[n * (n + 1) :].reshape(n, 3)
    beta = np.maximum(-cone[:, 2], 0.0)
    multiplier = -ball[:, 1:]
    # On the diagonal U_ii = Z_ii, so the whole β_i is charged.
    multiplier[np.arange(n), np.arange(n)] += beta - (cone[:, 0] + cone[:, 1]) / 2
    together = beta[first] + beta[second]
    share = np.divide(beta[first], together, out=np.full(pairs, 0.5), where=together > 0)
    multiplier[first, second] += share * (above - below)
    multiplier[second, first] += (1 - share) * (above - below)
    return np.asarray(multiplier)


def _triangle(order: int) -> IntArray:
    """Return where Clarabel stores entry (i, j): the upper triangle, column by column."""
    cell: IntArray = np.zeros((order, order), dtype=np.intp)
    later, earlier = np.tril_indices(order)
    cell[earlier, later] = cell[later, earlier] = np.arange(later.shape[0])
    return cell
