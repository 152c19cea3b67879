"""A rising curve of probabilities through outcomes of simulations: fit, read, turn round."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr, ndtri

from tellapart.arrays import FloatArray
from tellapart.planning.simulation import Drawn, RowSource, SimulatedTests, Task

# A fit by few simulations needs a hint: exponents between ¼ and 4 are what tests have.
EXPONENT_PRIOR = (0.5, 0.5)
"""Mean of log(exponent) is log of the first, its standard deviation the second."""
N_DRAWS = 400
EDGE = 1e-9


@dataclass(frozen=True)
class Point:
    """Simulations at one place: `hits` of `runs` came out true; shares of a run add up."""

    x: float
    runs: int
    hits: float


@dataclass(frozen=True, eq=False)
class RisingCurve:
    """P(x) = Φ(c + (x/s)^k) for x ≥ 0, fitted by maximum likelihood.

    With x a number of rows and Φ(c) = α it is a power curve: α where there are no rows, k = ½ for
    the one-sided test of a shift, and k near 1 for sums over many columns.

    Attributes
    ----------
    start, scale, exponent : float
        c, s and k.
    draws : array of shape (400, 3)
        (c, s, k) drawn from the normal law around the fit: what is left open by the simulations.
    points : tuple of Point
        What it was fitted to.

    Examples
    --------
    >>> points = [Point(x, 200, round(200 * ndtr(-1.645 + 0.3 * x**0.5))) for x in (10, 40, 90)]
    >>> curve = fit_curve(points, start=0.05)
    >>> round(float(curve(40)), 1), 60 < curve.solve(0.8) < 75
    (0.6, True)
    """

    start: float
    scale: float
    exponent: float
    draws: FloatArray
    points: tuple[Point, ...]

    def __call__(self, x: float | FloatArray) -> FloatArray:
        """Return P(x)."""
        return np.asarray(_value(np.asarray(x, dtype=np.float64), *self._parameters))

    def solve(self, probability: float) -> float:
        """Return the x with P(x) = `probability`; 0 where P is above it from the start."""
        return float(_solved(probability, *self._parameters))

    def solve_interval(self, probability: float, confidence: float) -> tuple[float, float]:
        """Return where `solve` could be, for all that the simulations say."""
        tails = (1 - confidence) / 2
        low, high = np.quantile(_solved(probability, *self.draws.T), [tails, 1 - tails])
        return float(low), float(high)

    def interval(self, x: float, confidence: float) -> tuple[float, float]:
        """Return where P(x) could be, for all that the simulations say."""
        tails = (1 - confidence) / 2
        low, high = np.quantile(_value(x, *self.draws.T), [tails, 1 - tails])
        return float(low), float(high)

    @property
    def _parameters(self) -> tuple[float, float, float]:
        return self.start, self.scale, self.exponent


def fit_curve(
    points: Sequence[Point], start: float | None = None, *, exponent: float = EXPONENT_PRIOR[0]
) -> RisingCurve:
    """Return the curve of greatest likelihood; `start` is P(0), left open where it is None."""
    x = np.array([point.x for point in points])
    runs = np.array([point.runs for point in points], dtype=np.float64)
    hits = np.array([point.hits for point in points], dtype=np.float64)
    unit = float(np.average(x, weights=runs)) or 1.0

    def unpacked(theta: FloatArray) -> tuple[float, float, float]:
        c = float(ndtri(start)) if start is not None else float(theta[2])
        return c, unit * math.exp(theta[0]), math.exp(theta[1])

    def cost(theta: FloatArray) -> float:
        p = np.clip(_value(x, *unpacked(theta)), EDGE, 1 - EDGE)
        likelihood = hits @ np.log(p) + (runs - hits) @ np.log1p(-p)
        hint = ((theta[1] - math.log(exponent)) / EXPONENT_PRIOR[1]) ** 2 / 2
        # A start and a scale that no simulation speaks of stay within reason.
        hint += (theta[0] / 4) ** 2 / 2
        if start is None:
            hint += (theta[2] / 4) ** 2 / 2
        return float(hint - likelihood)

    first = [0.0, math.log(exponent)] + ([] if start is not None else [-1.0])
    minimum = minimize(cost, np.array(first), method="Nelder-Mead", options={"maxiter": 2000})
    spread = _covariance(cost, minimum.x)
    rng = np.random.default_rng(0)  # the same draws for the same fit
    drawn = rng.multivariate_normal(minimum.x, spread, size=N_DRAWS, method="eigh")
    draws = np.array([unpacked(theta) for theta in drawn])
    return RisingCurve(*unpacked(minimum.x), draws, tuple(points))


def _covariance(cost: object, at: FloatArray) -> FloatArray:
    """Return the inverse of the curvature of the cost, by differences."""
    assert callable(cost)
    size, step = at.size, 0.05
    curvature = np.empty((size, size))
    moves = step * np.eye(size)
    for i in range(size):
        for j in range(size):
            corners = [cost(at + a * moves[i] + b * moves[j]) for a in (1, -1) for b in (1, -1)]
            curvature[i, j] = (corners[0] - corners[1] - corners[2] + corners[3]) / (4 * step**2)
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
    return np.asarray((vectors / np.maximum(values, 0.1)) @ vectors.T)


def _value(
    x: float | FloatArray,
    start: float | FloatArray,
    scale: float | FloatArray,
    exponent: float | FloatArray,
) -> FloatArray:
    return np.asarray(ndtr(start + (x / scale) ** exponent))


def _solved(
    probability: float,
    start: float | FloatArray,
    scale: float | FloatArray,
    exponent: float | FloatArray,
) -> FloatArray:
    above = np.maximum(ndtri(probability) - start, 0.0)
    return np.asarray(scale * above ** (1 / np.asarray(exponent)))


LOOKS = 5
"""Tests of the pilot itself, with other permutations; the median of their evidence counts."""
MOST = 2.0
FIRST_GRID = 1.25
ROUNDS = 3


@dataclass(frozen=True, eq=False)
class Strength:
    """How strong the difference is, as a multiple w of what the pilot shows.

    A bootstrap of the two samples takes the pilot's noise for a difference: even where there is
    none its power goes to 1 as tables grow. Here the difference between the resampled populations
    is w times that of the pilot, and w is such that tables of the pilot's size look like the pilot:
    the evidence of half of them is as large as that of the pilot. What half of them exceed is a
    median-unbiased estimate, and what 5 % and 95 % of them exceed are limits, as tests of each w
    turned round.

    Attributes
    ----------
    estimate, low, high : float
        w, and its limits.
    pvalue : float
        Of the pilot itself, by the permutations of planning: fewer than a test has.
    curve : RisingCurve
        The share of tables with strength w whose evidence exceeds that of the pilot.
    """

    estimate: float
    low: float
    high: float
    pvalue: float
    curve: RisingCurve

    @property
    def shows_difference(self) -> bool:
        """Whether no difference at all lies outside the limits."""
        return self.low > 0


def estimate_strength(
    source: RowSource, tests: SimulatedTests, confidence: float, n_simulations: int
) -> Strength:
    """Return the strength at which tables of the pilot's size look like the pilot."""
    rows, n_x = source.pool, source.n_x

    def itself(_x: int, _y: int, _rng: np.random.Generator) -> Drawn:
        return Drawn(rows[:n_x], rows[n_x:])

    looks = tests.run([Task(itself, n_x, source.n_y)] * LOOKS, "pilot")
    seen = float(np.median([look.evidence for look in looks]))

    def exceed(strengths: Sequence[float]) -> list[Point]:
        outcomes = tests.run([_task(source, w) for w in strengths], "strength")
        return [
            Point(w, 1, int(outcome.evidence >= seen))
            for w, outcome in zip(strengths, outcomes, strict=True)
        ]

    each = max(n_simulations // ROUNDS, 1)
    points = exceed(np.linspace(0.0, FIRST_GRID, each).tolist())
    curve = fit_curve(points, exponent=1.0)
    tail = (1 - confidence) / 2
    for _ in range(ROUNDS - 1):
        aims = [_solve(curve, share) for share in (tail, 0.25, 0.5, 0.75, 1 - tail)]
        points += exceed([aims[i % len(aims)] for i in range(each)])
        curve = fit_curve(points, exponent=1.0)
    low, middle, high = (_solve(curve, share) for share in (tail, 0.5, 1 - tail))
    return Strength(middle, low, high, float(np.median([look.pvalue for look in looks])), curve)


def _solve(curve: RisingCurve, share: float) -> float:
    return min(curve.solve(share), MOST)


def _task(source: RowSource, strength: float) -> Task:
    """Return a test of tables of the pilot's size; beyond strength 1 with more rows instead.

    What a test sees grows with w² times the rows.
    """
    more = max(strength, 1.0) ** 2
    return Task(
        mixed_draw(source, min(strength, 1.0)),
        round(source.n_x * more),
        round(source.n_y * more),
    )


def _drawn(
    source: RowSource, strength: float, n_x: int, n_y: int, rng: np.random.Generator
) -> Drawn:
    return Drawn(*source.draw(n_x, n_y, strength, rng))


def mixed_draw(source: RowSource, strength: float) -> partial[Drawn]:
    """Return what draws tables of this strength."""
    return partial(_drawn, source, strength)
