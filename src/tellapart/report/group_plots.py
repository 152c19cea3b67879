"""Variables × groups: a dot plot, and a heatmap with numbers. What they show is computed before."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.lines import Line2D

from tellapart.report.drawing import COLOUR_NULL, COLOUR_X, COLOUR_Y, literal, new_axes, short
from tellapart.report.panels import check_axes
from tellapart.testing.profile import Profile

LOWER_HIGHER = LinearSegmentedColormap.from_list("lower-higher", [COLOUR_X, "#f7f7f7", COLOUR_Y])
# Effects beyond this many standard deviations have the same colour.
MOST_DEVIATIONS = 3.0
LARGEST_DOT = 190.0
SHARES = (0.25, 0.5, 1.0)
INCHES_PER_ROW, INCHES_PER_GROUP = 0.27, 0.5
LABEL_WIDTH = 28
COLOUR_LABEL = "difference from the mean of all other rows, SD"


def draw_profile(profile: Profile, kind: str, ax: Axes | None = None) -> Axes:
    """Draw the variables down and the groups across, with a line below those of each group."""
    check_axes(ax)
    if ax is None:
        ax = new_axes(figsize=_inches(profile, kind))
    largest = float(np.abs(profile.effects).max())
    reach = min(max(largest, 0.5), MOST_DEVIATIONS)
    norm = Normalize(-reach, reach)
    drawn = (_draw_dots if kind == "dots" else _draw_fields)(ax, profile, norm)
    _label(ax, profile)
    bar = ax.figure.colorbar(
        drawn, ax=ax, shrink=min(1.0, 12 / max(len(profile.variables), 1)), aspect=18,
        anchor=(0.0, 1.0),
        extend="both" if largest > reach else "neither",
    )  # fmt: skip
    bar.set_label(COLOUR_LABEL, fontsize=8)
    bar.ax.tick_params(labelsize=8)
    return ax


def _inches(profile: Profile, kind: str) -> tuple[float, float]:
    wide = INCHES_PER_GROUP * (1.2 if kind == "heatmap" else 1.0)
    rows = INCHES_PER_ROW * len(profile.variables) + 1.1
    return (4.2 + wide * len(profile.groups), max(rows, 3.4))


def _draw_dots(ax: Axes, profile: Profile, norm: Normalize) -> PathCollection:
    down, across = np.indices(profile.effects.shape)
    dots = ax.scatter(
        across.ravel(),
        down.ravel(),
        s=LARGEST_DOT * profile.shares.ravel(),
        c=profile.effects.ravel(),
        cmap=LOWER_HIGHER,
        norm=norm,
        edgecolors=["black" if ring else COLOUR_NULL for ring in profile.chosen.ravel()],
        linewidths=[1.4 if ring else 0.3 for ring in profile.chosen.ravel()],
    )
    ax.set_xlim(-0.6, len(profile.groups) - 0.4)
    sizes = [
        Line2D([], [], marker="o", linestyle="", markerfacecolor="none", label=f"{share:.0%}",
               markeredgecolor=COLOUR_NULL, markersize=np.sqrt(LARGEST_DOT * share))
        for share in SHARES
    ]  # fmt: skip
    ring = Line2D([], [], marker="o", linestyle="", markerfacecolor="none", label="selected for it",
                  markeredgecolor="black", markersize=8, markeredgewidth=1.4)  # fmt: skip
    ax.legend(
        handles=[*sizes, ring], title="rows above the most frequent value or the median", ncols=4,
        loc="upper center", bbox_to_anchor=(0.5, 0.0), frameon=False, fontsize=8, title_fontsize=8,
    )  # fmt: skip
    return dots


def _draw_fields(ax: Axes, profile: Profile, norm: Normalize) -> QuadMesh:
    edges = [np.arange(count + 1) - 0.5 for count in profile.effects.shape[::-1]]
    fields = ax.pcolormesh(
        *edges, profile.effects, cmap=LOWER_HIGHER, norm=norm, edgecolors="white", linewidth=0.5
    )
    for (row, column), effect in np.ndenumerate(profile.effects):
        ax.text(
            column, row, f"{round(effect, 1) + 0.0:+.1f}", ha="center", va="center", fontsize=7,
            fontweight="bold" if profile.chosen[row, column] else "normal",
            color="white" if abs(norm(effect) - 0.5) > 0.38 else "black",
        )  # fmt: skip
    return fields


def _label(ax: Axes, profile: Profile) -> None:
    names = [literal(short(name, LABEL_WIDTH)) for name in profile.variables]
    ax.set_yticks(np.arange(len(names)), names, fontsize=8)
    labels = [literal(short(group, LABEL_WIDTH)) for group in profile.groups]
    turn = max(map(len, labels)) > 4
    ax.set_xticks(
        np.arange(len(labels)), labels, fontsize=8, rotation=45 if turn else 0,
        ha="left" if turn else "center",
    )  # fmt: skip
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.spines[:].set_visible(False)
    for row in np.flatnonzero(np.diff(profile.listed_under)):
        ax.axhline(row + 0.5, color=COLOUR_NULL, linewidth=0.6)
