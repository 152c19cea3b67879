"""Curves of shares with their intervals, one panel per case, one line per method."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import binomtest

from reproduction.methods import METHODS
from reproduction.store import ALPHA, Row
from tellapart.datasets import CASES
from tellapart.writing import write_picture

# A proportion of rejections and its interval.


@dataclass(frozen=True)
class Share:
    """`hits` of `trials`, with Wilson's 95 % interval.

    Unlike p̂ ± 2 s.e. it stays inside [0, 1] and does not shrink to a point where all or none of
    the trials are hits.

    Examples
    --------
    >>> Share(19, 20).text
    '0.95 [0.76, 0.99]'
    """

    hits: int
    trials: int

    @property
    def value(self) -> float:
        """The share itself."""
        return self.hits / self.trials

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self._interval[0]

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self._interval[1]

    @property
    def variance(self) -> float:
        """Variance of the share, by the share with two hits and two misses more: never 0."""
        p = (self.hits + 2) / (self.trials + 4)
        return p * (1 - p) / (self.trials + 4)

    @property
    def text(self) -> str:
        """The share and its interval, as text."""
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"

    @cached_property
    def _interval(self) -> tuple[float, float]:
        low, high = binomtest(self.hits, self.trials).proportion_ci(method="wilson")
        return float(low), float(high)


TITLES = {
    "mean-shift": "I: mean shift",
    "covariance-shift": "II: covariance shift",
    "laplace": "III: Gaussian vs Laplace",
    "mixture": "IV: Gaussian vs mixture",
}
# Okabe and Ito's palette; the families differ by the kind of line.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = {"ours": "-", "standard": "--", "competitor": ":", "literal": "-.", "retired": "-."}
MARKERS = "osD^vP*X"
KINDS = {"split: half of the rows to choose, half to test": False, "all rows to test": True}
"""Titles of the two kinds of tests, and whether a test of that kind uses all rows."""
ALL_ROWS_SUFFIX = ", all rows"
# Proportion of the distance between two points that the methods take up.
DODGE = 0.7

Powers = dict[tuple[str, float, str], Share]
"""Share of rejections by case, point of the axis and method."""


def powers(rows: Sequence[Row], axis: str) -> Powers:
    """Return the share of trials with p ≤ 0.05 by case, point of the axis and method."""
    counts: dict[tuple[str, float, str], list[int]] = defaultdict(lambda: [0, 0])
    for row in rows:
        count = counts[row["case"], float(row[axis]), row["method"]]
        count[0] += float(row["pvalue"]) <= ALPHA
        count[1] += 1
    return {place: Share(hits, trials) for place, (hits, trials) in counts.items()}


def draw_powers(rows: Sequence[Row], axis: str, label: str, path: Path) -> Path:
    """Draw power against n or D: methods that learn on half of the rows, then those that do not.

    One panel a case and kind. The paper's literal variants are left to the tables. Places are
    evenly spaced and methods stand beside each other, so that intervals can be told apart.
    """
    found = powers(rows, axis)
    places = sorted({x for _, x, _ in found})
    figure = Figure(figsize=(15, 15), layout="constrained")
    halves = np.asarray(figure.subfigures(1, 2)).ravel()
    for half, (title, all_rows) in zip(halves, KINDS.items(), strict=True):
        shown = [
            name
            for name, method in METHODS.items()
            if method.family != "literal"
            and method.all_rows == all_rows
            and any(other == name for _, _, other in found)
        ]
        panels = half.subplots(len(CASES), 1, sharey=True)
        for panel, case in zip(panels, CASES, strict=True):
            for number, name in enumerate(shown):
                aside = DODGE * (number - (len(shown) - 1) / 2) / max(len(shown), 1)
                _draw_curve(panel, found, case, name, places, aside, number)
            panel.axhline(ALPHA, color="#999999", linewidth=0.8)
            panel.set(title=TITLES[case], ylim=(-0.03, 1.04), ylabel="power at level 0.05")
            panel.set_xticks(range(len(places)), [f"{x:g}" for x in places])
        panels[-1].set_xlabel(label)
        half.suptitle(title, fontweight="bold")
        handles, labels = panels[0].get_legend_handles_labels()
        half.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=9)
    write_picture(path, figure, dpi=70)
    return path


def _draw_curve(
    panel: Axes,
    found: Powers,
    case: str,
    name: str,
    places: Sequence[float],
    aside: float,
    number: int,
) -> None:
    spots = [
        (i + aside, found[case, x, name]) for i, x in enumerate(places) if (case, x, name) in found
    ]
    values = [share.value for _, share in spots]
    mine = METHODS[name].family == "ours"
    panel.errorbar(
        [spot for spot, _ in spots],
        values,
        [
            [value - share.low for value, (_, share) in zip(values, spots, strict=True)],
            [share.high - value for value, (_, share) in zip(values, spots, strict=True)],
        ],
        color=COLOURS[number % len(COLOURS)],
        linestyle=DASHES[METHODS[name].family],
        marker=MARKERS[number % len(MARKERS)],
        linewidth=2.0 if mine else 0.9,
        markersize=6 if mine else 4,
        elinewidth=0.8,
        capsize=2,
        label=METHODS[name].label.removesuffix(ALL_ROWS_SUFFIX),
    )


def power_table(rows: Sequence[Row], axis: str) -> list[dict[str, str]]:
    """Return one line per case and method, with the power and its interval at each point."""
    found = powers(rows, axis)
    places = sorted({x for _, x, _ in found})
    lines = []
    for case in CASES:
        for name, method in METHODS.items():
            if not any((c, m) == (case, name) for c, _, m in found):
                continue
            line = {"case": TITLES[case], "method": method.label}
            for x in places:
                share = found.get((case, x, name))
                line[f"{axis} = {x:g}"] = "" if share is None else share.text
            lines.append(line)
    return lines
