"""Logistic regression with a ridge on chosen columns, and the cuts that its dual gives."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import linalg, special

from tellapart.arrays import FloatArray, IntArray
from tellapart.strs.bounds.cuts import Cut
from tellapart.strs.contract import Control
from tellapart.strs.domains import EPS

NEWTON_STEPS = 60
ACCURACY = 1e-11
"""Newton stops when half its decrement is below this share of the loss."""
LEAST_SHARE = 1e-3
"""The share of the promised decrease that a step must bring."""


@dataclass(frozen=True)
class LogisticFit:
    """The best weights of some columns: `value` is minus the penalised loss there."""

    weights: FloatArray
    intercept: float
    value: float
    pull: FloatArray
    """α_i = −∂loss/∂u_i at the scores u: how much row i pulls its score towards its side."""


@dataclass(frozen=True)
class LogisticProblem:
    """max over ‖w‖₀ ≤ d of −[Σ_i log(1 + exp(−y_i(w·x_i + b))) + ‖w‖²/(2γ)].

    With q ∈ {0,1}^D marking the columns in use, the value v(q) of the best w, b is concave in q
    after the change of variables w_j = √q_j ω_j, ‖ω‖² in the ridge. Its dual bounds it for
    *every* q at once: for any α with Σα = 0 and β_i = y_i α_i ∈ [0, 1],

        v(q) ≤ −Σ_i H(β_i) + (γ/2) Σ_j q_j (x_jᵀα)²,   H(β) = −β log β − (1−β) log(1−β).

    Attributes
    ----------
    x : array, n × D
        The columns, on one scale: the ridge weighs them alike.
    signs : array of n values
        y_i: +1 for the rows of X, −1 for those of Y.
    gamma : float
        γ: the greater, the weaker the ridge.
    d : int
        The most columns in use.
    """

    x: FloatArray
    signs: FloatArray
    gamma: float
    d: int

    @property
    def n_columns(self) -> int:
        """Number of columns, D."""
        return int(self.x.shape[1])

    @property
    def base_intercept(self) -> float:
        """The best intercept without any column: the log odds of the two samples."""
        above = int(np.count_nonzero(self.signs > 0))
        return math.log(above / (len(self.signs) - above))

    @property
    def resolution(self) -> float:
        """The difference in value that rounding error hides."""
        return 16 * EPS * len(self.signs)

    def on_support(self, support: IntArray, start: LogisticFit | None = None) -> LogisticFit:
        """Return the best weights of the columns in `support`."""
        return self.fit(self.x[:, support], start)

    def at(self, q: FloatArray) -> LogisticFit:
        """Return the best weights ω for q ∈ [0, 1]^D, of the columns where q > 0."""
        used = np.flatnonzero(q)
        return self.fit(self.x[:, used] * np.sqrt(q[used]))

    def fit(self, columns: FloatArray, start: LogisticFit | None = None) -> LogisticFit:
        """Return the minimum of loss and ridge over weights of some columns, by Newton's method."""
        width = columns.shape[1]
        design = np.column_stack([columns, np.ones(columns.shape[0])])
        ridge = np.append(np.full(width, 1 / self.gamma), 0.0)
        point = np.append(np.zeros(width), self.base_intercept)
        if start is not None:
            point = np.append(start.weights, start.intercept)
        scores = design @ point
        value = self._penalised(scores, ridge, point)
        for _ in range(NEWTON_STEPS):
            pull = self.pull(scores)
            gradient = ridge * point - design.T @ pull
            curvature = np.abs(pull) * (1 - np.abs(pull))
            hessian = (design.T * curvature) @ design
            hessian.flat[:: width + 2] += ridge
            # Equal columns under a weak ridge would break the factor; the step still descends.
            hessian.flat[:: width + 2] += 16 * (width + 1) * EPS * hessian.diagonal().max()
            step = -linalg.cho_solve(linalg.cho_factor(hessian, check_finite=False), gradient)
            promised = -float(gradient @ step)
            if promised / 2 <= ACCURACY * (1 + abs(value)):
                break
            length, change = 1.0, design @ step
            while length > EPS:
                moved = self._penalised(scores + length * change, ridge, point + length * step)
                if moved <= value - LEAST_SHARE * length * promised:
                    break
                length /= 2
            else:
                break
            point, scores, value = point + length * step, scores + length * change, moved
        return LogisticFit(point[:-1], float(point[-1]), -value, self.pull(scores))

    def pull(self, scores: FloatArray) -> FloatArray:
        """Return α_i = y_i/(1 + exp(y_i u_i))."""
        return np.asarray(self.signs * special.expit(-self.signs * scores))

    def loss(self, scores: FloatArray) -> float:
        """Return Σ_i log(1 + exp(−y_i u_i))."""
        return float(np.logaddexp(0.0, -self.signs * scores).sum())

    def cut(self, pull: FloatArray) -> Cut:
        """Return the bound above for α made feasible, with rounding errors allowed for.

        The α of an inexact fit have a sum that is not 0: those of the heavier side shrink.
        """
        rows = pull.shape[0]
        beta = np.clip(np.abs(pull), np.finfo(float).tiny, 1 - EPS)
        above = self.signs > 0
        sums = float(beta[above].sum()), float(beta[~above].sum())
        beta[above] *= min(sums[1] / sums[0], 1.0)
        beta[~above] *= min(sums[0] / sums[1], 1.0)
        entropy = special.entr(beta) + special.entr(1 - beta)
        # The exact β of sum 0 differ from these by a relative rounding error of the sums.
        slope = special.entr(beta) + beta * np.abs(np.log1p(-beta))
        slack = 4 * (rows + self.n_columns + 8) * EPS * float((entropy + slope).sum())
        reach = np.abs(self.x.T @ (self.signs * beta))
        length = np.sqrt(np.einsum("ij,ij->j", self.x, self.x)) * float(np.linalg.norm(beta))
        weights = self.gamma / 2 * (reach + 4 * (rows + 8) * EPS * length) ** 2
        return Cut(-float(entropy.sum()) + slack, weights)

    def _penalised(self, scores: FloatArray, ridge: FloatArray, point: FloatArray) -> float:
        return self.loss(scores) + float(ridge @ (point * point)) / 2


# The convex relaxation of sparse logistic regression: fractional marks of columns.


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
