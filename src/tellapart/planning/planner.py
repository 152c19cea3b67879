"""The simulations of one plan: strength of a pilot, power over rows, rows for a power."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.planning.named_effects import EffectsOnRows, NamedEffects
from tellapart.planning.plan import SamplePlan
from tellapart.planning.power_curve import (
    Point,
    RisingCurve,
    Strength,
    estimate_strength,
    fit_curve,
    mixed_draw,
)
from tellapart.planning.settings import FEWEST, PlanSettings, Sizes
from tellapart.planning.simulation import Draw, RowSource, SimulatedTests, Task
from tellapart.progress import Progress, silent

# Where to simulate: few tests find the range in which power rises, the others go there.


Successes = Callable[[Sequence[float]], Sequence[float]]
"""From sizes, one for each test to be made, to whether each succeeded (1 or 0, or a share)."""
SCOUTS = 8
ENOUGH = 7
"""Of the scouts at one size, how many must reject for the next size not to be looked at."""
AIMS = (0.3, 0.5, 0.65, 0.8, 0.9, 0.95)
"""Powers around which the curve is measured."""
FEWEST_TESTS = 60
ROUNDS = 3


def search_curve(
    successes: Successes,
    alpha: float,
    *,
    first: float,
    most: float,
    n_simulations: int,
    cells: Callable[[float], float],
    budget: float,
) -> RisingCurve:
    """Return a power curve: sizes are doubled until most tests reject, then it is measured there.

    Parameters
    ----------
    successes : callable
        Makes the tests.
    alpha : float
        Power at size 0: the level, for the power of the test.
    first, most : float
        The smallest and the largest size to look at.
    n_simulations : int
        Tests to make, at most, beyond those that look for the range.
    cells : callable
        What a test of a size costs, in cells of its tables.
    budget : float
        Cells that all tests together may take: large ones are fewer, but never fewer than 60.
    """
    points: list[Point] = []
    size = first
    while True:
        hits = sum(successes([size] * SCOUTS))
        points.append(Point(size, SCOUTS, hits))
        if hits >= ENOUGH or size >= most:
            break
        size = min(2 * size, most)
    curve = fit_curve(points, alpha)
    at_goal = min(max(curve.solve(AIMS[-1]), first), most)
    count = int(min(n_simulations, max(budget / cells(at_goal), FEWEST_TESTS)))
    for _ in range(ROUNDS):
        sizes = sorted({min(max(curve.solve(aim), first), most) for aim in AIMS})
        each = max(count // (ROUNDS * len(sizes)), 1)
        simulated_sizes = [size for size in sizes for _ in range(each)]
        outcomes = list(successes(simulated_sizes))
        points += [
            Point(size, each, sum(outcomes[i * each : (i + 1) * each]))
            for i, size in enumerate(sizes)
        ]
        curve = fit_curve(points, alpha)
    return curve


MOST_PILOT_ROWS = 1_000
"""Rows of each sample of a pilot that are used; more are drawn from."""
FEW_PILOT_ROWS = 10
CELLS = 6e7
"""Cells of tables that the simulations of a curve may take, all together."""
LARGER = 8
"""Tables have at most so many times the pilot's rows; beyond that the difference is made larger."""
DETECTABLE = 0.5
"""Standard deviations of the shift for which a pilot without a difference gets the rows."""


