"""The page of a monitor: the answer so far, its figure, and every check in a table."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from tellapart import __version__
from tellapart.monitor.check_result import CheckRecord
from tellapart.monitor.reference_monitor import ReferenceMonitor
from tellapart.monitor.settings import USUAL
from tellapart.report.figures import inline_svg
from tellapart.report.plots import (
    COLOUR_NULL,
    COLOUR_STATISTIC,
    COLOUR_X,
    COLOUR_Y,
    ShownFigure,
    literal,
    plain,
    short,
)
from tellapart.report.templates import get_template
from tellapart.results.result import write_arguments

# The history of a monitor as a figure: e-values and p-values over the checks.


INCHES = (6.4, 4.4)
# Labels that find room below the axis, and beside the marks of alarms.
MOST_TICKS, MOST_NAMED, LABEL_WIDTH = 8, 6, 18
SMALLEST_CAPITAL = 1e-6


def draw_history(monitor: ReferenceMonitor) -> Figure:
    """Return a figure with a panel of the e-values, if there are any, and one of the p-values."""
    history = monitor.history
    bets = any(record.capital is not None for record in history)
    figure = ShownFigure(figsize=INCHES, layout="constrained")
    panels = figure.subplots(2 if bets else 1, 1, sharex=True, squeeze=False)[:, 0]
    if bets:
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
            literal(short(record.label, LABEL_WIDTH)),
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
        labels = [literal(short(record.label, LABEL_WIDTH)) for record in history]
        axes.set_xticks([record.number for record in history], labels, fontsize=8)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))


MOST_CHECKS = 500
"""Checks in the table: the latest."""
MOST_FINDINGS = 6


def render_monitor(monitor: ReferenceMonitor, reproduce: str | None = None) -> str:
    """Return the page of a monitor, which needs nothing else; every text is escaped."""
    return get_template("monitor.html.j2").render(
        monitor=monitor,
        figure=_figure(monitor),
        checks=monitor.history[: -MOST_CHECKS - 1 : -1],
        most_findings=MOST_FINDINGS,
        facts=_facts(monitor),
        version=__version__,
        reproduce=_calls(monitor) if reproduce is None else reproduce,
    )


def _figure(monitor: ReferenceMonitor) -> Markup | None:
    if not monitor.history:
        return None
    title = "Evidence over the checks"
    return inline_svg(draw_history(monitor), "history", title, monitor.verdict)


def _facts(monitor: ReferenceMonitor) -> list[tuple[str, str]]:
    settings = monitor.settings
    facts = [
        ("Reference", f"{monitor.n_rows:,} rows, {len(monitor.names):,} columns"),
        ("False alarms", monitor.promise),
        ("Compared with", _compared(monitor)),
        ("Level α", f"{settings.test.alpha:g}"),
        ("Permutations", f"{settings.test.n_permutations:,}, more where needed"),
        ("Seed", str(settings.seed)),
    ]
    if settings.smallest_effect is not None:
        facts.insert(4, ("Smallest effect of interest", str(settings.smallest_effect)))
    return facts


def _compared(monitor: ReferenceMonitor) -> str:
    if monitor.settings.n_checks is not None:
        return "the reference alone"
    return "the reference and the batches since it, or since the last alarm"


def _calls(monitor: ReferenceMonitor) -> str:
    given = write_arguments(monitor.settings.to_dict(), USUAL)
    return (
        "import tellapart as ta\n\n"
        f"monitor = ta.compare_to_reference(reference{given})\n"
        "for label, batch in batches:\n"
        "    monitor.check(batch, label=label)\n"
        'monitor.to_html("monitor.html")'
    )
