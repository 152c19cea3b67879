"""The figure of a test result: each panel on an Axes it is given, from what was computed before."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import Patch

from tellapart.planning.plan import SamplePlan
from tellapart.results.columns import Marginal
from tellapart.results.embedding import Embedding
from tellapart.results.result import TestResult
from tellapart.selection.stability import Stability
from tellapart.text import safe, safe_lines

# What all figures share: the colours, and text from data drawn as it is.


# Okabe and Ito's palette: told apart with every common form of colour blindness.
COLOUR_X = "#0072B2"
COLOUR_Y = "#D55E00"
COLOUR_NULL = "#999999"
COLOUR_STATISTIC = "#009E73"


class ShownFigure(Figure):
    """A figure that a notebook shows, though pyplot does not know it."""

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png")
        return buffer.getvalue()


class ShownAxes(Axes):
    """Axes of which a notebook shows the figure they are on."""

    def _repr_png_(self) -> bytes | None:
        figure = self.figure
        return figure._repr_png_() if isinstance(figure, ShownFigure) else None


def new_axes(**options: Any) -> Axes:
    """Return the only axes of a new figure, which a notebook shows."""
    axes: Axes = ShownFigure(layout="constrained", **options).add_subplot(axes_class=ShownAxes)
    return axes


def short(text: str, width: int) -> str:
    """Return text on one line of at most `width` characters; the end, often a number, is kept."""
    text = safe(text)
    if len(text) <= width:
        return text
    tail = width // 3
    return f"{text[: width - 1 - tail]}…{text[-tail:]}"


def literal(text: str) -> str:
    """Return text that is drawn as it is: no formula between dollar signs, no control codes."""
    return safe_lines(text).replace("$", r"\$")


def plain(axes: Axes) -> Axes:
    """Take away the frame's upper and right side."""
    axes.spines[["top", "right"]].set_visible(False)
    return axes


MOST_MARGINALS = 20
MOST_OTHERS = 8
FIELD_LEVELS = (0.08, 0.2, 0.35, 0.5, 0.65, 0.8, 1.0)
"""Steps of the field, as shares of its greatest height; below the first neither prevails."""
FIELD_OPACITY = (0.08, 0.42)
MARGINALS_PER_ROW = 5
SQUEEZED = 0.2
"""A null distribution on less than this share of the axis is drawn once more, larger."""


def draw_result(result: TestResult, marginals: Sequence[Marginal]) -> Figure:
    """Draw weights, null distribution and the marginals of the selected variables, 20 at most."""
    shown = marginals[:MOST_MARGINALS]
    columns = min(MARGINALS_PER_ROW, max(len(shown), 1))
    rows = max(math.ceil(len(shown) / columns), 1)
    top = max(3.2, 0.24 * result.selection.support.size + 1.0)
    figure = ShownFigure(
        figsize=(max(9.0, 2.6 * columns), top + 2.3 * rows + 0.4), layout="constrained"
    )
    upper, lower = figure.subfigures(2, 1, squeeze=False, height_ratios=[top, 2.3 * rows]).ravel()
    weights, null = upper.subplots(1, 2)
    draw_weights(weights, result)
    draw_null(null, result)
    grid = lower.subplots(rows, columns, squeeze=False).ravel()
    for axes, marginal in zip(grid, shown, strict=False):
        draw_marginal(axes, marginal)
    for axes in grid[len(shown) :]:
        axes.set_axis_off()
    add_titles(figure, lower, result)
    return figure


def add_titles(figure: Figure, lower: SubFigure, result: TestResult) -> None:
    """Put the verdict over the figure, and what the samples are called over its lower part."""
    sides = zip((COLOUR_X, COLOUR_Y), result.labels, result.n_test, strict=True)
    handles = [
        Patch(color=colour, label=f"{literal(short(label, 40))} ({rows} rows)")
        for colour, label, rows in sides
    ]
    lower.legend(handles=handles, loc="outside upper center", ncols=2, frameon=False)
    figure.suptitle(literal("\n".join(textwrap.wrap(result.verdict, 100))), fontsize=12)


