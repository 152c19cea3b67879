"""A node of the branch-and-bound tree, and the proved bound it gets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.strs.bounds.hull.relaxation import HullBound, HullPoint, HullRelaxation, rebalance
from tellapart.strs.bounds.hull.shift import ShiftProblem, best_shift
from tellapart.strs.curvature import Curvature
from tellapart.strs.domains.base import Domain
from tellapart.strs.domains.sphere import SPHERE
from tellapart.strs.rounding import EPS

CANDIDATES = 200
"""Variables that get a shift of their own; the rest share one."""
SHARED_DROP = 0.5
"""How far below the uniform shift the shared one lies, in units of e = μ + δ there."""


@dataclass(frozen=True)
class Node:
    """Some variables forced in, some removed; the rest free.

    `variables` are those in or free, as indices of the whole problem; `forced`, `delta`, `q` and
    `scores` run along them. M − Diag(δ) ⪰ 0 is proved, so children inherit δ; `shift_size` is
    the number of variables when δ was optimised, 0 for never.
    """

    variables: IntArray
    forced: BoolArray
    delta: FloatArray
    q: FloatArray
    scores: FloatArray
    bound: float
    shift_size: int = 0

    def picks(self, d: int) -> int:
        """How many free variables may still be chosen."""
        return d - int(self.forced.sum())

    def is_leaf(self, d: int) -> bool:
        """Whether one support contains every point of the node."""
        return self.picks(d) == 0 or self.variables.shape[0] <= d

    def leaf_support(self, d: int) -> IntArray:
        """Return the support of a leaf."""
        return self.variables[self.forced] if self.picks(d) == 0 else self.variables

    def supports(self, d: int) -> Iterator[IntArray]:
        """Return the supports that together contain every point of the node."""
        free = self.variables[~self.forced]
        picked = combinations(free, min(self.picks(d), free.shape[0]))
        forced = self.variables[self.forced]
        return (np.sort(np.append(forced, chosen)).astype(np.intp) for chosen in picked)

    def visits(self, d: int) -> int:
        """Return about how many operations it takes to solve the node support by support."""
        free = int((~self.forced).sum())
        return comb(free, min(self.picks(d), free)) * (3_000 + d**3)

    def keep(self, kept: BoolArray, forced: BoolArray, d: int) -> Node:
        """Return the child with the variables `kept`, of which `forced` are in."""
        picks = d - int(forced[kept].sum())
        free = np.flatnonzero(~forced[kept])
        q = np.where(forced, 1.0, self.q)[kept]
        scores = self.scores[kept]
        if 0 < picks < free.shape[0]:
            q = rebalance(q, scores, free, picks)
        return replace(
            self,
            variables=self.variables[kept],
            forced=forced[kept],
            delta=self.delta[kept],
            q=q,
            scores=scores,
        )

    def branch(self, position: int, d: int) -> tuple[Node, Node]:
        """Return the children with one free variable in, and out."""
        everything = np.ones(self.variables.shape[0], dtype=bool)
        with_it = self.forced.copy()
        with_it[position] = True
        without = everything.copy()
        without[position] = False
        return (
            self.keep(everything, with_it, d),
            self.keep(without, self.forced, d),
        )


@dataclass(frozen=True)
class Relaxed:
    """A node with its relaxation solved."""

    node: Node
    curvature: Curvature
    relaxation: HullRelaxation
    point: HullPoint
    hull: HullBound


def relax(
    node: Node,
    curvature: Curvature,
    a: FloatArray,
    d: int,
    domain: Domain = SPHERE,
    *,
    tolerance: float,
    cutoff: float,
    stop: Callable[[], bool],
) -> Relaxed:
    """Solve the hull relaxation of a node at its shift; `curvature` runs along its variables."""
    relaxation = HullRelaxation(
        curvature, a[node.variables], node.delta, node.forced, node.picks(d), domain
    )
    point, hull = relaxation.solve(node.q, tolerance=tolerance, cutoff=cutoff, stop=stop)
    bound = min(node.bound, hull.total)
    solved = replace(node, q=point.q, scores=hull.scores, bound=bound)
    return Relaxed(solved, curvature, relaxation, point, hull)


def fix_variables(relaxed: Relaxed, d: int, cutoff: float) -> tuple[Node, float]:
    """Force in and remove what the scores prove, and return the highest bound given up.

    With the same (u, μ), a free variable outside the top can only come in for the last one
    inside, and one inside only leave for the first one outside; where that bound is at most
    `cutoff` the other choice is not worth visiting.
    """
    node, total = relaxed.node, relaxed.hull.total
    picks = node.picks(d)
    scores = relaxed.hull.scores
    free = np.flatnonzero(~node.forced)
    ranked = free[np.argsort(-scores[free], kind="stable")]
    inside, outside = ranked[:picks], ranked[picks:]
    if_in = total - scores[inside[-1]] + scores[outside]
    if_out = total - scores[inside] + scores[outside[0]]
    kept = np.ones(node.variables.shape[0], dtype=bool)
    kept[outside[if_in <= cutoff]] = False
    forced = node.forced.copy()
    forced[inside[if_out <= cutoff]] = True
    given_up = np.concatenate([if_in[if_in <= cutoff], if_out[if_out <= cutoff]])
    highest = float(given_up.max(initial=-np.inf))
    return node.keep(kept, forced, d), highest


def tighten(
    relaxed: Relaxed, d: int, *, value: float, tolerance: float, stop: Callable[[], bool]
) -> Node:
    """Return the node with the best shift found for it, proved; the same node if none is."""
    node, point = relaxed.node, relaxed.point
    size = node.variables.shape[0]
    if size <= CANDIDATES + CANDIDATES // 4:
        chosen, others = np.arange(size), np.empty(0, dtype=np.intp)
    else:
        needed = node.forced | (node.q > 0)
        number = max(CANDIDATES, int(needed.sum()))
        if number > 2 * CANDIDATES:
            # A step costs the cube of this number: branching is quicker.
            return replace(node, shift_size=size)
        order = np.argsort(-np.where(needed, np.inf, relaxed.hull.scores), kind="stable")
        chosen, others = np.sort(order[:number]), np.sort(order[number:])
    matrix = relaxed.curvature.block(chosen)
    ground, allowance, shared = matrix, 0.0, -np.inf
    if others.shape[0] > 0:
        base = float(node.delta.min())
        margin = SHARED_DROP * (point.mu + base)
        shared = base - margin
        try:
            ground, allowance = relaxed.curvature.complement(chosen, others, shared, margin)
        except LinAlgError:
            allowance = np.inf
        if allowance > margin:
            # What rounding error takes is more than what the shift could give.
            return replace(node, shift_size=size)
    lowest = float(np.linalg.eigvalsh(ground)[0]) - allowance
    domain = relaxed.relaxation.domain
    if not domain.on_sphere and lowest <= 0.0:
        return replace(node, shift_size=size)
    e_scale = float(point.e[chosen].max())
    drop = 1e-3 * e_scale
    mu = max(point.mu, -shared if others.shape[0] else -np.inf, -lowest) + 2e-3 * e_scale
    if not domain.on_sphere:
        # μ stays 0: the start must leave room between 0 and the lowest eigenvalue.
        drop, mu = min(drop, lowest / 2), 0.0
    start = np.full(chosen.shape[0], lowest - drop)
    z = np.zeros(size)
    z[point.support] = point.z
    b = relaxed.relaxation.a[chosen] - 2 * (matrix @ z[chosen] - start * z[chosen])
    problem = ShiftProblem(
        matrix=matrix,
        ground=ground,
        a=relaxed.relaxation.a[chosen],
        forced=node.forced[chosen],
        picks=node.picks(d),
        mu_above=-shared if others.shape[0] else -np.inf,
        domain=domain,
    )
    scale = 0.3 * max(abs(value), relaxed.hull.total - value)
    delta = best_shift(problem, start, mu, b, tolerance=tolerance, scale=scale, stop=stop)
    proved = _proved(ground, delta, allowance)
    if proved is None or not (domain.on_sphere or proved.min() > 0.0):
        return replace(node, shift_size=size)
    full = np.full(size, shared)
    full[chosen] = proved
    return replace(node, delta=full, shift_size=size)


def _proved(ground: FloatArray, delta: FloatArray, allowance: float) -> FloatArray | None:
    """Return δ lowered so that M̄ − Diag(δ) ⪰ 0 holds whatever the rounding errors.

    A Cholesky factorisation that runs through proves that the matrix plus an error of at most
    (n + 2)ε·trace is PSD.
    """
    shifted = ground - np.diag(delta)
    try:
        cholesky(shifted, lower=True, check_finite=False)
    except LinAlgError:
        return None
    safety = 4 * (delta.shape[0] + 2) * EPS * float(np.abs(np.diag(shifted)).sum())
    safety += 4 * EPS * float(np.abs(np.diag(ground)).max() + np.abs(delta).max())
    lowered: FloatArray = delta - safety - allowance
    return lowered
