"""The report's view of both samples in two dimensions: the figure and what it says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from tellapart.report.figures import embedding_svg
from tellapart.report.words import percent
from tellapart.testing.embedding import Embedding, compute_embedding
from tellapart.testing.result import TestResult

MOST_POINTS = 800
MOST_VARIABLES = 200
"""Beyond, two dimensions say nothing of so many."""


@dataclass(frozen=True)
class View:
    """The figure, what its two dimensions are, and on which side of the witness the rows lie."""

    figure: Markup
    dimensions: str
    sides: str


def view_of(result: TestResult) -> View | None:
    """Return the view; None without a kernel, or with more variables than a view can hold."""
    if result.kernel is None or not 0 < result.selection.support.size <= MOST_VARIABLES:
        return None
    embedding = compute_embedding(result, n_points=MOST_POINTS)
    dimensions, sides = describe_dimensions(embedding, result), describe_sides(embedding, result)
    title = f"{result.labels[0]} and {result.labels[1]} in two dimensions"
    figure = embedding_svg(embedding, result.labels, title, f"{dimensions} {sides}")
    return View(figure, dimensions, sides)


def describe_dimensions(embedding: Embedding, result: TestResult) -> str:
    """Say what the two dimensions are, and how many rows are shown."""
    size = result.selection.support.size
    far = f" Rows too far away for the frame: {embedding.outside}." if embedding.outside else ""
    rows = " and ".join(
        f"{len(places):,} of {n:,} rows of {label}"
        for places, n, label in zip(
            (embedding.x, embedding.y), result.n_test, result.labels, strict=True
        )
    )
    if embedding.method == "variables":
        axes = "the chosen variable" if size == 1 else "the two chosen variables"
        more = " The height of a point means nothing." if size == 1 else ""
        return f"{rows[0].upper()}{rows[1:]}, by {axes}.{more}{far}"
    share = percent(embedding.explained or 0.0)
    apart = " Rows at equal places are drawn a little apart." if embedding.jittered else ""
    return (
        f"{rows[0].upper()}{rows[1:]}, in the plane that holds {share} of the variance of the "
        f"{size} chosen variables (principal components; each variable is divided by its spread "
        f"and multiplied by its weight).{apart}{far}"
    )


def describe_sides(embedding: Embedding, result: TestResult) -> str:
    """Say how many rows of each sample lie where their own sample prevails."""
    x, y = result.labels
    right_x = int(np.count_nonzero(embedding.witness_x > 0))
    right_y = int(np.count_nonzero(embedding.witness_y < 0))
    return (
        f"Of {len(embedding.x):,} rows of {x}, {right_x:,} lie where {x} prevails; "
        f"of {len(embedding.y):,} rows of {y}, {right_y:,} where {y} does."
    )
