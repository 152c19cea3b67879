"""Which variables of a wide problem can be in a good support at all.

The hull bound wants C = M − Diag(δ) ⪰ 0 over all variables. Where they outnumber the rank of M
many times, that leaves no room for δ, and the bound averages variance away over hundreds of
variables of which a support holds few. But the bound at u needs (z − u)ᵀC(z − u) ≥ 0 only for the
z of the problem. Let K be the most promising variables, u be 0 outside of K, and t the most
variables outside of K that any support within the cutoff can hold: by the hull bound with the
weak shift, t + 1 of them cost too much. Then C need be PSD on K and any t others only:

    C_KK ≻ 0,   M_TT − Diag(δ_T) − M_TK C_KK⁻¹ M_KT ⪰ 0   for all T of t variables outside of K,

and the latter holds if δ_r = G_rr − (the t − 1 largest |G_rs| of row r), by Gershgorin, for
G = M − M_:K C_KK⁻¹ M_K:. δ_K is the best shift (`bounds.shift`) that leaves C_KK above a part of
M_KK.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.budget import current_budget
from tellapart.strs.bounds.hull import (
    HullBound,
    HullNode,
    HullPoint,
    HullRelaxation,
    Relaxed,
    rebalance,
)
from tellapart.strs.bounds.shift import LEAST_SHARE, ShiftGoal, shift_of
from tellapart.strs.domains import EPS
from tellapart.strs.incumbent import exchange_bounds

RESERVED = 0.1
"""The part of M_KK that C_KK is kept above: what others may take of its curvature."""

LEAST_ROOM = 0.3
"""A variable whose e = μ + δ would fall below this part of μ joins K."""

ROUNDS = 3
"""How often K may grow by that."""


OPERATIONS_PER_SECOND = 4e10
"""About as many multiplications in single precision as a core does."""


def screening_seconds(relaxed: Relaxed) -> float:
    """Return about how long `screen` takes."""
    most = current_budget().shifted_columns
    entries = float(relaxed.node.variables.shape[0]) ** 2
    return 2 * (relaxed.curvature.depth + most) * entries / OPERATIONS_PER_SECOND


def screen(
    relaxed: Relaxed, d: int, *, value: float, cutoff: float, stop: Callable[[], bool]
) -> tuple[HullNode, float]:
    """Return the node without variables that are in no support above the cutoff.

    Also the highest bound of the supports given up. `relaxed` is the node at one shift for all.
    """
    node, most = relaxed.node, current_budget().shifted_columns
    nothing = (node, -np.inf)
    needed = node.forced | (node.q > 0)
    order = np.argsort(-np.where(needed, np.inf, relaxed.hull.scores), kind="stable")
    is_core = np.zeros(node.variables.shape[0], dtype=bool)
    is_core[order[: max(most, int(needed.sum()))]] = True
    for _ in range(ROUNDS):
        if is_core.sum() > 2 * most or is_core.all() or stop():
            return nothing
        outside, highest = _most_outside(relaxed, is_core, d, cutoff)
        if outside == 0:
            return node.keep(is_core, node.forced, d), highest
        core = _core(relaxed, np.flatnonzero(is_core), d, value, cutoff, stop)
        if core is None or stop():
            return nothing
        rest = np.flatnonzero(~is_core)
        delta = _rest_delta(relaxed, core, rest, outside, stop)
        if delta is None:
            return nothing
        mu = core.point.mu
        tight = (mu + delta < LEAST_ROOM * mu) | (mu + delta <= 0.0)
        if not tight.any():
            return _fixed(relaxed, core, rest, delta, d, cutoff, highest)
        is_core[rest[tight]] = True
    return nothing


def _most_outside(relaxed: Relaxed, is_core: BoolArray, d: int, cutoff: float) -> tuple[int, float]:
    """Return how many variables outside of the core a support above the cutoff may have.

    Also a bound on the supports with more.
    """
    picks, scores = relaxed.node.picks(d), relaxed.hull.scores
    free = ~relaxed.node.forced
    inside = np.sort(scores[is_core & free])[::-1][:picks]
    outside = np.sort(scores[~is_core])[::-1][:picks]
    base = relaxed.hull.total - relaxed.relaxation.largest(scores) + float(scores[~free].sum())
    most = min(picks, outside.shape[0])
    bounds = np.array(
        [
            base + float(outside[:number].sum()) + float(inside[: picks - number].sum())
            for number in range(most + 1)
        ]
    )
    bounds += 64 * picks * EPS * np.abs(bounds)
    number = int(np.flatnonzero(bounds > cutoff).max(initial=0))
    return number, float(bounds[number + 1 :].max(initial=-np.inf))


@dataclass(frozen=True)
class _Core:
    """The variables K with their shift, C_KK's Cholesky factor, and the hull bound over them."""

    index: IntArray
    relaxation: HullRelaxation
    point: HullPoint
    hull: HullBound
    root: FloatArray
    allowance: float


