"""Whole figures: of a result, its page, for a paper, of groups, of a monitor, of a plan."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tellapart.arguments import check_number
from tellapart.errors import InputError
from tellapart.groups.result import Profile
from tellapart.monitor.records import CheckRecord
from tellapart.monitor.sequence import MonitoredSequence
from tellapart.optional import importing
from tellapart.planning.plan import SamplePlan
from tellapart.report.plots import (
    MOST_FINDINGS,
    ROWS_OF_AXIS,
    ShownFigure,
    axis_label,
    check_axes,
    draw_effects,
    draw_embedding,
    draw_families,
    draw_findings,
    draw_map,
    draw_marginal,
    draw_null,
    draw_propensity,
    draw_side,
    draw_view,
    draw_weights,
    effect_handles,
    literal,
    name_rows,
    new_axes,
    plain,
    short,
    wrapped,
)
from tellapart.report.svg import COLOUR_NULL, COLOUR_STATISTIC, COLOUR_X, COLOUR_Y
from tellapart.report.words import group_findings
from tellapart.results.columns import DensityMap, Marginal, PairView, Scatter
from tellapart.results.embedding import Embedding
from tellapart.results.result import TestResult
from tellapart.scan.finding import Finding
from tellapart.scan.finding_kinds import Scale
from tellapart.writing import write_picture

with importing("drawing", "matplotlib", "plot"):
    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection, QuadMesh
    from matplotlib.colors import LinearSegmentedColormap, Normalize
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.ticker import MaxNLocator

VIEWS_PER_ROW = 5
MOST_MARGINALS = 20


def draw_figure(result: TestResult, views: Sequence[Marginal | PairView]) -> Figure:
    """Draw the figure of a result, with what was computed of its columns and pairs.

    Of a scan findings, else its families, then the null distribution and the columns and pairs of
    the first findings; of other tests weights, null distribution and the selected variables.
    """
    if result.scan is None:
        views = [view for view in views if isinstance(view, Marginal)][:MOST_MARGINALS]
    columns = min(VIEWS_PER_ROW, max(len(views), 1))
    rows = max(math.ceil(len(views) / columns), 1)
    groups = group_findings(result.findings, MOST_FINDINGS)
    if result.scan is None:
        width, row, first_panel = 9.0, 2.3, draw_weights
        top = max(3.2, 0.24 * result.selection.support.size + 1.0)
    else:
        width, row, first_panel = 10.0, 2.5, draw_findings if groups else draw_families
        top = max(3.4, 0.2 * (sum(map(len, groups.values())) + ROWS_OF_AXIS * len(groups)))
    figure = ShownFigure(
        figsize=(max(width, 2.6 * columns), top + row * rows + 0.4), layout="constrained"
    )
    upper, lower = figure.subfigures(2, 1, squeeze=False, height_ratios=[top, row * rows]).ravel()
    left, right = upper.subplots(1, 2)
    first_panel(left, result)
    draw_null(right, result)
    grid = lower.subplots(rows, columns, squeeze=False).ravel()
    for axes, view in zip(grid, views, strict=False):
        draw_view(axes, view)
    for axes in grid[len(views) :]:
        axes.set_axis_off()
    handles = [
        Patch(color=colour, label=f"{literal(short(label, 40))} ({n} rows)")
        for colour, label, n in zip((COLOUR_X, COLOUR_Y), result.labels, result.n_test, strict=True)
    ]
    lower.legend(handles=handles, loc="outside upper center", ncols=2, frameon=False)
    figure.suptitle(wrapped(result.verdict, 100), fontsize=12)
    return figure


# A figure for a paper: effects with their intervals, as wide as one column of a journal.

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
        rows = [
            sum(ROW + LINE * (len(finding.variables) - 1) for finding in members)
            for members in groups.values()
        ]
        height = LEGEND + sum(rows) + AXIS * len(rows)
        figure = Figure(figsize=(width, height), layout="constrained")
        stack = figure.subplots(len(rows), 1, squeeze=False, height_ratios=rows).ravel()
        letters = max(int(LETTERS_PER_INCH * width), 12)
        for axes, (scale, members) in zip(stack, groups.items(), strict=True):
            names = [",\n".join(short(name, letters) for name in f.variables) for f in members]
            draw_effects(axes, scale, members, names)
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
    drawn = [changes[name] for name in result.selection.weights if name in changes]
    return list({change.variables: change for change in drawn}.values())


def _without_sizes(result: TestResult, width: float) -> Figure:
    rows = len(result.families) or len(result.selection.weights)
    figure = Figure(figsize=(width, AXIS + LEGEND + ROW * max(rows, 3)), layout="constrained")
    axes = figure.subplots()
    (draw_families if result.scan is not None else draw_weights)(axes, result)
    axes.set_title("", loc="left")
    axes.set_title("")
    return figure


# Variables × groups: a dot plot, and a heatmap with numbers.

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
    labels = [literal(short(group, LABEL_WIDTH)) for group in profile.groups]
    turn = max(map(len, labels)) > 4
    ax.set_xticks(
        np.arange(len(labels)), labels, fontsize=8, rotation=45 if turn else 0,
        ha="left" if turn else "center",
    )  # fmt: skip
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    name_rows(ax, profile.variables, LABEL_WIDTH)
    ax.spines[:].set_visible(False)
    for row in np.flatnonzero(np.diff(profile.listed_under)):
        ax.axhline(row + 0.5, color=COLOUR_NULL, linewidth=0.6)


# The history of a monitor: e-values and p-values over the checks.

HISTORY_INCHES = (6.4, 4.4)
# Labels that find room below the axis, and beside the marks of alarms.
MOST_TICKS, MOST_NAMED, CHECK_WIDTH = 8, 6, 18
SMALLEST_CAPITAL = 1e-6
MOST_BATCHES, MOST_SCORED = 60, 40
"""Batches, and columns, of the chart of scores."""
LEAST_SCALE = 0.5
"""The difference that is drawn in full colour where none is larger, in SD."""


def draw_history(monitor: MonitoredSequence) -> Figure:
    """Return a figure with a panel of the e-values, if there are any, and one of the p-values."""
    history = monitor.history
    sequential = any(record.capital is not None for record in history)
    figure = ShownFigure(figsize=HISTORY_INCHES, layout="constrained")
    panels = figure.subplots(2 if sequential else 1, 1, sharex=True, squeeze=False)[:, 0]
    if sequential:
        draw_capital(panels[0], history)
    draw_pvalues(panels[-1], history)
    _name_checks(panels[-1], history)
    return figure


def draw_capital(axes: Axes, history: tuple[CheckRecord, ...]) -> Axes:
    """Draw the e-values on a logarithmic scale, what an alarm needs, and the alarms."""
    numbers = [record.number for record in history]
    capital = [max(record.capital or 0.0, SMALLEST_CAPITAL) for record in history]
    needed = next(record.capital_needed for record in history if record.capital_needed)
    axes.plot(numbers, capital, color=COLOUR_X, marker="o", markersize=3, linewidth=1)
    axes.axhline(needed, color=COLOUR_STATISTIC, linestyle="--", label="needed for an alarm")
    _mark_alarms(axes, history, dict(zip(numbers, capital, strict=True)))
    named = [record for record in history if record.alarm][-MOST_NAMED:]
    for record in named:
        axes.annotate(
            literal(short(record.label, CHECK_WIDTH)),
            (record.number, capital[record.number - history[0].number]),
            xytext=(-3, 4),
            textcoords="offset points",
            fontsize=7,
            ha="right",
        )
    axes.set_yscale("log")
    axes.set_ylabel("e-value")
    axes.legend(frameon=False, fontsize=8, loc="upper left")
    return plain(axes)


def draw_pvalues(axes: Axes, history: tuple[CheckRecord, ...]) -> Axes:
    """Draw the p-values on a logarithmic scale, the levels of an alarm, and the alarms."""
    numbers = [record.number for record in history]
    pvalues = [record.pvalue for record in history]
    levels = [record.alarm_level or np.nan for record in history]
    axes.plot(numbers, pvalues, color=COLOUR_NULL, marker="o", markersize=3, linestyle="none")
    axes.plot(
        numbers,
        levels,
        color=COLOUR_STATISTIC,
        linestyle="--",
        drawstyle="steps-mid",
        label="level at which a check alarms",
    )
    _mark_alarms(axes, history, dict(zip(numbers, pvalues, strict=True)))
    axes.set_yscale("log")
    axes.set_ylabel("p-value")
    axes.legend(frameon=False, fontsize=8, loc="lower left")
    return plain(axes)


def draw_scores(history: Sequence[CheckRecord]) -> Figure:
    """Return a chart of columns × batches: the standardised difference of each, in SD."""
    shown = list(history)[-MOST_BATCHES:]
    largest: dict[str, float] = {}
    for record in shown:
        for score in record.scores:
            size = abs(score.effect) if np.isfinite(score.effect) else 0.0
            largest[score.column] = max(largest.get(score.column, 0.0), size)
    columns = sorted(largest, key=lambda name: -largest[name])[:MOST_SCORED]
    place = {name: s for s, name in enumerate(columns)}
    effects = np.full((len(columns), len(shown)), np.nan)
    marked: list[tuple[int, int]] = []
    for k, record in enumerate(shown):
        tripped = {name for one in record.found if one["tripped"] for name in one["variables"]}
        for score in record.scores:
            if score.column in place:
                effects[place[score.column], k] = score.effect
                if score.column in record.beyond or score.column in tripped:
                    marked.append((k, place[score.column]))
    height = 1.6 + 0.22 * max(len(columns), 3)
    figure = ShownFigure(figsize=(HISTORY_INCHES[0], height), layout="constrained")
    axes = figure.subplots()
    if not columns:
        axes.set_axis_off()
        return figure
    widest = max(LEAST_SCALE, float(np.nanmax(np.abs(np.nan_to_num(effects, posinf=0, neginf=0)))))
    image = axes.pcolormesh(effects, cmap="RdBu_r", vmin=-widest, vmax=widest)
    axes.invert_yaxis()
    figure.colorbar(image, ax=axes, label="difference, in SD")
    for k, s in marked:
        axes.plot(k + 0.5, s + 0.5, marker="D", color="black", markersize=4, linestyle="none")
    names = [literal(short(name, CHECK_WIDTH)) for name in columns]
    axes.set_yticks(np.arange(len(columns)) + 0.5, names)
    step = max(1, -(-len(shown) // MOST_TICKS))
    labels = [literal(short(record.label, CHECK_WIDTH)) for record in shown[::step]]
    axes.set_xticks(np.arange(0, len(shown), step) + 0.5, labels, rotation=45, ha="right")
    axes.tick_params(labelsize=7)
    axes.set_xlabel("batch")
    return figure


def _mark_alarms(axes: Axes, history: tuple[CheckRecord, ...], heights: dict[int, float]) -> None:
    numbers = [record.number for record in history if record.alarm]
    if numbers:
        axes.plot(
            numbers,
            [heights[number] for number in numbers],
            color=COLOUR_Y,
            marker="D",
            markersize=6,
            linestyle="none",
            label="alarm",
        )


def _name_checks(axes: Axes, history: tuple[CheckRecord, ...]) -> None:
    """Say below the axis which checks these are: by label where there is room for it."""
    axes.set_xlabel("check")
    if 0 < len(history) <= MOST_TICKS:
        labels = [literal(short(record.label, CHECK_WIDTH)) for record in history]
        axes.set_xticks([record.number for record in history], labels, fontsize=8)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))


# The plan of a study: predicted power over rows, its limits, and the rows needed.


def draw_plan(plan: SamplePlan) -> Figure:
    """Draw the curve of predicted power with a band for its limits."""
    figure = ShownFigure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    predictions = plan.predictions
    rows = [prediction.n_x for prediction in predictions]
    axes.fill_between(
        rows,
        [prediction.low for prediction in predictions],
        [prediction.high for prediction in predictions],
        color=COLOUR_X,
        alpha=0.2,
        linewidth=0,
        label=f"{100 * plan.confidence:.0f} % limits",
    )
    axes.plot(
        rows,
        [prediction.power for prediction in predictions],
        color=COLOUR_X,
        label="predicted power",
    )
    axes.axhline(plan.power, color=COLOUR_NULL, linewidth=0.8, linestyle="--")
    if plan.n_x is not None:
        axes.axvline(plan.n_x, color=COLOUR_NULL, linewidth=0.8, linestyle="--")
        axes.annotate(
            f"{plan.n_x:,} rows", (plan.n_x, 0.02), xytext=(4, 0), textcoords="offset points"
        )
    axes.set(ylim=(0, 1.02), xlabel="rows of the first sample", ylabel="power", xscale="log")
    axes.set_title(textwrap.fill(plan.verdict, 78), fontsize="medium", loc="left")
    axes.legend(loc="lower right", frameon=False)
    return figure


# The figures of the page: small, so that the letters stay legible on a phone.

NULL_INCHES = (4.4, 3.0)
MARGINAL_INCHES = (2.4, 1.5)
EMBEDDING_INCHES = (4.2, 3.5)
PAIR_INCHES = (4.2, 2.2)
MAP_INCHES = (3.2, 2.4)
OVERLAP_INCHES = (4.2, 2.4)
EFFECTS_WIDTH, EFFECTS_HEIGHT, ROW_HEIGHT = 4.2, 0.65, 0.2


def page_null(result: TestResult) -> Figure:
    """Draw the null distribution, without a title."""
    figure = Figure(figsize=NULL_INCHES, layout="constrained")
    draw_null(figure.subplots(), result).set_title("")
    return figure


def page_marginal(marginal: Marginal) -> Figure:
    """Draw one column in both samples, without its name, which the page gives."""
    figure = Figure(figsize=MARGINAL_INCHES, layout="constrained")
    draw_marginal(figure.subplots(), marginal).set_title("")
    return figure


def page_effects(scale: Scale, findings: Sequence[Finding]) -> Figure:
    """Draw effects with their intervals; the page gives the scale and the colours."""
    height = EFFECTS_HEIGHT + ROW_HEIGHT * len(findings)
    figure = Figure(figsize=(EFFECTS_WIDTH, height), layout="constrained")
    label = axis_label(scale, findings[0].labels).removeprefix(scale.title).removeprefix(", ")
    draw_effects(figure.subplots(), scale, findings).set_xlabel(label, fontsize=8)
    return figure


def page_pair(view: Scatter) -> Figure:
    """Draw two columns together, the samples side by side."""
    figure = Figure(figsize=PAIR_INCHES, layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    for side, axes in enumerate((left, right)):
        draw_side(axes, view, side)
    right.set_ylabel("")
    return figure


def page_map(view: DensityMap) -> Figure:
    """Draw where each sample is denser."""
    figure = Figure(figsize=MAP_INCHES, layout="constrained")
    draw_map(figure.subplots(), view)
    return figure


def page_overlap(result: TestResult) -> Figure:
    """Draw the propensities of the rows of both samples."""
    figure = Figure(figsize=OVERLAP_INCHES, layout="constrained")
    draw_propensity(figure.subplots(), result)
    return figure


def page_embedding(embedding: Embedding, labels: tuple[str, str]) -> Figure:
    """Draw both samples in two dimensions."""
    figure = Figure(figsize=EMBEDDING_INCHES, layout="constrained")
    draw_embedding(figure.subplots(), embedding, labels)
    return figure


def page_profile(profile: Profile) -> Figure:
    """Draw the selected variables in every group."""
    figure = draw_profile(profile, "dots").figure
    assert isinstance(figure, Figure)
    return figure
