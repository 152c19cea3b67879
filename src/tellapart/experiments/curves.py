"""Curves of shares with their intervals, one panel a case, one line a method."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from tellapart.datasets import CASES
from tellapart.experiments.experiment import ALPHA
from tellapart.experiments.intervals import Share
from tellapart.experiments.methods import METHODS
from tellapart.experiments.store import Row

TITLES = {
    "mean-shift": "I: mean shift",
    "covariance-shift": "II: covariance shift",
    "laplace": "III: Gaussian vs Laplace",
    "mixture": "IV: Gaussian vs mixture",
}
# Okabe and Ito's palette; the families differ by the kind of line.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = {"ours": "-", "standard": "--", "competitor": ":", "literal": "-."}
MARKERS = "osD^vP*X"

Powers = dict[tuple[str, float, str], Share]
"""Share of rejections by case, place on the axis and method."""


def powers(rows: Sequence[Row], axis: str) -> Powers:
    """Return the share of trials with p ≤ 0.05 by case, place on the axis and method."""
    counts: dict[tuple[str, float, str], list[int]] = defaultdict(lambda: [0, 0])
    for row in rows:
        count = counts[row["case"], float(row[axis]), row["method"]]
        count[0] += float(row["pvalue"]) <= ALPHA
        count[1] += 1
    return {place: Share(hits, trials) for place, (hits, trials) in counts.items()}


def draw_powers(rows: Sequence[Row], axis: str, label: str, path: Path) -> Path:
    """Draw power against one size: the paper's way, one panel a case."""
    found = powers(rows, axis)
    shown = [name for name in METHODS if any(method == name for _, _, method in found)]
    figure = Figure(figsize=(13, 9.5), layout="constrained")
    panels = figure.subplots(2, 2, sharey=True).ravel()
    for panel, case in zip(panels, CASES, strict=True):
        for number, name in enumerate(shown):
            places = sorted(x for c, x, method in found if (c, method) == (case, name))
            shares = [found[case, x, name] for x in places]
            panel.errorbar(
                places,
                [share.value for share in shares],
                [
                    [share.value - share.low for share in shares],
                    [share.high - share.value for share in shares],
                ],
                color=COLOURS[number % len(COLOURS)],
                linestyle=DASHES[METHODS[name].family],
                marker=MARKERS[number % len(MARKERS)],
                linewidth=2.2 if METHODS[name].family == "ours" else 1.1,
                markersize=5,
                elinewidth=0.6,
                capsize=2,
                label=METHODS[name].label,
            )
        panel.axhline(ALPHA, color="#999999", linewidth=0.8)
        panel.set(title=TITLES[case], xlabel=label, ylim=(-0.02, 1.03))
    for panel in panels[::2]:
        panel.set_ylabel("power at level 0.05")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
    figure.savefig(path, dpi=80)
    return path


def power_table(rows: Sequence[Row], axis: str) -> list[dict[str, str]]:
    """Return one line a case and method, with the power and its interval at each place."""
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
