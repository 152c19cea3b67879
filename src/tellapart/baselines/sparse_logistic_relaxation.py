"""The convex relaxation of sparse logistic regression: fractional marks of columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.baselines.sparse_logistic_problem import LogisticProblem
from tellapart.strs.bounds.cuts.cut import Cut
from tellapart.strs.control import Control

CLOSE = 1e-5
"""The relative duality gap at which the relaxation is solved."""
LONGEST = 2_000
CHECK_EVERY = 10


@dataclass(frozen=True)
class Relaxation:
    """The marks q ∈ [0, 1]^D of the relaxation, the cut of its dual point, and its bound."""

    q: FloatArray
    cut: Cut
    bound: float


def solve_relaxation(problem: LogisticProblem, control: Control) -> Relaxation:
    """Minimise loss + (1/2γ) min_q Σ_j w_j²/q_j over 0 ≤ q ≤ 1, Σq ≤ d, by accelerated steps.

    The second term is the squared d-support norm of w. Every point gives a dual point, whose
    cut bounds all supports: the least bound met is returned, proved however early it stops.
    """
    x, signs, gamma = problem.x, problem.signs, problem.gamma
    step = 4 / _largest_eigenvalue(np.column_stack([x, np.ones(signs.shape[0])]))
    w, b = np.zeros(problem.n_columns), problem.base_intercept
    ahead_w, ahead_b, momentum = w, b, 1.0
    q = np.full(problem.n_columns, problem.d / problem.n_columns)
    best: Relaxation | None = None
    for count in range(LONGEST):
        pull = problem.pull(x @ ahead_w + ahead_b)
        new_w, q = shrink(ahead_w + step * (x.T @ pull), step / gamma, problem.d)
        new_b = ahead_b + step * float(pull.sum())
        moved = float((ahead_w - new_w) @ (new_w - w)) + (ahead_b - new_b) * (new_b - b)
        # Momentum that points uphill is dropped.
        following = 1.0 if moved > 0 else (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        share = 0.0 if moved > 0 else (momentum - 1) / following
        ahead_w, ahead_b = new_w + share * (new_w - w), new_b + share * (new_b - b)
        w, b, momentum = new_w, new_b, following
        if count % CHECK_EVERY == 0 or control.out_of_time:
            scores = x @ w + b
            cut = problem.cut(problem.pull(scores))
            bound = float(cut.largest(np.zeros(problem.n_columns, dtype=bool), problem.d).max())
            if best is None or bound < best.bound:
                best = Relaxation(q, cut, bound)
            used = q > 0
            value = -problem.loss(scores) - float((w[used] ** 2 / q[used]).sum()) / (2 * gamma)
            if bound - value <= CLOSE * abs(value) or control.out_of_time:
                break
    assert best is not None  # the first round made one
    return best


def shrink(v: FloatArray, c: float, d: int) -> tuple[FloatArray, FloatArray]:
    """Minimise ½‖w − v‖² + (c/2) Σ_j w_j²/q_j over w and over 0 ≤ q ≤ 1, Σq ≤ d.

    For fixed q, w_j = v_j q_j/(q_j + c); what is left is least for q_j = |v_j| t − c, clipped to
    [0, 1], with Σq = d. That sum is piecewise linear in t: its breakpoints give t exactly.

    >>> w, q = shrink(np.array([3.0, -2.0, 0.5]), 1.0, 1)
    >>> w.round(3), q.round(3)
    (array([ 1.333, -0.333, 0. ]), array([0.8, 0.2, 0. ]))
    """
    size = np.abs(v)
    filled = np.flatnonzero(size)
    if filled.size <= d:
        q = np.zeros(v.shape[0])
        q[filled] = 1.0
        return v * q / (q + c), q
    positive = size[filled]
    # Each column starts to count at t = c/|v| and is full at t = (1 + c)/|v|.
    breaks = np.concatenate([c / positive, (1 + c) / positive])
    slopes = np.concatenate([positive, -positive])
    order = np.argsort(breaks, kind="stable")
    t, slope = breaks[order], np.cumsum(slopes[order])
    sums = np.concatenate([[0.0], np.cumsum(slope[:-1] * np.diff(t))])
    at = int(np.searchsorted(sums, d, side="left"))
    at = min(max(at, 1), t.shape[0] - 1)
    exact = t[at - 1] + (d - sums[at - 1]) / slope[at - 1] if slope[at - 1] > 0 else t[at]
    q = np.clip(size * exact - c, 0.0, 1.0)
    return v * q / (q + c), q


def _largest_eigenvalue(x: FloatArray) -> float:
    """Return λmax(xᵀx), from the smaller of xᵀx and xxᵀ."""
    gram = x @ x.T if x.shape[0] < x.shape[1] else x.T @ x
    return float(np.linalg.eigvalsh(gram)[-1])
