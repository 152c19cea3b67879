"""The panels of figures: each on an Axes it is given, from what was computed before."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np

from tellapart.errors import InputError
from tellapart.optional import importing
from tellapart.report.svg import COLOUR_NULL, COLOUR_STATISTIC, COLOUR_X, COLOUR_Y
from tellapart.report.words import columns_by_evidence, group_findings
from tellapart.results.columns import Crosstab, DensityMap, Marginal, PairView, Scatter
from tellapart.results.embedding import Embedding
from tellapart.results.figure_data import Love, Volcano
from tellapart.results.result import TestResult
from tellapart.scan.finding import Finding
from tellapart.scan.finding_kinds import Scale
from tellapart.selection.stability import Stability
from tellapart.text import safe, safe_lines

with importing("drawing", "matplotlib", "plot"):
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap, Normalize, to_rgb
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch, Rectangle
    from matplotlib.ticker import NullFormatter, ScalarFormatter

SIDES = ((COLOUR_X, "o"), (COLOUR_Y, "^"))
LEGEND_BOX: dict[str, Any] = {"fontsize": 8, "framealpha": 0.9, "edgecolor": "none"}
MOST_OTHERS = 8
MOST_FINDINGS = 16
MOST_COLUMNS = 30
FIELD_LEVELS = (0.08, 0.2, 0.35, 0.5, 0.65, 0.8, 1.0)
"""Steps of the field, as parts of its greatest height; below the first none is drawn."""
FIELD_OPACITY = (0.08, 0.42)
SQUEEZED = 0.2
"""A null distribution on less than this share of the axis is drawn once more, larger."""
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
NAME_WIDTH, NAME_HEIGHT = 0.2, 0.035
"""Room of a name in a volcano plot, as parts of the axes."""
LITTLE = 0.1
"""The standardised mean difference below which samples count as balanced in a column."""


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


def check_axes(value: object) -> None:
    """Raise unless `value` can be drawn on, or is None."""
    if value is not None and not isinstance(value, Axes):
        raise InputError(f"ax must be matplotlib Axes or None; got {type(value).__name__}")


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


def small_ticks(axes: Axes, nbins: int) -> None:
    """Write few small numbers along the axis across."""
    axes.locator_params(axis="x", nbins=nbins)
    axes.tick_params(axis="x", labelsize=7)
    axes.xaxis.get_offset_text().set_fontsize(7)


def name_rows(axes: Axes, names: Sequence[str], width: int = 28, fontsize: float = 8) -> None:
    """Write a name beside each of the rows 0, 1, …, the first on top."""
    labels = [literal(short(name, width)) for name in names]
    axes.set_yticks(range(len(labels)), labels, fontsize=fontsize)
    axes.set_ylim(len(labels) - 0.4, -0.6)


def wrapped(text: str, width: int) -> str:
    """Return text on several lines, drawn as it is."""
    return literal("\n".join(textwrap.wrap(text, width)))


def sample_patches(labels: Sequence[str]) -> list[Patch]:
    """Return the colours of the samples with their labels, for a legend."""
    sides = zip((COLOUR_X, COLOUR_Y), _legend_names(labels), strict=True)
    return [Patch(color=colour, label=name) for colour, name in sides]


def _legend_names(labels: Sequence[str]) -> list[str]:
    return [literal(short(label, 24)) for label in labels]


def draw_weights(axes: Axes, result: TestResult) -> Axes:
    """Draw the weights of the selected variables as horizontal bars, the largest on top."""
    weights = result.selection.weights
    axes.barh(range(len(weights)), list(weights.values()), color=COLOUR_STATISTIC, height=0.7)
    name_rows(axes, list(weights), 36)
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
    axes.legend(**LEGEND_BOX, loc="upper center", ncols=2)
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
    small_ticks(inset, 4)
    inset.patch.set_alpha(0.0)
    plain(inset)


def draw_marginal(axes: Axes, marginal: Marginal, labels: tuple[str, str] | None = None) -> Axes:
    """Draw one variable in both samples: bars of shares, or overlaid densities.

    With a legend if labels are given.
    """
    if marginal.bars:
        positions = np.arange(len(marginal.bars))
        axes.bar(positions - 0.2, marginal.x, 0.4, color=COLOUR_X)
        axes.bar(positions + 0.2, marginal.y, 0.4, color=COLOUR_Y)
        slanted = max(map(len, marginal.bars)) * len(marginal.bars) > 18
        axes.set_xticks(
            positions,
            [literal(short(label, 12)) for label in marginal.bars],
            rotation=40 if slanted else 0,
            ha="right" if slanted else "center",
            fontsize=7,
        )
    else:
        for heights, colour in ((marginal.x, COLOUR_X), (marginal.y, COLOUR_Y)):
            axes.stairs(heights, marginal.edges, fill=True, alpha=0.35, color=colour)
            axes.stairs(heights, marginal.edges, color=colour, linewidth=1.2)
        small_ticks(axes, 4)
    axes.set_yticks([])
    axes.set_title(wrapped(short(marginal.name, 50), 28), fontsize=8)
    if labels is not None:
        axes.legend(handles=sample_patches(labels), **LEGEND_BOX)
    return plain(axes)


def draw_stability(axes: Axes, stability: Stability) -> Axes:
    """Draw selection frequencies: of the selected variables, then of others."""
    others = list(stability.others.items())[:MOST_OTHERS]
    rows = [*stability.chosen.items(), *others]
    colours = [COLOUR_STATISTIC] * len(stability.chosen) + [COLOUR_NULL] * len(others)
    axes.barh(range(len(rows)), [count for _, count in rows], color=colours, height=0.7)
    name_rows(axes, [name for name, _ in rows], 36)
    axes.set_xlim(0, stability.n_resamples)
    axes.set_xlabel(f"times selected in {stability.n_resamples} resamples")
    axes.set_title("Selection frequency")
    handles = [Patch(color=COLOUR_STATISTIC, label="selected")]
    if others:
        handles.append(Patch(color=COLOUR_NULL, label="not selected"))
    axes.legend(handles=handles, **LEGEND_BOX, loc="lower right")
    return plain(axes)


def draw_view(axes: Axes, view: Marginal | PairView, labels: tuple[str, str] | None = None) -> Axes:
    """Draw one column, or two together, with a legend if labels are given."""
    if isinstance(view, Marginal):
        return draw_marginal(axes, view, labels)
    if isinstance(view, Crosstab):
        return draw_crosstab(axes, view, labels)
    return draw_scatter(axes, view, labels)


def draw_scatter(axes: Axes, view: Scatter, labels: tuple[str, str] | None = None) -> Axes:
    """Draw the rows of both samples by two columns, with a legend if labels are given."""
    for side in (0, 1):
        draw_side(axes, view, side)
    axes.set_title(wrapped(short(view.where, 60), 32), fontsize=8)
    if labels is not None:
        handles = [
            Line2D([], [], linestyle="none", color=colour, marker=marker, label=name)
            for (colour, marker), name in zip(SIDES, _legend_names(labels), strict=True)
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
    positions = np.arange(len(view.cells))
    names = labels or ("X", "Y")
    for side, shift in ((0, -0.2), (1, 0.2)):
        shares = [100 * cell[2 + side] for cell in view.cells]
        label = literal(short(names[side], 24))
        axes.barh(positions + shift, shares, 0.4, color=SIDES[side][0], label=label)
    name_rows(axes, [f"{short(a, 12)}, {short(b, 12)}" for a, b, _, _ in view.cells], fontsize=7)
    axes.tick_params(axis="x", labelsize=7)
    axes.set_xlabel("proportion, %", fontsize=8)
    title = f"{short(view.names[0], 24)} and {short(view.names[1], 24)}"
    if view.where:
        title = f"{title}, {short(view.where, 40)}"
    axes.set_title(wrapped(title, 32), fontsize=8)
    if labels is not None:
        axes.legend(**LEGEND_BOX)
    return plain(axes)


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
    for scale, members in groups.items():
        height = len(members) / total
        above -= 1.0 / total
        inset = axes.inset_axes((0.0, above - height, 1.0, height))
        draw_effects(inset, scale, members)
        above -= height + (ROWS_OF_AXIS - 1.0) / total
    return axes


def draw_effects(
    axes: Axes, scale: Scale, findings: Sequence[Finding], names: Sequence[str] = ()
) -> Axes:
    """Draw effects with their intervals on one scale, the first on top.

    Colour and shape show in which sample the measure is larger. `names` label the findings, by
    default with their columns on one line.
    """
    for row, finding in enumerate(findings):
        colour, marker = SIDES[0] if finding.effect > scale.neutral else SIDES[1]
        effect = scale.factor * finding.effect
        low, high = _ends(finding, scale)
        axes.plot([low, high], [row, row], color=colour, linewidth=1.6, solid_capstyle="butt")
        axes.plot([effect], [row], color=colour, marker=marker, markersize=5)
    axes.axvline(scale.neutral, color="black", linewidth=0.8, linestyle=":")
    if scale.ratio:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(ScalarFormatter())
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xticks(_ratio_ticks(*axes.get_xlim()))
        axes.minorticks_off()
    else:
        axes.locator_params(axis="x", nbins=6)
    labels = names or [short(", ".join(finding.variables), 28) for finding in findings]
    axes.set_yticks(range(len(labels)), [literal(label) for label in labels], fontsize=8)
    axes.set_ylim(len(labels) - 0.4, -0.6)
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


def draw_families(axes: Axes, result: TestResult) -> Axes:
    """Draw −log₁₀ p of each family of differences, with the level."""
    scan = result.scan
    pvalues = {} if scan is None else dict(scan.families)
    if scan is not None:
        skipped = [name for name in scan.skipped if name not in pvalues]
        pvalues |= {f"{name} (could not run)": 1.0 for name in skipped}
    _draw_pvalues(axes, pvalues, result.alpha, "unadjusted p-value")
    axes.set_title("Families of differences", loc="left")
    return plain(axes)


def draw_columns(axes: Axes, result: TestResult) -> Axes:
    """Draw −log₁₀ of the smallest adjusted p-values of columns, 30 at most."""
    pvalues = result.variable_pvalues
    order = columns_by_evidence(result)
    shown = order[:MOST_COLUMNS]
    _draw_pvalues(axes, {name: pvalues[name] for name in shown}, result.alpha, "adjusted p-value")
    more = f", {len(shown)} of {len(order):,}" if len(order) > len(shown) else ""
    axes.set_title(f"Smallest p-values of columns{more}", loc="left")
    return plain(axes)


def _draw_pvalues(axes: Axes, pvalues: Mapping[str, float], alpha: float, what: str) -> None:
    """Draw bars of −log₁₀ p with the level; the axis has the p-values themselves."""
    heights = [-math.log10(max(p, 1e-300)) for p in pvalues.values()]
    colours = [COLOUR_STATISTIC if p <= alpha else COLOUR_NULL for p in pvalues.values()]
    axes.barh(range(len(pvalues)), heights, color=colours, height=0.7)
    name_rows(axes, list(pvalues))
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


def draw_volcano(axes: Axes, volcano: Volcano, labels: tuple[str, str]) -> Axes:
    """Draw −log₁₀ of the unadjusted p-value of each column over its effect.

    Significant columns have the colour and the shape of the sample with the larger values; hollow
    ones have p-values from a fitted tail.
    """
    heights = -np.log10(np.maximum(volcano.pvalues, 1e-300))
    rest = ~volcano.significant
    axes.scatter(
        volcano.effects[rest], heights[rest], s=9, color=COLOUR_NULL, linewidths=0, alpha=0.6
    )
    for sign, (colour, marker) in zip((1, -1), SIDES, strict=True):
        of_side = volcano.significant & (np.sign(volcano.effects) == sign)
        for hollow in (False, True):
            some = of_side & (volcano.approximate == hollow)
            axes.scatter(
                volcano.effects[some],
                heights[some],
                s=18,
                marker=marker,
                facecolors="none" if hollow else colour,
                edgecolors=colour,
                linewidths=0.9,
            )
    axes.margins(x=0.25)
    axes.set_ylim(bottom=0.0)
    placed: list[tuple[float, float]] = []
    for k in volcano.labelled:
        left = volcano.effects[k] < 0
        # A name that would lie on another one is left out.
        x, y = axes.transAxes.inverted().transform(
            axes.transData.transform((volcano.effects[k], heights[k]))
        )
        if any(abs(x - a) < NAME_WIDTH and abs(y - b) < NAME_HEIGHT for a, b in placed):
            continue
        placed.append((float(x), float(y)))
        axes.annotate(
            literal(short(volcano.names[k], 20)),
            (volcano.effects[k], heights[k]),
            xytext=(-4 if left else 4, 2),
            textcoords="offset points",
            ha="right" if left else "left",
            fontsize=7,
        )
    axes.axvline(0.0, color=COLOUR_NULL, linestyle=":", linewidth=1.0)
    x, y = (literal(name) for name in _legend_names(labels))
    axes.set_xlabel(f"{volcano.measure}, {x} against {y}", fontsize=8)
    axes.set_ylabel("−log₁₀ p (unadjusted)", fontsize=8)
    n_significant = int(volcano.significant.sum())
    axes.set_title(f"{n_significant:,} of {len(volcano.names):,} columns significant", loc="left")
    axes.tick_params(labelsize=8)
    return plain(axes)


def draw_love(axes: Axes, love: Love, labels: tuple[str, str]) -> Axes:
    """Draw standardised mean differences with their intervals, the largest on top.

    Differences of categorical columns have no sign: grey squares.
    """
    rows = np.arange(len(love.names))
    sides = [(love.signed & (love.effects[0] > 0), SIDES[0])]
    sides += [(love.signed & (love.effects[0] <= 0), SIDES[1]), (~love.signed, ("#666666", "s"))]
    for some, (colour, marker) in sides:
        effects = love.effects[:, some]
        axes.hlines(rows[some], effects[1], effects[2], color=colour, linewidth=1.0, alpha=0.7)
        axes.scatter(effects[0], rows[some], s=20, color=colour, marker=marker, zorder=3)
    for end in (-LITTLE, LITTLE):
        axes.axvline(end, color=COLOUR_NULL, linestyle="--", linewidth=0.9)
    axes.axvline(0.0, color=COLOUR_NULL, linestyle=":", linewidth=1.0)
    name_rows(axes, love.names)
    x, y = (literal(name) for name in _legend_names(labels))
    axes.set_xlabel(f"SMD, {x} against {y} (dashed: ±{LITTLE:g})", fontsize=8)
    more = f", {len(love.names)} of {love.n_columns:,}" if love.n_columns > len(love.names) else ""
    axes.set_title(f"Standardised mean differences{more}", loc="left")
    axes.tick_params(axis="x", labelsize=8)
    return plain(axes)


def draw_embedding(axes: Axes, embedding: Embedding, labels: tuple[str, str]) -> Axes:
    """Draw the rows of both samples on the field of the witness function.

    The field takes the colour of the sample that prevails; a dashed line runs where neither
    does. The samples differ in shape as well as in colour.
    """
    _draw_field(axes, embedding)
    sides = ((embedding.x, COLOUR_X, "o"), (embedding.y, COLOUR_Y, "^"))
    for (positions, colour, marker), label in zip(sides, labels, strict=True):
        axes.plot(
            positions[:, 0],
            positions[:, 1],
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


def draw_map(axes: Axes, view: DensityMap) -> Axes:
    """Draw where each sample is denser, and the regions that a finding reports."""
    height = float(np.abs(view.difference).max()) or 1.0
    if len(view.names) == 1:
        middle = (view.edges[0][1:] + view.edges[0][:-1]) / 2
        axes.fill_between(middle, np.maximum(view.difference, 0), color=COLOUR_X, linewidth=0)
        axes.fill_between(middle, np.minimum(view.difference, 0), color=COLOUR_Y, linewidth=0)
        axes.axhline(0.0, color="black", linewidth=0.6)
        axes.set_yticks([])
    else:
        colours = LinearSegmentedColormap.from_list("samples", [COLOUR_Y, "white", COLOUR_X])
        shades: dict[str, Any] = {
            "cmap": colours,
            "norm": Normalize(-height, height),
            "rasterized": True,
        }
        axes.pcolormesh(*view.edges, view.difference, **shades)
        axes.set_ylabel(literal(short(view.names[1], 24)), fontsize=8)
    for region in view.regions:
        ends: list[Any] = [region.ranges[name] for name in view.names]
        (left, right), (low, high) = ends if len(ends) == 2 else (ends[0], axes.get_ylim())
        frame = Rectangle((left, low), right - left, high - low, fill=False, linewidth=0.9)
        axes.add_patch(frame)
    axes.set_xlabel(literal(short(view.names[0], 30)), fontsize=8)
    axes.locator_params(axis="x", nbins=4)
    axes.tick_params(labelsize=7)
    return plain(axes)


def draw_propensity(axes: Axes, result: TestResult) -> Axes:
    """Draw how the propensities of the rows of both samples are distributed."""
    design = result.held_out.design
    assert design is not None
    assert design.adjustment is not None
    bins = np.linspace(0.0, 1.0, 31).tolist()
    sides = zip(SIDES, _legend_names(result.labels), design.adjustment.propensities, strict=True)
    for (colour, _), name, own in sides:
        axes.hist(own, bins=bins, color=colour, alpha=0.55, label=literal(name))
    axes.set_xlabel("propensity given the covariates", fontsize=8)
    axes.set_ylabel("rows", fontsize=8)
    axes.set_title("Overlap of the covariates", loc="left")
    axes.legend(fontsize=8, frameon=False)
    axes.tick_params(labelsize=8)
    return plain(axes)


DRAWN_BY_RESULT = {
    "weights": draw_weights,
    "null": draw_null,
    "findings": draw_findings,
    "families": draw_families,
    "columns": draw_columns,
    "propensity": draw_propensity,
}


def draw_panel(
    result: TestResult,
    what: str,
    shown: Embedding | Stability | Marginal | PairView | Volcano | Love | None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one panel, and what was computed for it, on the axes given or on new ones."""
    tall = {"figsize": (5.6, 1.2 + 0.19 * len(shown.names))} if isinstance(shown, Love) else {}
    axes = new_axes(**tall) if ax is None else ax
    if isinstance(shown, Embedding):
        return draw_embedding(axes, shown, result.labels)
    if isinstance(shown, Stability):
        return draw_stability(axes, shown)
    if isinstance(shown, Volcano):
        return draw_volcano(axes, shown, result.labels)
    if isinstance(shown, Love):
        return draw_love(axes, shown, result.labels)
    if shown is not None:
        return draw_view(axes, shown, result.labels)
    return DRAWN_BY_RESULT[what](axes, result)
