"""What all figures share: the colours, and text from data drawn as it is."""

from __future__ import annotations

from matplotlib.axes import Axes

from tellapart.text import safe, safe_lines

# Okabe and Ito's palette: told apart with every common form of colour blindness.
COLOUR_X = "#0072B2"
COLOUR_Y = "#D55E00"
COLOUR_NULL = "#999999"
COLOUR_STATISTIC = "#009E73"


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
