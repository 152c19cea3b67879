"""Two columns together in both samples: points to draw, or shares of pairs of categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import FloatArray
from tellapart.data.samples import Samples, draw_rows
from tellapart.testing.marginals import FEW_VALUES

MOST_ROWS = 300
MOST_CELLS = 8
MOST_LEVELS = 6
# Rows of equal values are drawn apart by up to this share of the distance to the next value.
APART = 0.3
MARGIN = 0.06
FAR = (0.005, 0.995)

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Scatter:
    """Rows of both samples by two columns; at random some of them where there are many.

    Attributes
    ----------
    names : pair of str
        The columns across and up.
    x, y : array of shape (k, 2)
        Where the rows of each sample are drawn.
    limits : pair of pairs of float
        From where to where the axes go; a few far rows are left out.
    ticks : pair of tuples of str
        The categories of each axis, at 0, 1, …; empty for numbers.
    n_rows : pair of int
        Rows of each sample that were drawn from.
    where : str
        Which rows these are; empty for all.
    """

    names: tuple[str, str]
    x: FloatArray
    y: FloatArray
    limits: tuple[tuple[float, float], tuple[float, float]]
    ticks: tuple[tuple[str, ...], tuple[str, ...]]
    n_rows: tuple[int, int]
    where: str = ""


@dataclass(frozen=True)
class Crosstab:
    """Shares of pairs of categories, those that differ most first.

    `cells` holds (category of the first, of the second, share in x, share in y), and `n_cells`
    how many pairs of categories there are.
    """

    names: tuple[str, str]
    cells: tuple[tuple[str, str, float, float], ...]
    n_cells: int
    where: str = ""


PairView = Scatter | Crosstab


def compute_pair(samples: Samples, first: int, second: int) -> PairView:
    """Return two columns of both samples: points, or shares where both are categorical.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 1.0]])
    >>> kinds, labels = ("categorical", "categorical"), {"a": ("u",), "b": ("no", "yes")}
    >>> compute_pair(Samples(x, y, ("a", "b"), kinds, labels), 0, 1).cells
    (('u', 'no', 0.5, 0.0), ('u', 'yes', 0.5, 1.0))
    """
    everything = np.ones(samples.n_x, dtype=bool), np.ones(samples.n_y, dtype=bool)
    return _pair_of(samples, (first, second), everything, "")


def compute_triple(samples: Samples, columns: Sequence[int]) -> tuple[PairView, ...]:
    """Return the first two of three columns where the third is low, and where it is high.

    Of a categorical third column, in its two commonest categories.
    """
    first, second, third = columns
    return tuple(
        _pair_of(samples, (first, second), masks, where)
        for masks, where in _parts(samples, third)
        if masks[0].any() and masks[1].any()
    )


def _parts(samples: Samples, column: int) -> list[tuple[tuple[Mask, Mask], str]]:
    name = samples.names[column]
    x, y = samples.x[:, column], samples.y[:, column]
    pooled = np.concatenate([x, y])
    if samples.kinds[column] == "categorical":
        labels = samples.categories[name]
        codes, counts = np.unique(pooled, return_counts=True)
        common = codes[np.argsort(-counts, kind="stable")][:2]
        return [((x == c, y == c), f"where {name} is {labels[int(c)]}") for c in common]
    middle = float(np.median(pooled))
    return [
        ((x <= middle, y <= middle), f"where {name} is at most {middle:.4g}, its median"),
        ((x > middle, y > middle), f"where {name} is above {middle:.4g}, its median"),
    ]


def _pair_of(
    samples: Samples, columns: tuple[int, int], masks: tuple[Mask, Mask], where: str
) -> PairView:
    index = np.array(columns)
    x, y = samples.x[:, index][masks[0]], samples.y[:, index][masks[1]]
    names = samples.names[columns[0]], samples.names[columns[1]]
    kinds = [samples.kinds[column] for column in columns]
    if kinds == ["categorical", "categorical"]:
        return _crosstab(names, [samples.categories[name] for name in names], x, y, where)
    rng = np.random.default_rng(0)  # the same rows each time a figure is drawn
    parts = x[draw_rows(len(x), MOST_ROWS, rng)], y[draw_rows(len(y), MOST_ROWS, rng)]
    pooled = np.concatenate(parts)
    places, limits, ticks = [], [], []
    for axis, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        labels = samples.categories[name] if kind == "categorical" else ()
        values, shown = _placed(pooled[:, axis], labels)
        spread_out = _apart(values, rng, whole=bool(shown))
        places.append(spread_out)
        ticks.append(shown)
        limits.append((-0.6, len(shown) - 0.4) if shown else _limits(spread_out))
    points = np.column_stack(places)
    return Scatter(
        names=names,
        x=points[: len(parts[0])],
        y=points[len(parts[0]) :],
        limits=(limits[0], limits[1]),
        ticks=(ticks[0], ticks[1]),
        n_rows=(len(x), len(y)),
        where=where,
    )


def _placed(values: FloatArray, labels: Sequence[str]) -> tuple[FloatArray, tuple[str, ...]]:
    """Return categories as places 0, 1, … with their labels, the rare ones together."""
    if not labels:
        return values, ()
    codes, counts = np.unique(values, return_counts=True)
    shown = codes
    if codes.size > MOST_LEVELS:
        shown = codes[np.argsort(-counts, kind="stable")][: MOST_LEVELS - 1]
    place = {float(code): float(i) for i, code in enumerate(shown)}
    placed = np.array([place.get(float(value), float(len(shown))) for value in values])
    rest = ("other",) if codes.size > shown.size else ()
    return placed, (*(labels[int(code)] for code in shown), *rest)


def _apart(values: FloatArray, rng: np.random.Generator, *, whole: bool) -> FloatArray:
    """Draw rows apart where a few values hide them behind each other."""
    present = np.unique(values)
    if not whole and (present.size > FEW_VALUES or present.size < 2):
        return values
    step = 1.0 if whole else float(np.diff(present).min())
    return np.asarray(values + step * APART * rng.uniform(-1.0, 1.0, values.size))


def _limits(values: FloatArray) -> tuple[float, float]:
    """Return the ends of an axis: a few far values do not squeeze the others."""
    low, high = (float(end) for end in np.quantile(values, FAR))
    if not high > low:
        low, high = float(values.min()), float(values.max())
    margin = MARGIN * (high - low) or 0.5
    return low - margin, high + margin


def _crosstab(
    names: tuple[str, str],
    labels: list[tuple[str, ...]],
    x: FloatArray,
    y: FloatArray,
    where: str,
) -> Crosstab:
    present = np.unique(np.concatenate([x, y]), axis=0)
    cells = [
        (
            labels[0][int(a)],
            labels[1][int(b)],
            float(np.mean((x == (a, b)).all(axis=1))),
            float(np.mean((y == (a, b)).all(axis=1))),
        )
        for a, b in present.tolist()
    ]
    cells.sort(key=lambda cell: -abs(cell[2] - cell[3]))
    return Crosstab(names, tuple(cells[:MOST_CELLS]), len(cells), where)
