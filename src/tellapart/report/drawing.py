"""What all figures share: the colours, and text from data drawn as it is."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tellapart.text import safe, safe_lines

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
