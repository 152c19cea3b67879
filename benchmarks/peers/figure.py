"""The figure of the peers: seconds by rows, one line for each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from peers.measure import MEASURED
from peers.methods import PEERS
from peers.summary import Found, known

PATH = Path(__file__).resolve().parents[2] / "docs" / "images" / "peers.svg"
OWN = ("#c1121f", "#f08080")
MARKERS = "osv^D<>pPX*dh"


def draw_figure(found: Found, path: Path = PATH) -> None:
    """Draw seconds against rows: tests and selectors beside each other, a row for each width."""
    columns = sorted({size.columns for name in known(found) for size in found[name]})
    # No date and no random identifiers: a figure of the same rows is the same file.
    with plt.rc_context({"svg.hashsalt": "peers", "font.size": 9}):
        figure, panels = plt.subplots(
            len(columns),
            2,
            figsize=(9, 0.5 + 3.2 * len(columns)),
            squeeze=False,
            sharex=True,
            sharey=True,
            layout="constrained",
        )
        for line, count in zip(panels, columns, strict=True):
            for axes, selectors in zip(line, (False, True), strict=True):
                _panel(axes, found, count, selectors)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)


def _panel(axes: Axes, found: Found, columns: int, selectors: bool) -> None:
    own = 0
    shown = [PEERS[name] for name in known(found) if PEERS[name].selector == selectors]
    for number, peer in enumerate(shown):
        points = [
            (size.rows, float(row["seconds"]))
            for size, row in sorted(found[peer.name].items())
            if size.columns == columns and row["status"] == MEASURED
        ]
        if not points:
            continue
        style: dict[str, Any] = {"linewidth": 0.9, "markersize": 4, "alpha": 0.8}
        if peer.own:
            style = {"linewidth": 2.0, "markersize": 6, "color": OWN[own], "zorder": 3}
            own += 1
        marker = MARKERS[number % len(MARKERS)]
        axes.plot(*zip(*points, strict=True), marker=marker, label=peer.name, **style)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="rows of each sample",
        ylabel="seconds",
        title=f"{'selectors' if selectors else 'tests'}, {columns} columns",
    )
    axes.grid(color="0.92", linewidth=0.8)
    if axes.lines:
        axes.legend(frameon=False, fontsize=6.5, ncols=2)
