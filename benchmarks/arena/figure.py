"""The figure of the arena: power by kind, one dot for each method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from arena.methods import ALPHA
from arena.summary import Cell

STYLES: dict[str, tuple[str, str]] = {
    "scan": ("#c1121f", "o"),
    "split": ("#f08080", "o"),
    "dcor-energy": ("#1d6fa5", "s"),
    "hyppo-energy": ("#1d6fa5", "v"),
    "hyppo-mmd": ("#1d6fa5", "^"),
    "goodpoints-ctt": ("#1d6fa5", "D"),
    "mmd-fuse": ("#2a9d4e", "P"),
    "mmd-agg": ("#2a9d4e", "X"),
    "c2st-forest": ("#8e5ea2", "p"),
    "c2st-logistic": ("#8e5ea2", "*"),
    "columns-ks": ("#8a8178", ">"),
    "columns-mw": ("#8a8178", "<"),
    "columns-t": ("#8a8178", "d"),
}
"""Colour and marker: one colour for each family of methods."""
OUR_OWN = ("scan", "split")


def draw_figure(
    found: Mapping[tuple[str, str], Cell], methods: Sequence[str], kinds: Sequence[str], path: Path
) -> None:
    """Draw the power of each method on each kind, the kinds by the best of it from the top."""
    shown = sorted(kinds, key=lambda kind: _height(found, methods, kind))
    # No date and no random identifiers: a figure of the same rows is the same file.
    with plt.rc_context({"svg.hashsalt": "arena", "font.size": 9}):
        figure, axes = plt.subplots(figsize=(8, 1.5 + 0.24 * len(shown)), layout="constrained")
        for method in methods:
            _dots(axes, method, [found.get((kind, method)) for kind in shown])
        axes.axvline(ALPHA, color="0.6", linewidth=0.8, linestyle=":")
        axes.set_yticks(range(len(shown)), [kind.replace("_", " ") for kind in shown])
        axes.set_ylim(-0.6, len(shown) - 0.4)
        axes.set_xlim(-0.02, 1.02)
        axes.set_xlabel(f"power at level {ALPHA} (dotted), with 95 % intervals for tellapart")
        axes.grid(axis="y", color="0.92", linewidth=0.8)
        axes.set_axisbelow(True)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        figure.legend(loc="outside upper center", ncols=5, frameon=False, markerscale=1.2)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)


def _height(
    found: Mapping[tuple[str, str], Cell], methods: Sequence[str], kind: str
) -> tuple[float, float]:
    """Return what kinds are sorted by: the scan's power, or else the best there is."""
    rates = {m: found[kind, m].rate for m in methods if (kind, m) in found}
    best = max(rates.values(), default=0.0)
    return rates.get("scan", best), best


def _dots(axes: Axes, method: str, column: Sequence[Cell | None]) -> None:
    colour, marker = STYLES.get(method, ("black", "*"))
    places = [(place, cell) for place, cell in enumerate(column) if cell is not None]
    heights = [place for place, _ in places]
    rates = [cell.rate for _, cell in places]
    own = method in OUR_OWN
    if own:
        lows, highs = zip(*(cell.interval for _, cell in places), strict=True)
        axes.hlines(heights, lows, highs, color=colour, linewidth=1.2, zorder=2)
    axes.scatter(
        rates,
        heights,
        s=34 if own else 18,
        color=colour,
        marker=marker,
        alpha=1.0 if own else 0.7,
        linewidths=0,
        zorder=4 if own else 3,
        label=method,
    )