def draw_weights(axes: Axes, result: TestResult) -> Axes:
    """Draw the weights of the selected variables as horizontal bars, the largest on top."""
    weights = result.selection.weights
    places = np.arange(len(weights))
    axes.barh(places, list(weights.values()), color=COLOUR_STATISTIC, height=0.7)
    axes.set_yticks(places, [literal(short(name, 36)) for name in weights], fontsize=8)
    axes.set_ylim(len(weights) - 0.4, -0.6)
    axes.axvline(0.0, color="black", linewidth=0.8)
    axes.set_xlabel("weight")
    axes.set_title("Selected variables" if result.reject else "Selected variables (may be noise)")
    return plain(axes)


def draw_null(axes: Axes, result: TestResult) -> Axes:
    """Draw the null distribution with the observed statistic and the critical value."""
    bins = min(40, max(10, round(math.sqrt(result.null_distribution.size))))
    if result.null_distribution.size:
        axes.hist(result.null_distribution, bins=bins, color=COLOUR_NULL, label="permuted labels")
    axes.axvline(result.statistic, color=COLOUR_STATISTIC, linewidth=2, label="observed")
    if math.isfinite(result.threshold):
        axes.axvline(
            result.threshold,
            color="black",
            linestyle="--",
            linewidth=1.2,
            label=f"critical value, α = {result.alpha:g}",
        )
    axes.set_xlabel(literal(result.statistic_name))
    axes.set_ylabel("permutations")
    axes.set_title(result.pvalue_text)
    # Above the bars, whatever their shape, rather than wherever there is room.
    axes.margins(y=0.3)
    axes.legend(fontsize=8, framealpha=0.9, edgecolor="none", loc="upper center", ncols=2)
    axes.locator_params(axis="x", nbins=6)
    _enlarge_null(axes, result, bins)
    return plain(axes)


def _enlarge_null(axes: Axes, result: TestResult, bins: int) -> None:
    """Draw the null distribution once more, larger, where a far statistic squeezes it."""
    if result.null_distribution.size == 0:
        return
    low, high = float(result.null_distribution.min()), float(result.null_distribution.max())
    if math.isfinite(result.threshold):
        high = max(high, result.threshold)
    if not 0.0 < high - low < SQUEEZED * (result.statistic - low):
        return
    inset = axes.inset_axes((0.34, 0.16, 0.5, 0.42))
    inset.hist(result.null_distribution, bins=bins, color=COLOUR_NULL)
    if math.isfinite(result.threshold):
        inset.axvline(result.threshold, color="black", linestyle="--", linewidth=1.2)
    inset.set_title("the left end, enlarged", fontsize=8)
    inset.set_yticks([])
    inset.locator_params(axis="x", nbins=4)
    inset.tick_params(axis="x", labelsize=7)
    inset.xaxis.get_offset_text().set_fontsize(7)
    inset.patch.set_alpha(0.0)
    plain(inset)


def draw_marginal(axes: Axes, marginal: Marginal, labels: tuple[str, str] | None = None) -> Axes:
    """Draw one variable in both samples: bars of shares, or overlaid densities.

    With a legend if labels are given.
    """
    if marginal.bars:
        places = np.arange(len(marginal.bars))
        axes.bar(places - 0.2, marginal.x, 0.4, color=COLOUR_X)
        axes.bar(places + 0.2, marginal.y, 0.4, color=COLOUR_Y)
        slanted = max(map(len, marginal.bars)) * len(marginal.bars) > 18
        axes.set_xticks(
            places,
            [literal(short(label, 12)) for label in marginal.bars],
            rotation=40 if slanted else 0,
            ha="right" if slanted else "center",
            fontsize=7,
        )
    else:
        for heights, colour in ((marginal.x, COLOUR_X), (marginal.y, COLOUR_Y)):
            axes.stairs(heights, marginal.edges, fill=True, alpha=0.35, color=colour)
            axes.stairs(heights, marginal.edges, color=colour, linewidth=1.2)
        axes.locator_params(axis="x", nbins=4)
        axes.tick_params(axis="x", labelsize=7)
        axes.xaxis.get_offset_text().set_fontsize(7)
    axes.set_yticks([])
    axes.set_title(literal("\n".join(textwrap.wrap(short(marginal.name, 50), 28))), fontsize=8)
    if labels is not None:
        sides = zip((COLOUR_X, COLOUR_Y), labels, strict=True)
        handles = [Patch(color=colour, label=literal(short(name, 24))) for colour, name in sides]
        axes.legend(handles=handles, fontsize=8, framealpha=0.9, edgecolor="none")
    return plain(axes)


