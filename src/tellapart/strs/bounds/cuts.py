"""Cuts: linear functions of q that no support's value exceeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.strs.bounds.conic import ConeProgram, charge_pairs, solve_conic, triangle
from tellapart.strs.bounds.hull import (
    Curvature,
    HullNode,
    HullRelaxation,
    Relaxed,
    fix_variables,
    relax,
)
from tellapart.strs.bounds.sdp import dual_bound
from tellapart.strs.bounds.shift import tighten
from tellapart.strs.contract import Control
from tellapart.strs.domains import EPS, secular_root
from tellapart.strs.problem import SparseQuadratic, polish


@dataclass(frozen=True)
class Cut:
    """f(q) ≤ constant + weightsᵀq for every q ∈ {0,1}ⁿ with at most d ones; weights ≥ 0.

    f(q) is the maximum of zᵀAz + aᵀz over the unit vectors z whose non-zeros q marks.
    """

    constant: float
    weights: FloatArray

    def at(self, q: FloatArray) -> float:
        """Return the cut's value at q."""
        return self.constant + float(self.weights @ q)

    def largest(self, forced: BoolArray, picks: int) -> FloatArray:
        """Return, for every variable, the cut's maximum over supports that contain it.

        Supports hold all of `forced` and `picks` more.
        """
        base = self.constant + float(self.weights[forced].sum())
        free = np.where(forced, 0.0, self.weights)
        top = np.sort(free)[::-1][:picks]
        if picks == 0:
            return np.full(free.shape[0], base)
        # A variable outside the top comes in for the last one inside.
        change: FloatArray = np.where(forced, 0.0, np.minimum(free - top[-1], 0.0))
        return base + float(top.sum()) + change


class CutSource(Protocol):
    """Where cuts come from: one way to over-estimate f over some of the variables.

    `variables` are those still in play, as indices of the whole problem; `forced` marks those
    in every support that matters, and q runs along `variables`. `bound` is proved for f. Cuts at
    fractional q are worth `rounds` rounds, and cuts at the best `points` solutions of a master.
    """

    variables: IntArray
    forced: BoolArray
    bound: float
    rounds: int
    points: int

    def seed(self) -> list[Cut]:
        """Return the cuts of the root relaxation."""
        ...

    def at(self, q: FloatArray) -> list[Cut]:
        """Return cuts that are as tight as this source can be at q, perhaps fractional."""
        ...


def support_cut(A: FloatArray, a: FloatArray, d: int, support: IntArray) -> Cut:
    """Return f(q) ≤ f(S) + Σ_{i∉S} q_i π_i: exact on S and its subsets, valid for every q.

    With μ the multiplier of the trust region problem on S,
    z_SᵀAz_S + a_Sᵀz_S ≤ f(S) − μ(1 − ‖z_S‖²) = f(S) − μ Σ_{i∉S} z_i² on the sphere. What a
    variable i ∉ S adds is then z_i(h_iᵀz + a_i) with h_ij = 2A_ij for j ∈ S, A_ij for j ∉ S and
    h_ii = A_ii − μ. With w_i the norm of the d − 1 largest |h_ij|, j ≠ i, and |a_i||z_i| ≤
    |a_i|(z_i²/s + s)/2 for any s > 0, that is at most

        π_i = ½(h + √(h² + w_i²)) + s|a_i|/2,   h = h_ii + |a_i|/(2s).

    Rounding errors are allowed for.
    """
    size = a.shape[0]
    constant, mu = _sphere_dual(A[np.ix_(support, support)], a[support])
    outside = np.setdiff1d(np.arange(size), support)
    rows = A[outside].copy()
    rows[:, support] *= 2
    diagonal = A[outside, outside] - mu
    rows[np.arange(outside.shape[0]), outside] = 0.0
    others = np.sort(rows**2, axis=1)[:, ::-1][:, : d - 1].sum(axis=1)
    linear = np.abs(a[outside])[:, None]
    s = np.geomspace(1e-3, 1.0, 13)[None, :]
    h = diagonal[:, None] + linear / (2 * s)
    # The larger of ½(h ± √…) is a sum of positive terms or a quotient of them: no cancellation.
    root = np.hypot(h, np.sqrt(others)[:, None])
    # Only where h ≤ 0 is divided: elsewhere root − h may be 0 and the quotient overflow.
    below = np.maximum(np.where(h > 0, 1.0, root - h), np.finfo(float).tiny)
    gain = np.where(h > 0, h + root, others[:, None] / below)
    penalties = (gain / 2 + s * linear / 2).min(axis=1)
    weights = np.zeros(size)
    error = 16 * (size + 8) * EPS * (np.abs(mu) + np.sqrt(others) + np.abs(A[outside, outside]))
    weights[outside] = penalties * (1 + 16 * EPS) + error
    return Cut(constant, weights)


