"""ADMM for the strong SDP relaxation: two projections, taken in turn, with proved bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.strs.bounds.sdp import DualBound, dual_bound, project_rows, project_spectrum

# Anderson acceleration: a fixed-point iteration helped along by its last few steps.


DAMPING = 1e-10
"""Relative ridge on the least-squares problem, whose columns become nearly parallel."""


class Anderson:
    """Extrapolate x ↦ x + s(x) from the last `memory` pairs (Δx, Δs).

    The next point is x + s − Σ_k γ_k (Δx_k + Δs_k) with γ = argmin ‖s − Σ_k γ_k Δs_k‖₂: the step
    that would end the iteration if s were affine. Safeguards are the caller's.
    """

    def __init__(self, memory: int, length: int) -> None:
        self._moves = np.empty((memory, length))
        self._steps = np.empty((memory, length))
        self._gram = np.zeros((memory, memory))
        self._last: tuple[FloatArray, FloatArray] | None = None
        self._seen = 0

    def reset(self) -> None:
        """Forget all steps, as after a change of the iteration itself."""
        self._last = None
        self._seen = 0

    def extrapolate(self, point: FloatArray, step: FloatArray) -> FloatArray:
        """Return the next point after `point`, whose plain successor is point + step."""
        x, s = point.ravel(), step.ravel()
        if self._last is not None:
            slot = self._seen % self._steps.shape[0]
            np.subtract(s, self._last[1], out=self._steps[slot])
            np.subtract(x, self._last[0], out=self._moves[slot])
            self._moves[slot] += self._steps[slot]
            self._seen += 1
            used = min(self._seen, self._steps.shape[0])
            products = self._steps[:used] @ self._steps[slot]
            self._gram[slot, :used] = self._gram[:used, slot] = products
        self._last = (x, s)
        used = min(self._seen, self._steps.shape[0])
        # One pair is too little to tell a direction from noise.
        if used < 2:
            return point + step
        gram = self._gram[:used, :used]
        ridge = DAMPING * float(np.trace(gram))
        if ridge == 0.0:
            return point + step
        weights = np.linalg.solve(gram + ridge * np.eye(used), self._steps[:used] @ s)
        moved = x + s - weights @ self._moves[:used]
        return np.asarray(moved.reshape(point.shape))


WORSE = 2.0
"""A residual above this multiple of the least so far sends the iteration back."""
LONGEST_LEAP = 1e3
"""An accelerated step longer than this many plain ones is not taken."""
UNBALANCED = 3.0
"""Relative residuals may differ by this factor before ρ changes."""
PENALTY_FACTOR = 2.0
PENALTY_RANGE = 1e4
"""ρ stays within this factor of the data's norm, where rounding error cannot take over."""


@dataclass(frozen=True)
class AdmmSettings:
    """How the iteration runs; the defaults suit data of any scale.

    Attributes
    ----------
    tolerance : float
        Accuracy of the relaxation's value at which the iteration ends, relative to it (or to a
        thousandth of the data's norm, for a value near 0).
    max_iterations : int
        Iterations at most.
    relaxation : float
        Over-relaxation, in (0, 2).
    penalty : float
        First penalty ρ, in units of the data's norm.
    memory : int
        Steps that Anderson acceleration looks back.
    check_every : int
        Iterations between evaluations of the bound, and between changes of ρ.
    """

    tolerance: float = 1e-4
    max_iterations: int = 5_000
    relaxation: float = 1.6
    penalty: float = 0.3
    memory: int = 10
    check_every: int = 10


@dataclass(frozen=True)
class Iterate:
    """A point to start from: the copy Y, the multiplier W of Z = Y, both of order D + 1, and ρ."""

    Y: FloatArray
    W: FloatArray
    penalty: float

    def columns(self, kept: IntArray) -> Iterate:
        """Return the part of the variables `kept`."""
        both = np.ix_(np.append(0, kept + 1), np.append(0, kept + 1))
        return Iterate(self.Y[both], self.W[both], self.penalty)


@dataclass(frozen=True)
class Standing:
    """Where the iteration stands at a check.

    `bound` is the best proved bound so far and W its multiplier; `value` is ⟨Ã, Z⟩, a number
    without proof that tends to the relaxation's value; `error` estimates, also without proof, how
    far the latest bound may be above that; `q` are the shares to round.
    """

    bound: DualBound
    W: FloatArray
    value: float
    Z: FloatArray
    q: FloatArray
    error: float
    iterations: int
    converged: bool
    iterate: Iterate


def solve_admm(
    A: FloatArray,
    a: FloatArray,
    d: int,
    forced: BoolArray,
    settings: AdmmSettings,
    stop: Callable[[Standing | None], bool],
    start: Iterate | None = None,
) -> Standing:
    """Solve max ⟨Ã, Z⟩ over Z = Y, Z in {Z ⪰ 0, tr Z = 2}, Y in {Y₀₀ = 1, cone rows, q}.

    In the variable X = Y + W/ρ one iteration is

        Y = P₂(X),  W = ρ(X − Y),  Z = P₁(Y + (Ã − W)/ρ),  X ← X + α(Z − Y),

    accelerated by Anderson's method; a step that makes ‖Z − Y‖ much worse is taken back. Any W
    gives a proved bound, so stopping early costs tightness, never validity.

    Parameters
    ----------
    A, a, d
        The problem, restricted to the variables that are not fixed to 0.
    forced : bool array
        Variables with q = 1.
    settings : AdmmSettings
        How to run.
    stop : callable
        Called as stop(standing) before the first iteration and at checks, and as stop(None) at
        all other iterations; True ends the run.
    start : Iterate, optional
        Where to start, from a similar problem.
    """
    run = _Splitting(A, a, d, forced, settings, start)
    trivial = dual_bound(A, a, d, forced)
    prices = np.zeros((a.shape[0], 2))
    standing = run.standing(trivial, np.zeros_like(A), np.inf)
    if stop(standing):
        return standing
    for iteration in range(1, settings.max_iterations + 1):
        run.step(iteration)
        if iteration % settings.check_every and iteration > 1:
            if stop(None):
                break
            continue
        W = np.ascontiguousarray(run.W[1:, 1:])
        bound = dual_bound(A, a, d, forced, W, prices)
        error = run.error(bound.value)
        if bound.value >= standing.bound.value:
            bound, W = standing.bound, standing.W
        standing = run.standing(bound, W, error)
        if stop(standing) or standing.converged:
            break
        run.balance()
    return standing


