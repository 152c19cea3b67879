"""The report's view of both samples in two dimensions: the figure and what it says."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from tellapart.report.figures import embedding_svg
from tellapart.report.words import percent
from tellapart.testing.embedding import Embedding
from tellapart.testing.result import TestResult


@dataclass(frozen=True)
class View:
    """The figure, what its two dimensions are, and on which side of the witness the rows lie."""

    figure: Markup
    dimensions: str
    sides: str


def draw_view(embedding: Embedding, result: TestResult) -> View:
    """Return the view of an embedding, drawn and in words."""
    dimensions, sides = describe_dimensions(embedding, result), describe_sides(embedding, result)
    title = f"{result.labels[0]} and {result.labels[1]} in two dimensions"
    figure = embedding_svg(embedding, result.labels, title, f"{dimensions} {sides}")
    return View(figure, dimensions, sides)


def describe_dimensions(embedding: Embedding, result: TestResult) -> str:
    """Say what the two dimensions are, and how many rows are shown."""
    size = result.selection.support.size
    far = f" Rows outside the frame: {embedding.outside}." if embedding.outside else ""
    rows = " and ".join(
        f"{len(places):,} of {n:,} rows of {label}"
        for places, n, label in zip(
            (embedding.x, embedding.y), result.n_test, result.labels, strict=True
        )
    )
    if embedding.method == "variables":
        axes = "the selected variable" if size == 1 else "the two selected variables"
        more = " The vertical position of a point has no meaning." if size == 1 else ""
        return f"{rows[0].upper()}{rows[1:]}, by {axes}.{more}{far}"
    share = percent(embedding.explained or 0.0)
    apart = " Points at the same place are jittered." if embedding.jittered else ""
    return (
        f"{rows[0].upper()}{rows[1:]}, in the plane that explains {share} of the variance of the "
        f"{size} selected variables (principal components; each variable is divided by its robust "
        f"SD and multiplied by its weight).{apart}{far}"
    )


def describe_sides(embedding: Embedding, result: TestResult) -> str:
    """Say how many rows of each sample lie where their own sample prevails."""
    x, y = result.labels
    own_x, own_y = embedding.own_side
    return (
        f"Of {len(embedding.x):,} rows of {x}, {own_x:,} lie where {x} is denser; "
        f"of {len(embedding.y):,} rows of {y}, {own_y:,} where {y} is."
    )
