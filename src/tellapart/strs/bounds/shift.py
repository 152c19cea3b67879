"""The best shift per variable for the hull bound, by a primal-dual interior-point method.

Over everything the hull bound may choose, it is a semidefinite problem in (b, δ, μ, ν, p, s),
b = a − 2Cu:

    min s + μ + kν + Σ_i p_i
    s.t. [M − Diag δ, (a − b)/2; (a − b)ᵀ/2, s] ⪰ 0,   M̄ − Diag δ ⪰ 0,
         [μ + δ_i, b_i/2; b_i/2, p_i + ν] ⪰ 0,  p_i ≥ 0   (no ν and no sign for i forced in),

the dual of the semidefinite relaxation with perspective cuts. M̄ = M, or a Schur complement below
M that carries the variables left out of the problem (`Curvature.complement`). Where z ≥ 0 the
cones hold b ≥ g in place of g = a − 2Cu (max(g, 0) is what counts). Without the sphere μ = 0.

Predictor and corrector steps in the direction of Helmberg, Rendl, Vanderbei and Wolkowicz, Kojima
and others, and Monteiro: X·S = τI is linearised as ΔX = τS⁻¹ − X − (X ΔS S⁻¹ + S⁻¹ΔS X)/2. As δ
and s are all that the large blocks hold, the system is made of entrywise products of X and S⁻¹;
p and b are eliminated by hand, which leaves an order of 2n + 3. A dozen steps are enough, where a
path of the duals alone takes hundreds to get near the optimum.

Only δ is kept: any δ with M − Diag δ ⪰ 0 gives a valid bound, however early this stops.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy.linalg import LinAlgError, cholesky, lapack

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.budget import current_budget
from tellapart.strs.bounds.hull import HullNode, Relaxed, rebalance
from tellapart.strs.domains import EPS, SPHERE, Domain

APART = 0.1
"""How far b starts above max(g, 0), as a part of the b whose score is an even share of the gap."""

INSIDE = 0.95
"""The part of the way to the boundary that a step takes."""

SHORTENED = 0.8
"""How much shorter the next attempt is where a step leaves the semidefinite cone."""

TOO_SHORT = 0.1
"""After a step shorter than this the next one goes to the centre only."""

LEAST_CENTRING, CENTRING_POWER = 1e-3, 3
"""How far τ falls: by this at most, and by this power of what the predictor leaves."""

INFEASIBLE = 1e-2
"""What the primal point may violate its constraints by at the end: q and tr X are about 1."""


@dataclass(frozen=True)
class ShiftProblem:
    """The data: M, M̄ (`ground`), a, which variables are forced, and how many more are picked.

    `mu_above` is a limit that μ must stay above: −δ of the variables left out.
    """

    matrix: FloatArray
    ground: FloatArray
    a: FloatArray
    forced: BoolArray
    picks: int
    mu_above: float
    domain: Domain = SPHERE

    def in_units(self, unit: float) -> ShiftProblem:
        """Return the problem divided by a power of two."""
        matrix = self.matrix / unit
        ground = self.ground / unit if self.grounded else matrix
        return replace(
            self, matrix=matrix, ground=ground, a=self.a / unit, mu_above=self.mu_above / unit
        )

    @property
    def grounded(self) -> bool:
        """Whether M̄ is another matrix than M."""
        return self.ground is not self.matrix

    @property
    def limited(self) -> bool:
        """Whether μ has a limit."""
        return bool(np.isfinite(self.mu_above))

    @property
    def pairs(self) -> int:
        """The number of eigenvalues of all blocks: what complementarity is shared by."""
        n, free = self.a.shape[0], int((~self.forced).sum())
        signs = n if self.domain.nonnegative else 0
        return int(3 * n + 1 + (n if self.grounded else 0) + free + signs + int(self.limited))


class _Dual(NamedTuple):
    """A point, or a step from one. b is g unless z ≥ 0."""

    g: FloatArray
    b: FloatArray
    delta: FloatArray
    p: FloatArray
    mu: float
    nu: float
    s: float


class _Slack(NamedTuple):
    """What a dual point leaves of every constraint, or what a step adds to it.

    `whole` and `ground` are the large blocks, [e, b/2; b/2, y] the small ones; `p`, `b − g` and
    `room` = μ − mu_above are 1 where there is no such constraint, and 0 in a step.
    """

    whole: FloatArray
    ground: FloatArray
    e: FloatArray
    b: FloatArray
    y: FloatArray
    p: FloatArray
    above: FloatArray
    room: float


class _Primal(NamedTuple):
    """The multipliers of these constraints in the same order, [x, c; c, q] for the small blocks."""

    whole: FloatArray
    ground: FloatArray
    x: FloatArray
    c: FloatArray
    q: FloatArray
    p: FloatArray
    above: FloatArray
    room: float


Tuple = TypeVar("Tuple", _Dual, _Slack, _Primal)


def _along(point: Tuple, length: float, step: Tuple) -> Tuple:
    pairs: Any = zip(point, step, strict=True)
    return type(point)(*(at + length * by for at, by in pairs))


@dataclass(frozen=True)
class Shift:
    """Where the method ends: δ, the q of its primal point, and the bound that goes with δ."""

    delta: FloatArray
    q: FloatArray
    bound: float


def best_shift(
    problem: ShiftProblem,
    delta: FloatArray,
    mu: float,
    g: FloatArray,
    *,
    tolerance: Callable[[float], float],
    scale: float,
    stop: Callable[[], bool],
    steps: int = 60,
) -> Shift | None:
    """Return δ whose bound is within about `tolerance(bound)` of the best; None for a bad start.

    (δ, μ, g) must be strictly feasible; `scale` is the size of the gap there.
    """
    # In units of the gap no number is too small to be squared.
    unit = float(np.ldexp(1.0, int(np.frexp(scale)[1])))
    path = _Path.begin(problem.in_units(unit), delta / unit, mu / unit, g / unit, scale / unit)
    if path is None:
        return None
    taken = 0
    while taken < steps and not stop():
        limit = tolerance(unit * path.objective) / unit
        if path.is_done(limit) or not path.advance():
            break
        taken += 1
    return Shift(unit * path.dual.delta, path.primal.q, unit * path.objective)


class _Path:
    """The iterates on the way to the optimum."""

    def __init__(self, problem: ShiftProblem, dual: _Dual, primal: _Primal | None, tau: float):
        self.problem = problem
        self.n = problem.a.shape[0]
        self.diagonal = np.arange(self.n)
        self.is_free = (~problem.forced).astype(float)
        self.signs = 1.0 if problem.domain.nonnegative else 0.0
        self.limit = 1.0 if problem.limited else 0.0
        self.last_length = 1.0
        self.dual = dual
        self.slack = self._slack(dual)
        self._invert()
        self.primal = self._multiple_of_inverse(tau) if primal is None else primal

    @classmethod
    def begin(
        cls, problem: ShiftProblem, delta: FloatArray, mu: float, g: FloatArray, scale: float
    ) -> _Path | None:
        """Return the path from a point with g, δ and μ, primal and dual centred for each other."""
        e = mu + delta
        if (e <= 0).any() or mu <= problem.mu_above:
            return None
        b = g
        if problem.domain.nonnegative:
            b = np.maximum(g, 0.0) + APART * np.sqrt(4 * e * scale / g.shape[0])
        scores = b * b / (4 * e)
        free = np.flatnonzero(~problem.forced)
        nu = float(np.partition(scores[free], -problem.picks)[-problem.picks])
        margin = scale / problem.a.shape[0]
        p = np.where(problem.forced, scores, np.maximum(scores - nu, 0.0)) + margin
        factor, failed = lapack.dpotrf(problem.matrix - np.diag(delta), lower=1)
        if failed:
            return None
        half, _ = lapack.dtrtrs(factor, (problem.a - g) / 2, lower=1)
        tau = scale / problem.pairs
        try:
            return cls(problem, _Dual(g, b, delta, p, mu, nu, float(half @ half) + tau), None, tau)
        except LinAlgError:
            return None

    @property
    def objective(self) -> float:
        """The bound of the dual point."""
        dual = self.dual
        return dual.s + dual.mu + self.problem.picks * dual.nu + float(dual.p.sum())

    def is_done(self, limit: float) -> bool:
        """Whether the two points are close enough, the primal one about feasible."""
        apart = self._complementarity(self.primal, self.slack)
        return limit == np.inf or (apart <= limit and self._infeasibility() <= INFEASIBLE)

    def advance(self) -> bool:
        """Take a step; False if none is left to take."""
        if not self._factorise():
            return False
        tau = self._complementarity(self.primal, self.slack) / self.problem.pairs
        second: _Products | None = None
        if self.last_length > TOO_SHORT:
            dual_step, primal_step = self._direction(0.0, None)
            slack_step = self._slack_step(dual_step)
            # The large blocks would only shorten it a little.
            lengths = self._small_lengths(slack_step, primal_step)
            left = self._complementarity(
                _along(self.primal, lengths[1], primal_step),
                _along(self.slack, lengths[0], slack_step),
            )
            part = max(left, 0.0) / (tau * self.problem.pairs)
            least = LEAST_CENTRING
            if self._infeasibility() > INFEASIBLE:
                # τ must not fall faster than the primal point becomes feasible.
                least = max(least, 1.0 - lengths[1])
            tau *= min(max(part**CENTRING_POWER, least), 1.0)
            second = _products(primal_step, slack_step)
        dual_step, primal_step = self._direction(tau, second)
        slack_step = self._slack_step(dual_step)
        dual_length, primal_length = self._lengths(slack_step, primal_step)
        self.last_length = min(dual_length, primal_length)
        if not np.isfinite(dual_step.mu) or max(dual_length, primal_length) < 1e-6:
            return False
        before = self.dual, self.slack, self.primal
        self.dual = _along(self.dual, dual_length, dual_step)
        self.slack = self._slack(self.dual)
        self.primal = _along(self.primal, primal_length, primal_step)
        try:
            self._invert()
        except LinAlgError:
            self.dual, self.slack, self.primal = before
            return False
        return True

    # What a point leaves, and its inverses.

    def _slack(self, dual: _Dual) -> _Slack:
        problem, n = self.problem, self.n
        whole = np.empty((n + 1, n + 1))
        whole[:n, :n] = problem.matrix
        whole[self.diagonal, self.diagonal] -= dual.delta
        whole[:n, n] = whole[n, :n] = (problem.a - dual.g) / 2
        whole[n, n] = dual.s
        ground = np.empty((0, 0))
        if problem.grounded:
            ground = problem.ground - np.diag(dual.delta)
        return _Slack(
            whole,
            ground,
            dual.mu + dual.delta,
            dual.b,
            dual.p + dual.nu * self.is_free,
            np.where(problem.forced, 1.0, dual.p),
            dual.b - dual.g if self.signs else np.ones(n),
            dual.mu - problem.mu_above if self.limit else 1.0,
        )

    def _slack_step(self, step: _Dual) -> _Slack:
        n = self.n
        whole = np.zeros((n + 1, n + 1))
        whole[self.diagonal, self.diagonal] = -step.delta
        whole[:n, n] = whole[n, :n] = -step.g / 2
        whole[n, n] = step.s
        return _Slack(
            whole,
            -np.diag(step.delta) if self.problem.grounded else np.empty((0, 0)),
            step.mu + step.delta,
            step.b,
            step.p + step.nu * self.is_free,
            step.p * self.is_free,
            self.signs * (step.b - step.g),
            self.limit * step.mu,
        )

    def _invert(self) -> None:
        """Set the inverses of the blocks; LinAlgError outside the cones."""
        slack = self.slack
        determinant = slack.e * slack.y - slack.b**2 / 4
        linear = (slack.e, slack.p, slack.above, determinant)
        if not all((values > 0).all() for values in linear) or slack.room <= 0:
            raise LinAlgError
        self.inverse = _inverse(slack.whole)
        self.ground_inverse = _inverse(slack.ground) if self.problem.grounded else slack.ground
        self.alpha, self.gamma = slack.y / determinant, slack.e / determinant
        self.beta = -slack.b / (2 * determinant)

    def _multiple_of_inverse(self, tau: float) -> _Primal:
        return _Primal(
            tau * self.inverse,
            tau * self.ground_inverse,
            tau * self.alpha,
            tau * self.beta,
            tau * self.gamma,
            tau * self.is_free / self.slack.p,
            tau * self.signs / self.slack.above,
            tau * self.limit / self.slack.room,
        )

    @staticmethod
    def _complementarity(primal: _Primal, slack: _Slack) -> float:
        small = primal.x * slack.e + primal.c * slack.b + primal.q * slack.y
        small = small + primal.p * slack.p + primal.above * slack.above
        large = np.vdot(primal.whole, slack.whole) + np.vdot(primal.ground, slack.ground)
        return float(large) + float(small.sum()) + primal.room * slack.room

    def _infeasibility(self) -> float:
        """By how much the primal point violates its constraints at most."""
        primal = self.primal
        weights = primal.whole[self.diagonal, self.diagonal] - primal.x
        if self.problem.grounded:
            weights += np.diag(primal.ground)
        parts = [float(np.abs(weights).max()) / max(1.0, float(primal.x.sum()))]
        parts += [float(np.abs(1 - primal.q - primal.p).max())]
        parts += [abs(1 - float(primal.whole[self.n, self.n]))]
        parts += [abs(self.problem.picks - float(primal.q @ self.is_free))]
        if self.problem.domain.on_sphere:
            parts += [abs(1 - float(primal.x.sum()) - primal.room)]
        return max(parts)

    # The linear system.

    def _factorise(self) -> bool:
        """Form the system in (g, δ, μ, ν, s), p and b eliminated, and factorise it."""
        n, primal, slack = self.n, self.primal, self.slack
        X, h, chi = primal.whole[:n, :n], primal.whole[:n, n], primal.whole[n, n]
        P, v, sigma = self.inverse[:n, :n], self.inverse[:n, n], self.inverse[n, n]
        H = np.zeros((2 * n + 3, 2 * n + 3))
        crossed = np.outer(h, v)
        H[:n, :n] = 0.25 * (sigma * X + chi * P + crossed + crossed.T)
        H[:n, n : 2 * n] = 0.5 * (X * v + P * h)
        H[n : 2 * n, n : 2 * n] = X * P
        if self.problem.grounded:
            H[n : 2 * n, n : 2 * n] += primal.ground * self.ground_inverse
        H[:n, -1], H[n : 2 * n, -1], H[-1, -1] = -0.5 * (h * sigma + chi * v), -h * v, chi * sigma
        # The small blocks in (e, b, y).
        x, c, q = primal.x, primal.c, primal.q
        alpha, beta, gamma = self.alpha, self.beta, self.gamma
        ee, self.ey, self.yy = x * alpha, c * beta, q * gamma
        eb, self.by = 0.5 * (c * alpha + x * beta), 0.5 * (q * beta + c * gamma)
        bb = 0.25 * (2 * c * beta + x * gamma + q * alpha)
        # p is part of y, and so is ν.
        self.pp = self.yy + primal.p / slack.p
        self.ye, self.yb, self.yn = self.ey / self.pp, self.by / self.pp, self.yy / self.pp
        ee, eb, bb = ee - self.ey * self.ye, eb - self.ey * self.yb, bb - self.by * self.yb
        kept = (1 - self.yn) * self.is_free
        nn, ne, nb = self.yy * kept, self.ey * kept, self.by * kept
        self.eb, self.nb = eb, nb
        if self.signs:
            # b goes too, and its place is taken by g.
            self.square = primal.above / slack.above
            self.bb = bb + self.square
            ee, ne, nn = ee - eb * eb / self.bb, ne - nb * eb / self.bb, nn - nb * nb / self.bb
            eb, nb, bb = (
                eb * self.square / self.bb,
                nb * self.square / self.bb,
                self.square * bb / self.bb,
            )
        index, mu, nu = self.diagonal, 2 * n, 2 * n + 1
        H[index, index] += bb
        H[index, n + index] += eb
        H[n + index, n + index] += ee
        H[:n, mu], H[n:mu, mu], H[mu, mu] = eb, ee, ee.sum() + primal.room / slack.room
        H[:n, nu], H[n:mu, nu], H[mu, nu], H[nu, nu] = nb, ne, ne.sum(), nn.sum()
        if not self.problem.domain.on_sphere:
            # μ does not move.
            H[:mu, mu] = H[mu, mu + 1 :] = 0.0
            H[mu, mu] = 1.0
        self.root, failed = lapack.dpotrf(H, lower=0)
        if failed:
            # Near the end the system is definite only up to rounding error.
            H[np.diag_indices_from(H)] *= 1 + 1e-10
            self.root, failed = lapack.dpotrf(H, lower=0)
        return not failed

    def _direction(self, tau: float, second: _Products | None) -> tuple[_Dual, _Primal]:
        """Return the step towards X·S = τI, corrected by the products of an earlier one."""
        n = self.n
        target = self._multiple_of_inverse(tau)
        if second is not None:
            target = _along(target, -1.0, second.over(self))
        # The constraints of the primal point, at `target`.
        rp = -1.0 + target.q + target.p
        move_p = rp / self.pp
        re, rb = target.x - self.ey * move_p, target.c - self.by * move_p
        rn = (target.q - self.yy * move_p) * self.is_free
        rg = rb
        if self.signs:
            move_b = (rb + target.above) / self.bb
            re, rn = re - self.eb * move_b, rn - self.nb * move_b
            rg = -target.above + self.square * move_b
        right = np.empty(2 * n + 3)
        right[:n] = rg - target.whole[:n, n]
        right[n : 2 * n] = re - target.whole[self.diagonal, self.diagonal]
        if self.problem.grounded:
            right[n : 2 * n] -= np.diag(target.ground)
        right[2 * n] = re.sum() - 1.0 + target.room
        right[2 * n + 1] = rn.sum() - self.problem.picks
        right[2 * n + 2] = target.whole[n, n] - 1.0
        if not self.problem.domain.on_sphere:
            right[2 * n] = 0.0
        step, _ = lapack.dpotrs(self.root, right, lower=0)
        dg, dd = step[:n], step[n : 2 * n]
        mu, nu, s = (float(entry) for entry in step[2 * n :])
        de, db = dd + mu, dg
        if self.signs:
            db = move_b - (self.nb * nu + self.eb * de - self.square * dg) / self.bb
        dp = move_p - (self.yn * nu * self.is_free + self.ye * de + self.yb * db)
        dual = _Dual(dg, db, dd, dp, mu, nu, s)
        moved = _products(self.primal, self._slack_step(dual)).over(self)
        primal = _along(_along(target, -1.0, self.primal), -1.0, moved)
        return dual, primal._replace(p=primal.p * self.is_free)

    # How far a step may go.

    def _lengths(self, slack_step: _Slack, primal_step: _Primal) -> tuple[float, float]:
        """Return the lengths, 1 at most, that keep the dual and the primal point inside."""
        small = self._small_lengths(slack_step, primal_step)
        lengths = []
        for length, at, step in (
            (small[0], self.slack, slack_step),
            (small[1], self.primal, primal_step),
        ):
            shorter = _within(at.whole, step.whole, length)
            if self.problem.grounded:
                shorter = _within(at.ground, step.ground, shorter)
            lengths.append(shorter if shorter == length else INSIDE * shorter)
        return lengths[0], lengths[1]

    def _small_lengths(self, slack_step: _Slack, primal_step: _Primal) -> tuple[float, float]:
        """Return the lengths that the small blocks allow."""
        slack, primal = self.slack, self.primal
        dual_length = min(
            _to_cone(slack.e, slack.b, slack.y, slack_step.e, slack_step.b, slack_step.y),
            _to_zero(slack.p, slack_step.p),
            _to_zero(slack.above, slack_step.above),
            _to_zero(np.array([slack.room]), np.array([slack_step.room])),
        )
        primal_length = min(
            _to_cone(
                primal.x, 2 * primal.c, primal.q, primal_step.x, 2 * primal_step.c, primal_step.q
            ),
            _to_zero(primal.p, primal_step.p),
            _to_zero(primal.above, primal_step.above),
            _to_zero(np.array([primal.room]), np.array([primal_step.room])),
        )
        return min(1.0, INSIDE * dual_length), min(1.0, INSIDE * primal_length)


class _Products(NamedTuple):
    """X·ΔS for every block, row by row of the small ones."""

    whole: FloatArray
    ground: FloatArray
    small: tuple[FloatArray, FloatArray, FloatArray, FloatArray]
    p: FloatArray
    above: FloatArray
    room: float

    def over(self, path: _Path) -> _Primal:
        """Return X·ΔS·S⁻¹, its symmetric part."""
        alpha, beta, gamma = path.alpha, path.beta, path.gamma
        first, second, third, fourth = self.small
        off = first * beta + second * gamma + third * alpha + fourth * beta
        ground = self.ground
        if path.problem.grounded:
            ground = _symmetric(self.ground @ path.ground_inverse)
        return _Primal(
            _symmetric(self.whole @ path.inverse),
            ground,
            first * alpha + second * beta,
            off / 2,
            third * beta + fourth * gamma,
            self.p / path.slack.p,
            self.above / path.slack.above,
            self.room / path.slack.room,
        )


def _products(primal: _Primal, step: _Slack) -> _Products:
    X = primal.whole
    n = X.shape[0] - 1
    border = step.whole[:n, n]
    whole = np.empty_like(X)
    whole[:, :n] = X[:, :n] * np.diag(step.whole)[:n]
    whole[:, :n] += np.outer(X[:, n], border)
    whole[:, n] = X[:, :n] @ border + step.whole[n, n] * X[:, n]
    half = step.b / 2
    x, c, q = primal.x, primal.c, primal.q
    return _Products(
        whole,
        primal.ground * np.diag(step.ground),
        (
            x * step.e + c * half,
            x * half + c * step.y,
            c * step.e + q * half,
            c * half + q * step.y,
        ),
        primal.p * step.p,
        primal.above * step.above,
        primal.room * step.room,
    )


def _symmetric(matrix: FloatArray) -> FloatArray:
    return 0.5 * (matrix + matrix.T)


def _inverse(matrix: FloatArray) -> FloatArray:
    """Return the inverse of a positive definite matrix."""
    factor, failed = lapack.dpotrf(matrix, lower=1)
    if failed:
        raise LinAlgError
    lower, _ = lapack.dpotri(factor, lower=1)
    inverse: FloatArray = np.tril(lower) + np.tril(lower, -1).T
    return inverse


def _to_zero(values: FloatArray, step: FloatArray) -> float:
    """Return how far the step goes before an entry falls to 0."""
    falling = step < 0
    return float((-values[falling] / step[falling]).min(initial=np.inf))


def _to_cone(
    e: FloatArray, b: FloatArray, y: FloatArray, de: FloatArray, db: FloatArray, dy: FloatArray
) -> float:
    """Return how far the step goes before a block [e, b/2; b/2, y] leaves the cone."""
    square = de * dy - db * db / 4
    slope = e * dy + y * de - b * db / 2
    start = e * y - b * b / 4
    discriminant = slope * slope - 4 * square * start
    divisor = np.sqrt(np.maximum(discriminant, 0.0)) - slope
    crossing = (discriminant >= 0) & (divisor > 0)
    first = (2 * start[crossing] / divisor[crossing]).min(initial=np.inf)
    return min(float(first), _to_zero(e, de), _to_zero(y, dy))


def _within(matrix: FloatArray, step: FloatArray, length: float) -> float:
    """Return a length, at most the one given, that keeps the matrix positive definite."""
    while length > 1e-8:
        if lapack.dpotrf(matrix + length * step, lower=1)[1] == 0:
            return length
        length *= SHORTENED
    return 0.0


# A node of the branch-and-bound tree, and the proved bound it gets.


SCALE = 0.3
"""The gap at the start, in units of the value or of the gap there."""

DROP = 0.1
"""How far below the lowest eigenvalue all δ start, in units of e = μ + δ or of its share…"""

RISE = 6.0
"""…and how far μ starts above its own, in units of that."""

PART_OF_GAP = 0.5
"""The part of the gap that is left by which a bound may miss the best one.