@dataclass
class Planner:
    """Makes the simulations of one plan."""

    settings: PlanSettings
    like: Samples
    rng: np.random.Generator
    n_jobs: int
    progress: Progress = silent

    def __post_init__(self) -> None:
        self.tests = SimulatedTests(self.like, self.settings, self.rng, self.n_jobs, self.progress)

    def from_effects(self, effects: NamedEffects | EffectsOnRows) -> SamplePlan:
        """Plan for populations with effects that are named."""
        sizes = self._sizes(1.0)
        curve = self._effect_curve(sizes, effects.draw)
        return self._plan(sizes, curve, None, effects.sizes, effects.description)

    def from_pilot(self) -> SamplePlan:
        """Plan for the difference between the samples of a pilot."""
        settings, pilot = self.settings, self.like
        notes = pilot.notes.lines()
        if any(pilot.dropped_rows):
            notes.append(
                f"{pilot.dropped_rows[0]:,} and {pilot.dropped_rows[1]:,} rows of the pilot with "
                "missing values were left out."
            )
        if min(pilot.n_x, pilot.n_y) < FEW_PILOT_ROWS:
            raise InputError(
                f"X and Y must have at least {FEW_PILOT_ROWS} rows each to plan from; got "
                f"{pilot.n_x} and {pilot.n_y}: name effects instead"
            )
        drawn = pilot.draw(MOST_PILOT_ROWS, self.rng)
        if drawn is not pilot:
            notes.append(
                f"Planned from {drawn.n_x:,} and {drawn.n_y:,} rows, drawn from "
                f"{pilot.n_x:,} and {pilot.n_y:,}."
            )
        source = RowSource.of(drawn)
        sizes = self._sizes(pilot.n_y / pilot.n_x)
        strength = estimate_strength(
            source, self.tests, settings.confidence, settings.n_simulations
        )
        # The size is w²ñ; large tables that hardly differ are as hard as small ones that do.
        largest = LARGER * Sizes(source.n_y / source.n_x).effective(source.n_x)

        def strength_at(size: float) -> float:
            return float(min(max(strength.estimate, np.sqrt(size / largest)), 1.0))

        curve = self._curve(
            sizes,
            lambda size: mixed_draw(source, strength_at(size)),
            sizes.smallest,
            largest,
            strength_at,
        )
        detectable = {} if strength.shows_difference else self._detectable(source, sizes)
        description = (
            f"From a pilot of {pilot.n_x:,} and {pilot.n_y:,} rows, {pilot.n_columns:,} columns."
        )
        return self._plan(
            sizes,
            curve,
            strength,
            {},
            description,
            tuple(notes),
            (drawn.n_x, drawn.n_y),
            detectable,
        )

    def _detectable(self, source: RowSource, sizes: Sizes) -> dict[float, int]:
        """Return the rows that a plain shift of one column would take."""
        try:
            draw = EffectsOnRows(source, {"location": DETECTABLE}).draw
        except InputError:  # no column whose values allow it
            return {}
        curve = self._effect_curve(sizes, draw)
        rows = sizes.rows_within(curve.solve(self.settings.power), most=self.settings.most_rows)
        return {} if rows is None else {DETECTABLE: rows}

    def _curve(
        self,
        sizes: Sizes,
        draw_at: Callable[[float], Draw],
        first: float,
        most: float,
        strength_at: Callable[[float], float] | None = None,
        start: float | None = None,
    ) -> RisingCurve:
        """Return power over ñ, or over w²ñ where tables of a size have a strength.

        It begins at `start`, the level where that is None.
        """

        def rows_at(size: float) -> tuple[int, int]:
            return sizes.rows(size if strength_at is None else size / strength_at(size) ** 2)

        def successes(simulated: Sequence[float]) -> list[float]:
            tasks = [Task(draw_at(size), *rows_at(size)) for size in simulated]
            outcomes = self.tests.run(tasks, "power")
            if self.settings.target == "named":
                return [outcome.named for outcome in outcomes]
            return [float(outcome.pvalue <= self.settings.alpha) for outcome in outcomes]

        return search_curve(
            successes,
            self.settings.alpha if start is None else start,
            first=first,
            most=most,
            n_simulations=self.settings.n_simulations,
            cells=lambda size: float(sum(rows_at(size)) * self.like.n_columns),
            budget=CELLS,
        )

    def _effect_curve(self, sizes: Sizes, draw: Draw) -> RisingCurve:
        """Return power over ñ of populations that can be drawn from."""
        # Power without rows: that one of the columns is named by chance, or the level.
        start = self.settings.alpha
        if self.settings.target == "named":
            start /= self.like.n_columns
        most = sizes.effective(self.settings.most_rows)
        return self._curve(sizes, lambda _: draw, sizes.smallest, most, start=start)

    def _sizes(self, ratio: float) -> Sizes:
        """Return how rows are counted, with this ratio where none was given."""
        return Sizes(self.settings.ratio or ratio, FEWEST[self.settings.method])

    def _plan(
        self,
        sizes: Sizes,
        curve: RisingCurve,
        strength: Strength | None,
        effects: Mapping[str, float],
        description: str,
        notes: tuple[str, ...] = (),
        pilot_rows: tuple[int, int] | None = None,
        detectable: Mapping[float, int] | None = None,
    ) -> SamplePlan:
        s = self.settings
        size = curve.solve(s.power)
        if strength is None:
            limits = curve.solve_interval(s.power, s.confidence)
            low, high = map(sizes.rows_within, limits)
            n_x = sizes.rows_within(size)
        else:
            n_x = sizes.rows_within(size, strength.estimate)
            low = sizes.rows_within(size, strength.high)
            high = sizes.rows_within(size, strength.low)
        if n_x is not None and n_x > s.most_rows:
            notes = (*notes, f"Beyond {s.most_rows:,} rows nothing was simulated: extrapolated.")
        return SamplePlan(
            n_x=n_x,
            n_y=None if n_x is None else max(round(n_x * sizes.ratio), 2),
            interval=(low, high),
            power=s.power,
            alpha=s.alpha,
            ratio=sizes.ratio,
            confidence=s.confidence,
            method=s.method,
            target=s.target,
            effects=dict(effects),
            description=description,
            curve=curve,
            strength=strength,
            pilot_rows=pilot_rows,
            detectable=detectable or {},
            notes=notes,
            n_simulations=self.tests.done,
            settings={
                "n_simulations": s.n_simulations,
                "n_permutations": s.n_permutations,
                "n_variables": s.n_variables,
                "most_rows": s.most_rows,
            },
        )