class _Splitting:
    """The iterates of one run."""

    def __init__(
        self,
        A: FloatArray,
        a: FloatArray,
        d: int,
        forced: BoolArray,
        settings: AdmmSettings,
        start: Iterate | None,
    ) -> None:
        size = int(a.shape[0])
        self.d, self.forced, self.settings = d, forced, settings
        # Multiples of the identity are constant on the sphere: without their mean the norm is
        # that of what is left to decide.
        self.mean = float(np.trace(A)) / size
        self.data = np.zeros((size + 1, size + 1))
        self.data[1:, 1:] = A - self.mean * np.eye(size)
        self.data[0, 1:] = self.data[1:, 0] = a / 2
        self.scale = float(np.linalg.norm(self.data))
        self.unit = self.scale if self.scale > 0.0 else 1.0
        if start is None:
            start = Iterate(
                Y=np.diag(np.append(1.0, np.full(size, 1.0 / size))),
                W=np.zeros_like(self.data),
                penalty=settings.penalty * self.unit,
            )
        self.penalty = start.penalty
        self.X = start.Y + start.W / self.penalty
        self.point, self.residual = self.X, np.inf
        self.Y = self.before = self.Z = start.Y
        self.q = np.full(size, d / size)
        self.prices, self.search = np.zeros((size, 2)), np.zeros(2)
        self.anderson = Anderson(settings.memory, self.X.size)
        self.least = np.inf
        self.plain = self.X
        self.iteration = 0

    def step(self, iteration: int) -> None:
        """Do one iteration."""
        self.iteration = iteration
        self.before, self.point = self.Y, self.X
        self.Y = self.X.copy()
        self.Y[0, 0] = 1.0
        self.Y[1:, 1:], self.q = project_rows(
            np.ascontiguousarray(self.X[1:, 1:]), self.forced, self.d, self.prices, self.search
        )
        # Y + (Ã − W)/ρ with W = ρ(X − Y); its symmetric part is all that matters to Z.
        target = self.data / self.penalty + 2.0 * self.Y - self.X
        self.Z = project_spectrum((target + target.T) / 2)
        apart = self.Z - self.Y
        self.residual = float(np.linalg.norm(apart))
        if self.residual > WORSE * self.least:
            self.anderson.reset()
            self.X = self.plain
            # The plain point is kept whatever its residual: rounding error could refuse it too.
            self.least = np.inf
            return
        self.least = min(self.least, self.residual)
        move = self.settings.relaxation * apart
        self.plain = self.X + move
        leap = self.anderson.extrapolate(self.X, move)
        # The residual is bounded, so it cannot tell a leap out of all proportion from a good one.
        longest = LONGEST_LEAP * self.settings.relaxation * self.residual
        self.X = leap if float(np.linalg.norm(leap - self.X)) <= longest else self.plain

    @property
    def W(self) -> FloatArray:  # noqa: N802 - the name of the mathematics
        """The multiplier of Z = Y."""
        return self.penalty * (self.point - self.Y)

    def error(self, bound: float) -> float:
        """Estimate, without proof, how far `bound` may be above the relaxation's value.

        Both copies' objectives should agree with the bound, and what their disagreement Z − Y can
        be worth at the prices W should be small.
        """
        spread = max(abs(bound - self._value(self.Z)), abs(bound - self._value(self.Y)))
        return max(spread, 0.5 * float(np.linalg.norm(self.W)) * self.residual)

    def balance(self) -> None:
        """Change ρ where the relative residuals of Z = Y and of W's condition differ much."""
        primal = self.residual / float(np.linalg.norm(self.Y))
        change = float(np.linalg.norm(self.Y - self.before))
        dual = change * self.penalty / max(float(np.linalg.norm(self.W)), 1e-300)
        if UNBALANCED * min(primal, dual) >= max(primal, dual):
            return
        factor = PENALTY_FACTOR if primal > dual else 1.0 / PENALTY_FACTOR
        if not 1.0 / PENALTY_RANGE < factor * self.penalty / self.unit < PENALTY_RANGE:
            return
        W = self.penalty * (self.X - self.Y)
        self.penalty *= factor
        self.X = self.Y + W / self.penalty
        self.plain = self.X
        self.least = np.inf
        self.anderson.reset()

    def standing(self, bound: DualBound, W: FloatArray, error: float) -> Standing:
        """Return the state of the run with its best bound."""
        size = max(abs(bound.value), 1e-3 * self.scale)
        return Standing(
            bound=bound,
            W=W,
            value=self._value(self.Z),
            Z=self.Z,
            q=self.q,
            iterations=self.iteration,
            error=error,
            converged=error <= self.settings.tolerance * size,
            iterate=Iterate(self.Y, self.W, self.penalty),
        )

    def _value(self, Z: FloatArray) -> float:
        return float(np.vdot(self.data, Z)) + self.mean
