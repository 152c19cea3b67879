"""The tables of some columns, before they are put one after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.yes_no import place_of_yes
from tellapart.scan.cells import CellScores, cut_columns, score_cells
from tellapart.scan.units import Units, measure_units

# Levels of a categorical column with a score of their own; the others share one.
MOST_LEVELS = 20
# Edges of a column of which not all rows were drawn.
MOST_EDGES = 2_048
# A value is frequent where it makes up at least this share of the rows.
LEAST_ATOM = 0.02

Singles = NDArray[np.float32]


@dataclass(frozen=True)
class TablePart:
    """Tables of some score columns: their edges and cells follow each other.

    `n_edges` and `n_cells` say how many belong to each.
    """

    column: list[int]
    level: list[str | None]
    told_by: list[str | None]
    edges: FloatArray
    n_edges: IntArray
    cells: Singles
    n_cells: IntArray
    gaps: bool
    units: Units
    frequent: FloatArray


def numeric_part(
    own: FloatArray, places: IntArray, low: FloatArray, high: FloatArray, *, complete: bool
) -> TablePart:
    """Return the tables of columns, one per row of `own`, which is sorted in place."""
    units = measure_units(own.T)
    own.sort(axis=1)
    # A column of which the rows drawn show one value only: its extremes stand for the others.
    still = own[:, 0] == own[:, -1]
    if still.any():
        own[still, 0], own[still, -1] = low[places[still]], high[places[still]]
    cut = cut_columns(own, own.shape[1] if complete else MOST_EDGES, gaps=not complete)
    normal = special.ndtri(cut.quantile)
    least = max(5, LEAST_ATOM * own.shape[1])
    cells, frequent = score_cells(cut, normal, least)
    return TablePart(
        column=places.tolist(),
        level=[None] * places.size,
        told_by=[None] * places.size,
        edges=cut.edges,
        n_edges=np.diff(cut.edge_start),
        cells=cells,
        n_cells=np.diff(cut.cell_start),
        gaps=not complete,
        units=units,
        frequent=frequent,
    )


def level_part(
    codes: FloatArray, column: int, labels: tuple[str, ...], *, complete: bool
) -> TablePart:
    """Return the indicators of the levels that occur; one of two levels says all."""
    present, counts = np.unique(codes, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    named, rare = order[:MOST_LEVELS], order[MOST_LEVELS:]
    if present.size == 2:
        named = named[:1]
    names = [labels[int(present[i])] for i in named]
    chosen = [np.arange(present.size) == i for i in named]
    if rare.size > 1:
        chosen.append(np.isin(np.arange(present.size), rare))
        names.append(f"{rare.size} rare levels")
    gaps = not complete
    cells = [
        CellScores.of_level(indicator.astype(np.float64), counts.astype(np.float64), gaps)
        for indicator in chosen
    ]
    size = len(names)
    told_by: list[str | None] = [None] * size
    if present.size == 2:
        pair = [labels[int(code)] for code in present]
        yes = place_of_yes(pair)
        told_by = [None if yes is None or pair[yes] == names[0] else pair[yes]]
    return TablePart(
        column=[column] * size,
        level=list(names),
        told_by=told_by,
        edges=np.tile(present.astype(np.float64), size),
        n_edges=np.full(size, present.size),
        cells=np.concatenate(cells),
        n_cells=np.array([own.shape[0] for own in cells]),
        gaps=gaps,
        units=Units.of_levels(size),
        frequent=np.full(size, np.nan),
    )
