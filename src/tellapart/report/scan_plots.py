"""The figure of a scan and its panels: findings with their intervals, families, columns, pairs."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter, ScalarFormatter

from tellapart.arguments import check_number
from tellapart.errors import InputError
from tellapart.groups.result import Profile
from tellapart.report.plots import (
    COLOUR_NULL,
    COLOUR_STATISTIC,
    COLOUR_X,
    COLOUR_Y,
    ShownFigure,
    add_titles,
    draw_embedding,
    draw_marginal,
    draw_null,
    draw_result,
    draw_stability,
    draw_weights,
    literal,
    new_axes,
    plain,
    short,
)
from tellapart.report.words import group_findings
from tellapart.results.columns import Crosstab, Marginal, PairView, Scatter
from tellapart.results.embedding import Embedding
from tellapart.results.result import TestResult
from tellapart.scan.finding import Finding
from tellapart.scan.finding_kinds import Scale
from tellapart.selection.stability import Stability
from tellapart.writing import write_picture

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


# A figure for a paper: sizes with their intervals, as wide as one column of a journal.


ENDINGS = (".pdf", ".svg", ".png")
WIDTHS = {"column": 3.35, "page": 7.0}
"""Inches: 85 mm and 178 mm, what most journals set in one column and in two."""
NARROWEST, WIDEST = 2.5, 12.0
MOST_ROWS = 14
ROW, LINE, AXIS, LEGEND = 0.19, 0.12, 0.55, 0.3
"""Inches of one row, of one more line in it, of an axis with its label, and of the legend."""
DOTS_PER_INCH = 600
# Type 42 keeps text as text in a PDF, which journals ask for; paths look the same everywhere.
STYLE: dict[Any, Any] = {
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "tellapart",
    "font.size": 8,
}
LETTERS_PER_INCH = 6.5


def check_width(width: object) -> float:
    """Return the width in inches."""
    if isinstance(width, str):
        if width not in WIDTHS:
            raise InputError(f"width must be 'column', 'page' or inches; got {width!r}")
        return WIDTHS[width]
    return check_number("width", width, NARROWEST, WIDEST)


def check_ending(path: Path) -> Path:
    """Return the path if a figure can be written in the format that it ends in."""
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"path must end in {', '.join(ENDINGS)}; got {str(path)!r}")
    return path


def draw_paper_figure(result: TestResult, width: float) -> Figure:
    """Draw effects with their intervals: findings of a scan, else the selected variables.

    Without any, the families of a scan or the weights are drawn. There is no title, which is for
    the caption, and no text smaller than 7 points.
    """
    groups = group_findings(_shown(result), MOST_ROWS)
    with matplotlib.rc_context(STYLE):
        if not groups:
            return _without_sizes(result, width)
        # Each column of a pair has a line of its own.
        rows = [sum(ROW + LINE * (len(f.variables) - 1) for f in own) for own in groups.values()]
        height = LEGEND + sum(rows) + AXIS * len(rows)
        figure = Figure(figsize=(width, height), layout="constrained")
        stack = figure.subplots(len(rows), 1, squeeze=False, height_ratios=rows).ravel()
        letters = max(int(LETTERS_PER_INCH * width), 12)
        for axes, (scale, own) in zip(stack, groups.items(), strict=True):
            names = [",\n".join(short(name, letters) for name in f.variables) for f in own]
            draw_effects(axes, scale, own, names)
            # From the right end leftwards there is room below the names.
            axes.set_xlabel(axes.get_xlabel(), fontsize=8, loc="right")
        figure.legend(
            handles=effect_handles(result.labels),
            loc="outside upper center",
            ncols=2,
            frameon=False,
            fontsize=8,
            columnspacing=1.0,
            handletextpad=0.5,
        )
        return figure


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure in the format that the path ends in."""
    with matplotlib.rc_context(STYLE):
        # Without a date equal results give equal files.
        form = path.suffix[1:].lower()
        metadata = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(form)
        write_picture(path, figure, dpi=DOTS_PER_INCH, metadata=metadata)


def _shown(result: TestResult) -> Sequence[Finding]:
    if result.scan is not None:
        return result.findings
    changes = result.selection.changes
    # A pair belongs to both its columns, and is drawn once.
    known = [changes[name] for name in result.selection.weights if name in changes]
    return list({change.variables: change for change in known}.values())


def _without_sizes(result: TestResult, width: float) -> Figure:
    rows = len(result.families) or len(result.selection.weights)
    figure = Figure(figsize=(width, AXIS + LEGEND + ROW * max(rows, 3)), layout="constrained")
    axes = figure.subplots()
    (draw_families if result.scan is not None else draw_weights)(axes, result)
    axes.set_title("", loc="left")
    axes.set_title("")
    return figure


# The figure of a result, and its panels one by one: which drawing shows what was computed.


DRAWN_BY_RESULT = {
    "weights": draw_weights,
    "null": draw_null,
    "findings": draw_findings,
    "families": draw_families,
    "columns": draw_columns,
}


def draw_figure(result: TestResult, portraits: Sequence[Marginal | PairView]) -> Figure:
    """Draw the figure of a result, with what was computed of its columns and pairs."""
    if result.scan is not None:
        return draw_scan(result, portraits)
    return draw_result(result, [shown for shown in portraits if isinstance(shown, Marginal)])


def draw_panel(
    result: TestResult,
    what: str,
    shown: Embedding | Stability | Marginal | PairView | None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one panel, and what was computed for it, on the axes given or on new ones."""
    axes = new_axes() if ax is None else ax
    if isinstance(shown, Embedding):
        return draw_embedding(axes, shown, result.labels)
    if isinstance(shown, Stability):
        return draw_stability(axes, shown)
    if isinstance(shown, Marginal):
        return draw_marginal(axes, shown, result.labels)
    if isinstance(shown, Scatter):
        return draw_scatter(axes, shown, result.labels)
    if isinstance(shown, Crosstab):
        return draw_crosstab(axes, shown, result.labels)
    return DRAWN_BY_RESULT[what](axes, result)


def check_axes(value: object) -> None:
    """Raise unless `value` can be drawn on, or is None."""
    if value is not None and not isinstance(value, Axes):
        raise InputError(f"ax must be matplotlib Axes or None; got {type(value).__name__}")


# Variables × groups: a dot plot, and a heatmap with numbers. What they show is computed before.


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