Below 1 the primal point shows that no shift closes the node. Nearer to the optimum the bound is
hardly better and the scores of most variables are equal: none can be fixed, and children gain less.
"""

LEAST_SHARE = 1e-3
"""Entries of q below this are put to 0."""

SHARED_DROP = 0.5
"""How far the shift of variables without one of their own falls, in units of e = μ + δ there…"""

RETUNED_DROP = 0.01
"""…and how far that of variables with one, where that of others is improved."""


def tighten(
    relaxed: Relaxed,
    d: int,
    *,
    value: float,
    tolerance: float,
    stop: Callable[[], bool],
    cutoff: float | None = None,
    most: int | None = None,
) -> HullNode:
    """Return the node with the best shift found for it, proved; the same node if none is.

    It ends once the bound is within `tolerance` of the best; with a `cutoff` also below that, or
    where the best one would leave the node open. About `most` variables get shifts of their own.
    """
    node = relaxed.node
    size = node.variables.shape[0]
    most = current_budget().shifted_columns if most is None else most
    number = size
    needed = node.forced | (node.q > 0)
    if size > most + most // 4:
        number = max(most, int(needed.sum()))
        if number > 2 * most:
            # A step costs the cube of this number: branching is quicker.
            return replace(node, shift_size=size)
    order = np.argsort(-np.where(needed, np.inf, relaxed.hull.scores), kind="stable")
    goal = ShiftGoal(value, cutoff, tolerance, stop)
    return replace(_shifted(relaxed, d, order[:number], SHARED_DROP, goal), shift_size=size)


def retune(
    relaxed: Relaxed,
    d: int,
    *,
    value: float,
    tolerance: float,
    stop: Callable[[], bool],
    cutoff: float,
    most: int,
) -> HullNode:
    """Return the node with a better shift of the `most` variables that matter most, proved.

    The others keep nearly what they have. That costs a tenth of `tighten` and gains most of it.
    """
    node = relaxed.node
    most = max(most, d + node.picks(d))
    order = np.lexsort((-relaxed.hull.scores, -np.where(node.forced, 2.0, node.q)))
    goal = ShiftGoal(value, cutoff, tolerance, stop)
    return _shifted(relaxed, d, order[:most], RETUNED_DROP, goal)


class ShiftGoal(NamedTuple):
    """Where the search for a shift ends; `tighten` says how."""

    value: float
    cutoff: float | None
    tolerance: float
    stop: Callable[[], bool]

    def close_enough(self, bound: float) -> float:
        """Return by how much a bound may miss the best one."""
        if self.cutoff is None:
            return self.tolerance
        left = bound - self.cutoff
        return max(self.tolerance, PART_OF_GAP * left) if left > 0 else np.inf


def _shifted(relaxed: Relaxed, d: int, order: IntArray, drop: float, goal: ShiftGoal) -> HullNode:
    """Return the node with the best shift of some variables; the others' are lowered by a part."""
    node = relaxed.node
    is_chosen = np.zeros(node.variables.shape[0], dtype=bool)
    is_chosen[order] = True
    chosen, others = np.flatnonzero(is_chosen), np.flatnonzero(~is_chosen)
    matrix = relaxed.curvature.block(chosen)
    ground, allowance, limit = matrix, 0.0, -np.inf
    delta = node.delta.copy()
    if others.shape[0] > 0:
        e = relaxed.point.e[others]
        margin = min(drop * float(np.median(e)), SHARED_DROP * float(e.min()))
        delta[others] -= margin
        limit = -float(delta[others].min())
        try:
            ground, allowance = relaxed.curvature.complement(chosen, others, node.delta, margin)
        except LinAlgError:
            allowance = np.inf
        if not allowance <= margin:
            # What rounding error takes is more than what the shift could give.
            return node
    shift = shift_of(relaxed, chosen, matrix, ground, d, goal, allowance, limit)
    if shift is None:
        return node
    delta[chosen] = shift.delta
    q = np.zeros(delta.shape[0])
    q[chosen] = np.where(shift.q < LEAST_SHARE, 0.0, np.minimum(shift.q, 1.0))
    q[node.forced] = 1.0
    q = rebalance(q, relaxed.hull.scores, np.flatnonzero(~node.forced), node.picks(d))
    return replace(node, delta=delta, q=q)


