"""Closed-form cuts: the hull bound with a shift per variable, read as a function of q.

With C = −A − Diag(δ) ⪰ 0, every u, every μ with e = μ + δ > 0 and every binary q,

    f(q) ≤ uᵀCu + μ + Σ_i q_i (a − 2Cu)_i² / (4e_i)

(`hull.relaxation`). At the maximiser u = z of the relaxation for q̂ this is f's tangent,
∂f/∂q_i = (a − 2Cz)_i²/(4e_i): one trust region step, no conic solver.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.strs.base import truncate
from tellapart.strs.bounds.cuts.cut import Cut, support_cut
from tellapart.strs.bounds.hull.node import Node, Relaxed, fix_variables, relax, tighten
from tellapart.strs.bounds.hull.relaxation import HullRelaxation
from tellapart.strs.control import Control
from tellapart.strs.curvature import Curvature
from tellapart.strs.problem import SparseQuadratic
from tellapart.strs.rounding import EPS
from tellapart.strs.trust_region import polish

WORTH_A_NEW_SHIFT = 0.8
"""The shift is optimised again once no more than this part of the variables is left."""
TIGHT = 1e-6
"""A cut further than this part of the value above f(q̂) gets a support cut beside it."""


@dataclass(frozen=True)
class Root:
    """What the root relaxation leaves to do: a node, solved, and the bound of what it closed.

    `relaxed` is None if nothing is left but `node`'s own bound.
    """

    node: Node
    relaxed: Relaxed | None
    given_up: float


def shrink_root(problem: SparseQuadratic, value: float, control: Control) -> Root:
    """Solve the root relaxation, fix variables by its scores, improve its shift; repeat."""
    size, d = problem.n_columns, problem.d
    whole = Curvature.of(problem)
    q = np.zeros(size)
    q[truncate(problem.a, d)] = 1.0
    shift = whole.lowest_shift()
    # u = 0 in the hull bound: what holds if there is no time for a better u.
    simple = float(np.linalg.norm(problem.a[q > 0])) * (1 + (d + 8) * EPS) - shift
    node = Node(
        variables=np.arange(size),
        forced=np.zeros(size, dtype=bool),
        delta=np.full(size, shift),
        q=q,
        scores=np.abs(problem.a),
        bound=simple,
    )
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