def draw_stability(axes: Axes, stability: Stability) -> Axes:
    """Draw selection frequencies: of the selected variables, then of others."""
    others = list(stability.others.items())[:MOST_OTHERS]
    rows = [*stability.chosen.items(), *others]
    colours = [COLOUR_STATISTIC] * len(stability.chosen) + [COLOUR_NULL] * len(others)
    places = np.arange(len(rows))
    axes.barh(places, [count for _, count in rows], color=colours, height=0.7)
    axes.set_yticks(places, [literal(short(name, 36)) for name, _ in rows], fontsize=8)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, stability.n_resamples)
    axes.set_xlabel(f"times selected in {stability.n_resamples} resamples")
    axes.set_title("Selection frequency")
    handles = [Patch(color=COLOUR_STATISTIC, label="selected")]
    if others:
        handles.append(Patch(color=COLOUR_NULL, label="not selected"))
    axes.legend(handles=handles, fontsize=8, framealpha=0.9, edgecolor="none", loc="lower right")
    return plain(axes)


def draw_embedding(axes: Axes, embedding: Embedding, labels: tuple[str, str]) -> Axes:
    """Draw the rows of both samples on the field of the witness function.

    The field takes the colour of the sample that prevails; a dashed line runs where neither
    does. The samples differ in shape as well as in colour.
    """
    _draw_field(axes, embedding)
    sides = ((embedding.x, COLOUR_X, "o"), (embedding.y, COLOUR_Y, "^"))
    for (places, colour, marker), label in zip(sides, labels, strict=True):
        axes.plot(
            places[:, 0],
            places[:, 1],
            linestyle="none",
            marker=marker,
            markersize=4,
            markerfacecolor=colour,
            markeredgecolor="white",
            markeredgewidth=0.4,
            label=literal(short(label, 24)),
        )
    axes.set_xlim(embedding.across[0], embedding.across[-1])
    axes.set_ylim(embedding.up[0], embedding.up[-1])
    axes.set_xlabel(literal(short(embedding.axes[0], 50)))
    axes.set_ylabel(literal(short(embedding.axes[1], 40)))
    if embedding.method == "variables":
        axes.locator_params(nbins=5)
    else:
        axes.set_xticks([])
    if embedding.method != "variables" or embedding.axes[1] == "apart at random":
        axes.set_yticks([])
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=2,
        frameon=False,
        borderaxespad=0.2,
        handletextpad=0.1,
        columnspacing=1.0,
        markerscale=1.6,
    )
    return plain(axes)


def _draw_field(axes: Axes, embedding: Embedding) -> None:
    field = np.ma.masked_invalid(embedding.field)
    height = float(np.abs(field).max()) if field.count() else 0.0
    if not height > 0.0:
        return
    levels = height * np.asarray(FIELD_LEVELS)
    levels[-1] *= 1.0 + 1e-9
    opacities = np.linspace(*FIELD_OPACITY, len(levels) - 1)
    for side, colour in ((field, COLOUR_X), (-field, COLOUR_Y)):
        if side.max() > levels[0]:
            colours = [(*to_rgb(colour), opacity) for opacity in opacities]
            axes.contourf(embedding.across, embedding.up, side, levels=levels, colors=colours)
    if field.min() < 0.0 < field.max():
        axes.contour(
            embedding.across,
            embedding.up,
            field,
            levels=[0.0],
            colors="black",
            linewidths=0.8,
            linestyles="dashed",
        )


# The figure of a plan: predicted power over rows, its limits, and the rows needed.


def draw_plan(plan: SamplePlan) -> Figure:
    """Draw the curve of predicted power with a band for its limits."""
    figure = ShownFigure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    guesses = plan.predictions
    rows = [guess.n_x for guess in guesses]
    axes.fill_between(
        rows,
        [guess.low for guess in guesses],
        [guess.high for guess in guesses],
        color=COLOUR_X,
        alpha=0.2,
        linewidth=0,
        label=f"{100 * plan.confidence:.0f} % limits",
    )
    axes.plot(rows, [guess.power for guess in guesses], color=COLOUR_X, label="predicted power")
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