def _sphere_dual(A: FloatArray, a: FloatArray) -> tuple[float, float]:
    """Return (c, μ), μ > λmax(A): zᵀAz + aᵀz ≤ c − μ(1 − ‖z‖²) for every z, tight on the sphere.

    c = μ + ¼aᵀ(μI − A)⁻¹a, with the rounding errors of the eigendecomposition added.
    """
    size = a.shape[0]
    eigenvalues, vectors = np.linalg.eigh(A)
    scale = float(np.linalg.norm(A)) + float(np.linalg.norm(a)) + np.finfo(float).tiny
    # Kept away from the pole by more than the eigenvalues' rounding error.
    gaps = eigenvalues[-1] - eigenvalues + 64 * size * EPS * scale
    c = (vectors.T @ a) / 2
    s = secular_root(gaps, c, 0.0)
    mu = float(eigenvalues[-1] + gaps[-1] + s)
    value = mu + float(np.sum(c * c / (gaps + s)))
    return value + 16 * (size + 4) * EPS * (scale + abs(mu)), mu


# Closed-form cuts: the hull bound with a shift per variable, read as a function of q.
#
# With C = −A − Diag(δ) ⪰ 0, every u, every μ with e = μ + δ > 0 and every binary q,
#
#     f(q) ≤ uᵀCu + μ + Σ_i q_i (a − 2Cu)_i² / (4e_i)
#
# (`bounds.hull`). At the maximiser u = z of the relaxation for q̂ this is f's tangent,
# ∂f/∂q_i = (a − 2Cz)_i²/(4e_i): one trust region step, no conic solver.


WORTH_A_NEW_SHIFT = 0.8
"""The shift is optimised again once no more than this part of the variables is left."""
TIGHT = 1e-6
"""A cut further than this part of the value above f(q̂) gets a support cut beside it."""


@dataclass(frozen=True)
class Root:
    """What the root relaxation leaves to do: a node, solved, and the bound of what it closed.

    `relaxed` is None if nothing is left but `node`'s own bound.
    """

    node: HullNode
    relaxed: Relaxed | None
    given_up: float


def shrink_root(problem: SparseQuadratic, value: float, control: Control) -> Root:
    """Solve the root relaxation, fix variables by its scores, improve its shift; repeat."""
    d = problem.d
    whole = Curvature.of(problem)
    shift = whole.lowest_shift()
    # u = 0 in the hull bound: what holds if there is no time for a better u.
    largest = problem.a[problem.best_support(problem.a)]
    simple = float(np.linalg.norm(largest)) * (1 + (d + 8) * EPS) - shift
    node = HullNode.root(problem, shift, simple)
    cutoff = value + control.allowed(value)
    tolerance = 0.1 * control.allowed(value)
    given_up = -np.inf
    size_at_shift = np.inf
    while not node.is_leaf(d):
        relaxed = relax(
            node,
            whole.principal(node.variables),
            problem.a,
            d,
            problem.domain,
            tolerance=tolerance,
            cutoff=cutoff,
            stop=lambda: control.out_of_time,
        )
        if relaxed.node.bound <= cutoff:
            return Root(relaxed.node, None, given_up)
        node, highest = fix_variables(relaxed, d, cutoff)
        given_up = max(given_up, highest)
        count = node.variables.shape[0]
        if count < relaxed.node.variables.shape[0] or node.forced.sum() > relaxed.node.forced.sum():
            continue
        if control.out_of_time or count > WORTH_A_NEW_SHIFT * size_at_shift:
            return Root(relaxed.node, relaxed, given_up)
        size_at_shift = count
        node = tighten(
            relaxed,
            d,
            value=value,
            tolerance=max(2 * tolerance, 1e-9 * abs(value)),
            stop=lambda: control.out_of_time,
        )
    return Root(node, None, given_up)


