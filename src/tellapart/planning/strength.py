"""How strong the difference behind a pilot is: not as strong as the pilot looks.

A bootstrap of the two samples takes the pilot's noise for a difference: even where there is none
its power goes to 1 as tables grow. Here the difference between the resampled populations is w times
that of the pilot, and w is such that tables of the pilot's size look like the pilot: the evidence
of half of them is as large as that of the pilot. What half of them exceed is a median-unbiased
estimate, and what 5 % and 95 % of them exceed are limits, as tests of each w turned round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from tellapart.planning.power_curve import Point, RisingCurve, fit_curve
from tellapart.planning.resampling import Drawn, RowSource
from tellapart.planning.simulated_tests import SimulatedTests, Task

LOOKS = 5
"""Tests of the pilot itself, with other permutations; the median of their evidence counts."""
MOST = 2.0
FIRST_GRID = 1.25
ROUNDS = 3


@dataclass(frozen=True, eq=False)
class Strength:
    """How strong the difference is, as a multiple w of what the pilot shows.

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
        found = tests.run([_task(source, w) for w in strengths], "strength")
        return [
            Point(w, 1, int(outcome.evidence >= seen))
            for w, outcome in zip(strengths, found, strict=True)
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
