"""The figure of a scan and its panels: findings with their intervals, families, columns, pairs."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter, ScalarFormatter

from tellapart.report.drawing import (
    COLOUR_NULL,
    COLOUR_STATISTIC,
    COLOUR_X,
    COLOUR_Y,
    ShownFigure,
    literal,
    plain,
    short,
)
from tellapart.report.findings import group_findings
from tellapart.report.plots import add_titles, draw_marginal, draw_null
from tellapart.scan.finding import Finding, Scale
from tellapart.testing.marginals import Marginal
from tellapart.testing.pairs import Crosstab, PairView, Scatter
from tellapart.testing.result import TestResult

MOST_FINDINGS = 16
MOST_COLUMNS = 30
PORTRAITS_PER_ROW = 5
# Of the height of a panel, in rows: the axis below a group and its heading.
ROWS_OF_AXIS = 3.2
# The first of these that gives an axis three ticks is used.
RATIO_STEPS = (
    (1.0,),
    (1.0, 2.0, 5.0),
    (1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0),
    tuple(1.0 + place / 20 for place in range(180)),
)
MOST_TICKS = 7
SIDES = ((COLOUR_X, "o"), (COLOUR_Y, "^"))


def draw_scan(result: TestResult, portraits: Sequence[Marginal | PairView]) -> Figure:
    """Draw findings, null distribution, and the columns and pairs of the first findings.

    Without findings, the families take their place.
    """
    columns = min(PORTRAITS_PER_ROW, max(len(portraits), 1))
    rows = max(math.ceil(len(portraits) / columns), 1)
    groups = group_findings(result.findings, MOST_FINDINGS)
    top = max(3.4, 0.2 * (sum(map(len, groups.values())) + ROWS_OF_AXIS * len(groups)))
    bottom = 2.5 * rows
    figure = ShownFigure(
        figsize=(max(10.0, 2.6 * columns), top + bottom + 0.4), layout="constrained"
    )
    upper, lower = figure.subfigures(2, 1, squeeze=False, height_ratios=[top, bottom]).ravel()
    left, right = upper.subplots(1, 2)
    (draw_findings if groups else draw_families)(left, result)
    draw_null(right, result)
    grid = lower.subplots(rows, columns, squeeze=False).ravel()
    for axes, shown in zip(grid, portraits, strict=False):
        draw_portrait(axes, shown)
    for axes in grid[len(portraits) :]:
        axes.set_axis_off()
    add_titles(figure, lower, result)
    return figure


def draw_portrait(axes: Axes, shown: Marginal | PairView) -> Axes:
    """Draw one column, or two together, without a legend."""
    if isinstance(shown, Marginal):
        return draw_marginal(axes, shown)
    if isinstance(shown, Crosstab):
        return draw_crosstab(axes, shown)
    return draw_scatter(axes, shown)


def draw_findings(axes: Axes, result: TestResult) -> Axes:
    """Draw the effects of the findings with their intervals, each scale on an axis of its own."""
    groups = group_findings(result.findings, MOST_FINDINGS)
    axes.set_axis_off()
    shown, every = sum(map(len, groups.values())), len(result.findings)
    title = f"Findings ({shown} of {every:,} shown)" if every > shown else "Findings"
    axes.set_title(title if groups else "No findings")
    if not groups:
        return axes
    axes.legend(
        handles=effect_handles(result.labels),
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=2,
        frameon=False,
        fontsize=8,
    )
    total = sum(map(len, groups.values())) + ROWS_OF_AXIS * len(groups)
    above = 1.0
    for scale, own in groups.items():
        height = len(own) / total
        above -= 1.0 / total
        inset = axes.inset_axes((0.0, above - height, 1.0, height))
        draw_effects(inset, scale, own)
        above -= height + (ROWS_OF_AXIS - 1.0) / total
    return axes


def draw_effects(
    axes: Axes, scale: Scale, findings: Sequence[Finding], names: Sequence[str] = ()
) -> Axes:
    """Draw effects with their intervals on one scale, the first on top.

    Colour and shape say in which sample the measure is larger. `names` label the findings, by
    default with their columns on one line.
    """
    places = np.arange(len(findings))
    for place, finding in zip(places, findings, strict=True):
        colour, marker = SIDES[0] if finding.effect > scale.neutral else SIDES[1]
        effect = scale.factor * finding.effect
        low, high = _ends(finding, scale)
        axes.plot([low, high], [place, place], color=colour, linewidth=1.6, solid_capstyle="butt")
        axes.plot([effect], [place], color=colour, marker=marker, markersize=5)
    axes.axvline(scale.neutral, color="black", linewidth=0.8, linestyle=":")
    if scale.ratio:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(ScalarFormatter())
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xticks(_ratio_ticks(*axes.get_xlim()))
        axes.minorticks_off()
    else:
        axes.locator_params(axis="x", nbins=6)
    called = names or [short(", ".join(finding.variables), 28) for finding in findings]
    axes.set_yticks(places, [literal(name) for name in called], fontsize=8)
    axes.set_ylim(len(findings) - 0.4, -0.6)
    axes.tick_params(axis="x", labelsize=8)
    axes.set_xlabel(axis_label(scale, findings[0].labels), fontsize=8)
    return plain(axes)


def axis_label(scale: Scale, labels: tuple[str, str]) -> str:
    """Return what an axis of effects shows, with its unit; of ratios, which sample is above."""
    if scale.ratio:
        return f"{scale.title}, {'/'.join(literal(short(label, 16)) for label in labels)}"
    return f"{scale.title}, {scale.unit}" if scale.unit else scale.title


def effect_handles(labels: tuple[str, str]) -> list[Line2D]:
    """Return what the colours of effects mean, for a legend."""
    return [
        Line2D([], [], color=colour, marker=marker, label=f"larger in {literal(short(label, 24))}")
        for (colour, marker), label in zip(SIDES, labels, strict=True)
    ]


def draw_families(axes: Axes, result: TestResult) -> Axes:
    """Draw −log₁₀ p of each family of differences, with the level."""
    scan = result.scan
    families = {} if scan is None else dict(scan.families)
    skipped = [] if scan is None else [name for name in scan.skipped if name not in families]
    pvalues = [*families.values(), *(1.0 for _ in skipped)]
    names = [*families, *(f"{name} (could not run)" for name in skipped)]
    _draw_pvalues(axes, names, pvalues, result.alpha)
    _draw_level(axes, result.alpha, "unadjusted p-value")
    axes.set_title("Families of differences", loc="left")
    return plain(axes)


def draw_columns(axes: Axes, result: TestResult) -> Axes:
    """Draw −log₁₀ of the smallest adjusted p-values of columns, 30 at most."""
    pvalues = result.variable_pvalues
    # Findings with equal p-values are sorted by their effects.
    named = [f.variables[0] for f in result.findings if len(f.variables) == 1]
    rank = {name: place for place, name in enumerate(dict.fromkeys(named))}
    order = sorted(pvalues, key=lambda name: (pvalues[name], rank.get(name, len(rank))))
    shown = order[:MOST_COLUMNS]
    _draw_pvalues(axes, shown, [pvalues[name] for name in shown], result.alpha)
    _draw_level(axes, result.alpha, "adjusted p-value")
    more = f", {len(shown)} of {len(order):,}" if len(order) > len(shown) else ""
    axes.set_title(f"Smallest p-values of columns{more}", loc="left")
    return plain(axes)


def draw_scatter(axes: Axes, view: Scatter, labels: tuple[str, str] | None = None) -> Axes:
    """Draw the rows of both samples by two columns, with a legend if labels are given."""
    for side in (0, 1):
        draw_side(axes, view, side)
    axes.set_title(literal("\n".join(textwrap.wrap(short(view.where, 60), 32))), fontsize=8)
    if labels is not None:
        handles = [
            Line2D([], [], linestyle="none", color=colour, marker=marker, label=literal(label))
            for (colour, marker), label in zip(
                SIDES, (short(label, 24) for label in labels), strict=True
            )
        ]
        axes.legend(
            handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False
        )
        if view.where:
            axes.set_title(axes.get_title(), fontsize=8, loc="right")
    return plain(axes)


def draw_side(axes: Axes, view: Scatter, side: int) -> Axes:
    """Draw the rows of one sample by two columns, on axes that fit both samples."""
    colour, marker = SIDES[side]
    points = (view.x, view.y)[side]
    (left, right), (low, high) = view.limits
    inside = (points >= (left, low)).all(axis=1) & (points <= (right, high)).all(axis=1)
    axes.plot(
        points[inside, 0],
        points[inside, 1],
        linestyle="none",
        marker=marker,
        markersize=2.6,
        markerfacecolor=colour,
        markeredgecolor="none",
        alpha=0.6,
    )
    axes.set_xlim(left, right)
    axes.set_ylim(low, high)
    axes.locator_params(nbins=4)
    across, up = view.ticks
    if across:
        axes.set_xticks(range(len(across)), [literal(short(name, 10)) for name in across])
    if up:
        axes.set_yticks(range(len(up)), [literal(short(name, 10)) for name in up])
    axes.set_xlabel(literal(short(view.names[0], 30)), fontsize=8)
    axes.set_ylabel(literal(short(view.names[1], 24)), fontsize=8)
    axes.tick_params(labelsize=7)
    for axis in (axes.xaxis, axes.yaxis):
        axis.get_offset_text().set_fontsize(7)
    return plain(axes)


def draw_crosstab(axes: Axes, view: Crosstab, labels: tuple[str, str] | None = None) -> Axes:
    """Draw the proportions of pairs of categories as bars, the largest differences on top."""
    places = np.arange(len(view.cells))
    names = labels or ("X", "Y")
    for side, shift in ((0, -0.2), (1, 0.2)):
        shares = [100 * cell[2 + side] for cell in view.cells]
        label = literal(short(names[side], 24))
        axes.barh(places + shift, shares, 0.4, color=SIDES[side][0], label=label)
    ticks = [literal(f"{short(a, 12)}, {short(b, 12)}") for a, b, _, _ in view.cells]
    axes.set_yticks(places, ticks, fontsize=7)
    axes.set_ylim(len(places) - 0.4, -0.6)
    axes.tick_params(axis="x", labelsize=7)
    axes.set_xlabel("proportion, %", fontsize=8)
    title = f"{short(view.names[0], 24)} and {short(view.names[1], 24)}"
    if view.where:
        title = f"{title}, {short(view.where, 40)}"
    axes.set_title(literal("\n".join(textwrap.wrap(title, 32))), fontsize=8)
    if labels is not None:
        axes.legend(fontsize=8, framealpha=0.9, edgecolor="none")
    return plain(axes)


def _draw_pvalues(axes: Axes, names: Sequence[str], pvalues: Sequence[float], alpha: float) -> None:
    heights = [-math.log10(max(p, 1e-300)) for p in pvalues]
    colours = [COLOUR_STATISTIC if p <= alpha else COLOUR_NULL for p in pvalues]
    places = np.arange(len(names))
    axes.barh(places, heights, color=colours, height=0.7)
    axes.set_yticks(places, [literal(short(name, 28)) for name in names], fontsize=8)
    axes.set_ylim(len(names) - 0.4, -0.6)


def _draw_level(axes: Axes, alpha: float, what: str) -> None:
    """Mark the level, and write powers of ten on the axis as the p-values they are."""
    line = axes.axvline(-math.log10(alpha), color="black", linestyle="--", linewidth=1.2)
    line.set_label(f"α = {alpha:g}")
    axes.legend(
        fontsize=8, frameon=False, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.0
    )
    furthest = axes.get_xlim()[1]
    ticks = range(0, math.floor(furthest) + 1, max(1, math.floor(furthest) // 5))
    axes.set_xticks(list(ticks), ["1" if t == 0 else f"{10.0**-t:g}" for t in ticks])
    axes.set_xlabel(what, fontsize=8)
    axes.tick_params(axis="x", labelsize=8)


def _ends(finding: Finding, scale: Scale) -> tuple[float, float]:
    """Return the ends of an interval as they can be drawn."""
    low, high = finding.interval
    low = low if math.isfinite(low) and (low > 0 or not scale.ratio) else finding.effect
    high = high if math.isfinite(high) else finding.effect
    return scale.factor * low, scale.factor * high


def _ratio_ticks(low: float, high: float) -> list[float]:
    """Return round ratios between the ends, few enough to read."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks: list[float] = []
    for steps in RATIO_STEPS:
        ticks = [s * 10.0**p for p in powers for s in steps if low <= s * 10.0**p <= high]
        if len(ticks) >= 3:
            break
    return ticks[:: math.ceil(len(ticks) / MOST_TICKS)] if ticks else []