def shift_of(
    relaxed: Relaxed,
    chosen: IntArray,
    matrix: FloatArray,
    ground: FloatArray,
    d: int,
    goal: ShiftGoal,
    allowance: float = 0.0,
    mu_above: float = -np.inf,
) -> Shift | None:
    """Return the best shift of some variables, proved: M̄ − Diag δ ⪰ 0; None if none is.

    `matrix` and `ground` run along the variables chosen, eigenvalues of the latter are off by at
    most `allowance`.
    """
    node, point, domain = relaxed.node, relaxed.point, relaxed.relaxation.domain
    lowest = float(np.linalg.eigvalsh(ground)[0]) - allowance
    if not domain.on_sphere and lowest <= 0.0:
        return None
    scale = SCALE * max(abs(goal.value), relaxed.hull.total - goal.value)
    drop = DROP * max(float(point.e[chosen].max()), scale / 4)
    mu = max(point.mu, mu_above, -lowest) + RISE * drop
    if not domain.on_sphere:
        # μ stays 0: the start must leave room between 0 and the lowest eigenvalue.
        drop, mu = min(drop, lowest / 2), 0.0
    start = np.full(chosen.shape[0], lowest - drop)
    z = np.zeros(node.variables.shape[0])
    z[point.support] = point.z
    a = relaxed.relaxation.a[chosen]
    g = a - 2 * (matrix @ z[chosen] - start * z[chosen])
    problem = ShiftProblem(
        matrix=matrix,
        ground=ground,
        a=a,
        forced=node.forced[chosen],
        picks=node.picks(d),
        mu_above=mu_above if domain.on_sphere else -np.inf,
        domain=domain,
    )

    shift = best_shift(
        problem, start, mu, g, tolerance=goal.close_enough, scale=scale, stop=goal.stop
    )
    proved = None if shift is None else _proved(ground, shift.delta, allowance)
    if shift is None or proved is None or not (domain.on_sphere or proved.min() > 0.0):
        return None
    return replace(shift, delta=proved)


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