class HullCuts:
    """Cuts from the shrunken root relaxation, and support cuts where those are not exact."""

    rounds = 10
    points = 10

    def __init__(self, problem: SparseQuadratic, relaxed: Relaxed) -> None:
        self.problem = problem
        self.relaxation: HullRelaxation = relaxed.relaxation
        self.centre = relaxed.point.q
        self.variables = relaxed.node.variables
        self.forced = relaxed.node.forced
        self.bound = relaxed.node.bound
        self.d = problem.d
        self.A = problem.submatrix(self.variables)
        self.a = problem.a[self.variables]
        self.root = self.cut(self.centre)

    def seed(self) -> list[Cut]:
        """Return the root relaxation's own cut: its maximum over q is the root bound."""
        return [self.root]

    def at(self, q: FloatArray) -> list[Cut]:
        """Return the tangents at q and half-way to the root's q, and a support cut if needed.

        The second is a little less tight at q and much tighter elsewhere. For a binary q the
        first is exact unless the relaxation's maximiser is shorter than 1.
        """
        cuts = [self.cut(q), self.cut((q + self.centre) / 2)]
        if ((q == 0) | (q == 1)).all() and not self.exact(q):
            cuts.append(self.support_cut(q))
        return cuts

    def exact(self, q: FloatArray) -> bool:
        """Whether the tangent at a binary q is as low as f(q)."""
        value = polish(self.problem, self.variables[q > 0])[1]
        return self.cut(q).at(q) <= value + TIGHT * abs(value)

    def cut(self, q: FloatArray) -> Cut:
        """Return the tangent at q, rounding errors allowed for."""
        bound = self.relaxation.bound(self.relaxation.evaluate(q))
        top = self.relaxation.largest(bound.scores)
        constant = bound.total - top
        return Cut(constant + 4 * EPS * (abs(bound.total) + top), bound.scores)

    def support_cut(self, q: FloatArray) -> Cut:
        """Return the support cut at q, no steeper than the root cut makes necessary.

        A support that contains i is worth at most the root cut's maximum over such supports.
        """
        cut = support_cut(self.A, self.a, self.d, np.flatnonzero(q))
        most = self.root.largest(self.forced, self.d - int(self.forced.sum())) - cut.constant
        room = np.maximum(most, 0.0) + 8 * EPS * (abs(cut.constant) + np.abs(most))
        return Cut(cut.constant, np.minimum(cut.weights, room))


# The paper's cuts: f(q) as a semidefinite program, its dual point made a proof.
#
# For 0 ≤ q ≤ 1, f(q) is the maximum of ⟨Ã, Z⟩, Ã = [[0, aᵀ/2], [a/2, A]], over Z ⪰ 0 of order
# D + 1 with Z₀₀ = 1 and tr Z = 2 (dropped in the printed theorem, without them f is unbounded) and,
# for i, j = 1..D,
#
#     Σ_j Z_ij² ≤ Z_ii q_i            multipliers Λ_i (a row) and ‖Λ_i‖₂ ≤ μ_i,
#     (Σ_j |Z_ij|)² ≤ d Z_ii q_i      multipliers ν1_i, ν2_i, β_i with β_i² + ν2_i² ≤ ν1_i²,
#     |Z_ij| ≤ U_ij                   multipliers W1_ij + W2_ij ≤ β_i for **all** j.
#
# In the dual the corner is −λ₀ − λ, since tr Z counts Z₀₀ too (printed: −λ₀); minimised over λ₀
# and λ it is a trust region problem. So any Λ, W1 − W2, ν1 + ν2 give a valid cut
#
#     f(q) ≤ max_{‖v‖=1} vᵀ(A − W)v + aᵀv + Σ_i q_i h_i(W_i),   W = W2 − W1 − Λ − ½Diag(ν1 + ν2),
#
# with h_i the support function of row i (`row_support`): nothing of the conic solver's accuracy
# enters the proof.


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
    start, row_diagonal = 3 * np.arange(n), np.diag(inner)
    sums = block(start, row_diagonal, -0.5, 3 * n) + block(start + 1, row_diagonal, -0.5, 3 * n)
    sums = sums + block(start + 2, row_diagonal, -1.0, 3 * n)
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
