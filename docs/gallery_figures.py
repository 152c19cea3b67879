"""Figures of the gallery: those that a program holds, without pyplot."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

SEEN = "figures that are shown already"


def save_figures(block: Any, variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Save the figures that a block of a program has made, and return what shows them.

    A figure is that of any variable that holds one or axes of it, such as `result.plot()`.
    """
    held = variables["example_globals"]
    seen = variables.setdefault(SEEN, [])
    paths = []
    for value in list(held.values()):
        figure = value.figure if isinstance(value, Axes) else value
        if isinstance(figure, Figure) and not any(figure is other for other in seen):
            seen.append(figure)
            path = next(variables["image_path_iterator"])
            figure.savefig(path, dpi=100, bbox_inches="tight")
            paths.append(path)
    return str(figure_rst(paths, settings["src_dir"]))
