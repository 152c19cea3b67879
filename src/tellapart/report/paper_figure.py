"""A figure for a paper: sizes with their intervals, as wide as one column of a journal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from tellapart.arguments import check_number
from tellapart.errors import InputError
from tellapart.report.drawing import short
from tellapart.report.findings import group_findings
from tellapart.report.plots import draw_weights
from tellapart.report.scan_plots import draw_effects, draw_families, effect_handles
from tellapart.scan.finding import Finding
from tellapart.testing.result import TestResult
from tellapart.writing import write_picture

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
