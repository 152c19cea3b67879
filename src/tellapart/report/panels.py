"""The figure of a result, and its panels one by one: which drawing shows what was computed."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tellapart.errors import InputError
from tellapart.report.drawing import new_axes
from tellapart.report.plots import (
    draw_embedding,
    draw_marginal,
    draw_null,
    draw_result,
    draw_stability,
    draw_weights,
)
from tellapart.report.scan_plots import (
    draw_columns,
    draw_crosstab,
    draw_families,
    draw_findings,
    draw_scan,
    draw_scatter,
)
from tellapart.selection.stability import Stability
from tellapart.testing.embedding import Embedding
from tellapart.testing.marginals import Marginal
from tellapart.testing.pairs import Crosstab, PairView, Scatter
from tellapart.testing.result import TestResult

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