def _core(
    relaxed: Relaxed,
    index: IntArray,
    d: int,
    value: float,
    cutoff: float,
    stop: Callable[[], bool],
) -> _Core | None:
    node, base = relaxed.node, float(relaxed.node.delta.min())
    curvature = relaxed.curvature.principal(index)
    matrix = curvature.block(np.arange(index.shape[0]))
    # M − base·I ⪰ 0 is proved: a part of it is what C_KK is kept above.
    ground = (1 - RESERVED) * matrix
    ground[np.diag_indices_from(ground)] += RESERVED * base
    goal = ShiftGoal(value, cutoff, 0.0, stop)
    shift = shift_of(relaxed, index, matrix, ground, d, goal)
    if shift is None:
        return None
    C = matrix - np.diag(shift.delta)
    try:
        root = cholesky(C, lower=True, check_finite=False)
    except LinAlgError:
        return None
    lowest = float(np.linalg.eigvalsh(C)[0])
    if lowest <= 0.0:
        return None
    depth = index.shape[0] + relaxed.curvature.depth
    allowance = 16 * depth * EPS * float(np.trace(C)) / lowest
    relaxation = HullRelaxation(
        curvature,
        relaxed.relaxation.a[index],
        shift.delta,
        node.forced[index],
        node.picks(d),
        relaxed.relaxation.domain,
    )
    q = np.where(shift.q < LEAST_SHARE, 0.0, np.minimum(shift.q, 1.0))
    q[node.forced[index]] = 1.0
    q = rebalance(q, relaxed.hull.scores[index], relaxation.free, node.picks(d))
    tolerance = 1e-3 * max(relaxed.hull.total - cutoff, 0.0)
    point, hull = relaxation.solve(q, tolerance=tolerance, cutoff=-np.inf, stop=stop, steps=5)
    return _Core(index, relaxation, point, hull, root, allowance)


def _rest_delta(
    relaxed: Relaxed, core: _Core, rest: IntArray, number: int, stop: Callable[[], bool]
) -> FloatArray | None:
    """Return δ outside of the core that is valid for supports with `number` of these variables.

    The sums over rows of G are taken in single precision, with their error added.
    """
    curvature = relaxed.curvature
    diagonal = curvature.diagonal[rest]
    cross = curvature.columns(core.index)[rest].T
    half = solve_triangular(core.root, cross, lower=True, check_finite=False)
    taken = np.einsum("ij,ij->j", half, half)
    # What is left of the diagonal is off by no more than the parts it is the difference of.
    size = np.abs(diagonal) + taken + abs(curvature.shift)
    delta: FloatArray = diagonal - taken - core.allowance * size
    if number > 1:
        sums = _largest_sums(relaxed, rest, half, number - 1, stop)
        if sums is None:
            return None
        delta = delta - sums
    return delta


def _largest_sums(
    relaxed: Relaxed, rest: IntArray, half: FloatArray, number: int, stop: Callable[[], bool]
) -> FloatArray | None:
    """Return the sum of the `number` largest |G_rs|, s ≠ r, for every row r; not too low."""
    curvature = relaxed.curvature
    left = half.astype(np.float32)
    if curvature.factor is not None:
        right = curvature.factor[:, rest].astype(np.float32)
        depth = right.shape[0] + left.shape[0]
        lengths = np.einsum("ij,ij->j", right, right)
    else:
        assert curvature.dense is not None
        depth = 1 + left.shape[0]
        lengths = np.abs(curvature.diagonal[rest]) + abs(float(relaxed.node.delta.min()))
    lengths = np.sqrt(lengths + np.einsum("ij,ij->j", left, left)).astype(np.float64)
    # Each entry is off by at most so much of the product of the two columns' lengths.
    error = 4 * (depth + 8) * float(np.finfo(np.float32).eps)
    sums = np.empty(rest.shape[0])
    step = max(1, current_budget().block_entries // rest.shape[0])
    for start in range(0, rest.shape[0], step):
        if stop():
            return None
        rows = slice(start, min(start + step, rest.shape[0]))
        if curvature.factor is not None:
            block = right[:, rows].T @ right
        else:
            assert curvature.dense is not None
            block = curvature.dense[np.ix_(rest[rows], rest)].astype(np.float32)
        block -= left[:, rows].T @ left
        np.abs(block, out=block)
        block[np.arange(block.shape[0]), np.arange(rows.start, rows.stop)] = 0.0
        number = min(number, block.shape[1])
        top = np.partition(block, -number, axis=1)[:, -number:]
        sums[rows] = top.sum(axis=1, dtype=np.float64)
    sums += number * error * lengths * float(lengths.max())
    return sums


def _fixed(
    relaxed: Relaxed,
    core: _Core,
    rest: IntArray,
    delta: FloatArray,
    d: int,
    cutoff: float,
    highest: float,
) -> tuple[HullNode, float]:
    """Return the node without what the bound over the core and a few others rules out."""
    node, point, relaxation = relaxed.node, core.point, core.relaxation
    weight = float(relaxation.root_diagonal[point.support] @ np.abs(point.z))
    a = relaxed.relaxation.a[rest]
    used = core.index[point.support]
    g = a - 2 * (relaxed.curvature.columns(used)[rest] @ point.z)
    if relaxation.domain.nonnegative:
        g = np.maximum(g, 0.0)
    relative = 4 * (used.shape[0] + relaxed.curvature.depth + 16) * EPS
    base = abs(float(node.delta.min()))
    roots = np.sqrt(np.abs(relaxed.curvature.diagonal[rest]) + base)
    error = relative * (np.abs(a) + 2 * roots * weight)
    scores = np.empty(node.variables.shape[0])
    scores[core.index] = core.hull.scores
    scores[rest] = (np.abs(g) + error) ** 2 / (4 * (point.mu + delta)) * (1 + 16 * EPS)
    total = core.hull.total - relaxation.largest(core.hull.scores)
    total += relaxed.relaxation.largest(scores)
    total += 64 * scores.shape[0] * EPS * abs(total)
    if_in, if_out = exchange_bounds(total, scores, node.forced, node.picks(d))
    # Supports with more of the others are given up whatever these say.
    child, given_up = node.fix(if_in, if_out, cutoff, d)
    return child, max(given_up, highest)
