"""The result of planning: rows needed, predicted power over rows, and their intervals."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tellapart.arguments import check_integer
from tellapart.data.sources.table import make_frame
from tellapart.planning.power_curve import RisingCurve, Strength
from tellapart.planning.settings import MOST_ROWS, Sizes
from tellapart.writing import strict_json, text_writer

if TYPE_CHECKING:
    from matplotlib.figure import Figure


GRID = 25
"""Sizes at which `to_frame` and `plot` show the curve."""


@dataclass(frozen=True)
class PredictedPower:
    """Power predicted for samples of some size, with its limits."""

    n_x: int
    n_y: int
    power: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class SamplePlan:
    """How many rows a test needs, with an interval; see `tellapart.plan_sample_size`.

    Attributes
    ----------
    n_x, n_y : int or None
        Rows of each sample at which the target power is reached; None where the pilot shows no
        more than chance would.
    interval : pair of (int or None)
        Limits of n_x. With a pilot from what it leaves open about the difference, else from the
        simulations alone. None as the upper one: no number of rows is certain to suffice.
    power, alpha, ratio, confidence : float
        The settings of the plan.
    method : str
        The test that is planned, "scan" or "split".
    effects : mapping
        The effects named, empty for a plan from a pilot.
    strength : Strength or None
        How much of what the pilot shows is taken for real.
    pilot_rows : pair of int or None
        Rows of the pilot that were used.
    detectable : mapping from float to int
        For a pilot that shows nothing: rows of the first sample that would show a shift of so many
        standard deviations in one column.
    notes : tuple of str
        What else there is to know.
    n_simulations : int
        Tests that were simulated.
    target : str
        What has the power: "test", that the test rejects, or "named", that what differs is named.
    """

    n_x: int | None
    n_y: int | None
    interval: tuple[int | None, int | None]
    power: float
    alpha: float
    ratio: float
    confidence: float
    method: str
    effects: Mapping[str, float]
    description: str
    curve: RisingCurve = field(repr=False)
    strength: Strength | None = field(default=None, repr=False)
    pilot_rows: tuple[int, int] | None = None
    detectable: Mapping[float, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    n_simulations: int = 0
    target: str = "test"
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def predict(self, n_x: int) -> PredictedPower:
        """Return the power predicted for n_x rows of the first sample, and ratio·n_x of the second.

        With a pilot the limits are those of the strength of the difference; else they say what the
        simulations leave open.
        """
        check_integer("n_x", n_x, 2)
        size, n_y = Sizes(self.ratio).effective(n_x), max(round(n_x * self.ratio), 2)
        if self.strength is None:
            low, high = self.curve.interval(size, self.confidence)
            return PredictedPower(n_x, n_y, float(self.curve(size)), low, high)
        power, low, high = (
            float(self.curve(w**2 * size))
            for w in (self.strength.estimate, self.strength.low, self.strength.high)
        )
        return PredictedPower(n_x, n_y, power, low, high)

    @property
    def predictions(self) -> tuple[PredictedPower, ...]:
        """Predictions over the range of rows in which power rises, as `plot` shows them."""
        most = self.n_x or self.interval[0] or 100
        if self.interval[1] is not None:
            most = min(max(most, self.interval[1]), 10 * most)
        rows = np.unique(np.geomspace(4, max(1.5 * most, 20), GRID).round().astype(int))
        return tuple(self.predict(int(n)) for n in rows)

    @property
    def verdict(self) -> str:
        """The answer in one sentence."""
        aim = f"a power of {self.power:g} at level {self.alpha:g}"
        if self.target == "named":
            what = "some column" if self.strength is not None else "what differs"
            aim = f"a probability of {self.power:g} that {what} is named at level {self.alpha:g}"
        low, high = self.interval
        if self.strength is not None and not self.strength.shows_difference:
            best = ""
            if low is not None:
                best = (
                    f"; were the difference as large as the pilot allows, {low:,} rows of the "
                    f"first sample would give {aim}"
                )
            return (
                "This pilot cannot say how many rows are needed: it looks like samples without "
                f"any difference (p = {self.strength.pvalue:.3g}){best}."
            )
        if self.n_x is None or self.n_y is None or low is None:
            return f"No number of rows up to {MOST_ROWS:,} is predicted to give {aim}."
        between = f"{low:,} to {high:,}" if high is not None else f"{low:,} or more"
        share = f"{100 * self.confidence:.0f} %"
        return (
            f"{self.n_x:,} and {self.n_y:,} rows are predicted to give {aim} "
            f"({share} CI for the first: {between})."
        )

    def summary(self) -> str:
        """Say the answer, what it rests on, and the power of other numbers of rows."""
        lines = [self.verdict, "", self.description]
        if self.strength is not None:
            w = self.strength
            lines.append(
                f"Strength of the difference: {w.estimate:.2f} of what the pilot shows "
                f"({w.low:.2f} to {w.high:.2f}); the rest is what noise adds to any pilot."
            )
        for shift, rows in self.detectable.items():
            lines.append(
                f"A shift of {shift:g} SD in one column would take about {rows:,} rows of the "
                "first sample."
            )
        lines += ["", "rows of X, of Y   predicted power"]
        for guess in self.predictions[:: max(GRID // 6, 1)]:
            lines.append(
                f"{guess.n_x:>9,} {guess.n_y:>7,}   {guess.power:.2f} "
                f"({guess.low:.2f} to {guess.high:.2f})"
            )
        lines += ["", f"From {self.n_simulations:,} simulated tests.", *self.notes]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain Python values, ready for JSON."""
        strength = self.strength
        return {
            "n_x": self.n_x,
            "n_y": self.n_y,
            "interval": list(self.interval),
            "power": self.power,
            "alpha": self.alpha,
            "ratio": self.ratio,
            "confidence": self.confidence,
            "method": self.method,
            "target": self.target,
            "effects": dict(self.effects),
            "description": self.description,
            "strength": None
            if strength is None
            else {
                "estimate": strength.estimate,
                "low": strength.low,
                "high": strength.high,
                "pvalue": strength.pvalue,
                "shows_difference": strength.shows_difference,
            },
            "pilot_rows": None if self.pilot_rows is None else list(self.pilot_rows),
            "detectable": {str(shift): rows for shift, rows in self.detectable.items()},
            "predictions": [vars(guess) for guess in self.predictions],
            "simulated": [
                {"size": point.x, "runs": point.runs, "rejected": point.hits}
                for point in self.curve.points
            ],
            "notes": list(self.notes),
            "n_simulations": self.n_simulations,
            "settings": dict(self.settings),
        }

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return `to_dict()` as strict JSON; write it to `path` too if given."""
        return text_writer(path, end="\n")(strict_json(self.to_dict()))

    def to_frame(self) -> Any:
        """Return the curve as a table: rows, predicted power, its limits."""
        rows = [vars(guess) for guess in self.predictions]
        return make_frame({name: [row[name] for row in rows] for name in rows[0]})

    def plot(self) -> Figure:
        """Draw predicted power over rows, with its limits and the rows needed."""
        from tellapart.report.figures import draw_plan

        return draw_plan(self)
