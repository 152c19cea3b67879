"""One column in both samples: the heights a figure of it shows, and the numbers beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from tellapart.arrays import FloatArray
from tellapart.data.samples import Samples, draw_rows
from tellapart.effects.raw_columns import RawColumns
from tellapart.effects.regions import Region

MOST_BARS = 8
MOST_CATEGORIES = 6
FEW_VALUES = 12
"""Whole numbers of up to this many values are bars, one for each."""


@dataclass(frozen=True)
class Marginal:
    """One variable in both samples: shares per bar, or densities between bin edges.

    `bars` holds the labels of bars, empty for a histogram; `edges` the bin edges, empty for
    bars. `x` and `y` are the heights.
    """

    name: str
    bars: tuple[str, ...]
    edges: FloatArray
    x: FloatArray
    y: FloatArray


@dataclass(frozen=True)
class Moments:
    """Mean, median and standard deviation of a numeric column of one sample."""

    mean: float
    median: float
    deviation: float


@dataclass(frozen=True)
class Shares:
    """Shares of the categories of one sample; the rarer ones of many are counted and summed."""

    named: tuple[tuple[str, float], ...]
    n_others: int = 0
    others: float = 0.0


@dataclass(frozen=True)
class ColumnSummary:
    """One column in numbers, of both samples.

    Categories come in the same order for both: the commonest of all rows first.
    """

    name: str
    x: Moments | Shares
    y: Moments | Shares


def compute_marginal(samples: Samples, column: int) -> Marginal:
    """Return the heights to draw for one column of two samples."""
    name = samples.names[column]
    x, y = _present(samples, column)
    pooled = np.concatenate([x, y])
    values = np.unique(pooled)
    if samples.kinds[column] == "categorical":
        labels = samples.categories[name]
        return _bars(name, values, [labels[int(v)] for v in values], x, y)
    whole = bool(np.all(values == np.round(values)))
    if values.size <= FEW_VALUES and (whole or values.size <= 2):
        return _bars(name, values, [f"{v:g}" for v in values], x, y, keep_all=True)
    edges = _edges(pooled)
    inside_x, inside_y = np.clip(x, edges[0], edges[-1]), np.clip(y, edges[0], edges[-1])
    return Marginal(
        name=name,
        bars=(),
        edges=edges,
        x=np.histogram(inside_x, edges, density=True)[0],
        y=np.histogram(inside_y, edges, density=True)[0],
    )


def summarise_column(samples: Samples, column: int) -> ColumnSummary:
    """Return mean, median and standard deviation, or the proportion of each category or flag.

    Missing values take no part.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.array([[1.0, 0], [2.0, 1], [6.0, 1]]), np.array([[3.0, 1], [5.0, 1]])
    >>> kinds, labels = ("numeric", "categorical"), {"arm": ("drug", "placebo")}
    >>> samples = Samples(x, y, ("age", "arm"), kinds, labels)
    >>> summarise_column(samples, 0).x
    Moments(mean=3.0, median=2.0, deviation=2.6457513110645907)
    >>> summarise_column(samples, 1).y.named
    (('placebo', 1.0), ('drug', 0.0))
    """
    name = samples.names[column]
    x, y = _present(samples, column)
    if samples.kinds[column] == "numeric":
        if not _is_flag(x, y):
            return ColumnSummary(name, _moments(x), _moments(y))
        codes, labels = np.array([1.0, 0.0]), ["1", "0"]
    else:
        codes, counts = np.unique(np.concatenate([x, y]), return_counts=True)
        codes = codes[np.argsort(-counts, kind="stable")]
        labels = [samples.categories[name][int(code)] for code in codes]
    return ColumnSummary(name, _shares(x, codes, labels), _shares(y, codes, labels))


def _present(samples: Samples, column: int) -> tuple[FloatArray, FloatArray]:
    """Return the values of a column that are not missing."""
    x, y = (side[:, 0] for side in RawColumns(samples).values([column]))
    return x[~np.isnan(x)], y[~np.isnan(y)]


def _is_flag(x: FloatArray, y: FloatArray) -> bool:
    """Return whether all values are 0 or 1."""
    return all(bool(np.isin(side, (0.0, 1.0)).all()) for side in (x, y))


def _moments(values: FloatArray) -> Moments:
    if values.size == 0:
        return Moments(math.nan, math.nan, math.nan)
    deviation = float(values.std(ddof=1)) if values.size > 1 else math.nan
    return Moments(float(values.mean()), float(np.median(values)), deviation)


def _shares(values: FloatArray, codes: FloatArray, labels: list[str]) -> Shares:
    few = len(labels) <= MOST_CATEGORIES
    shown = len(labels) if few else MOST_CATEGORIES - 1
    n = max(values.size, 1)
    shares = [float(np.count_nonzero(values == code) / n) for code in codes[:shown]]
    others = 0.0 if few else float(np.count_nonzero(np.isin(values, codes[shown:])) / n)
    named = tuple(zip(labels[:shown], shares, strict=True))
    return Shares(named, len(labels) - shown, others)


def _bars(
    name: str,
    values: FloatArray,
    labels: list[str],
    x: FloatArray,
    y: FloatArray,
    *,
    keep_all: bool = False,
) -> Marginal:
    """Return shares per value; the rarest of many categories are put together."""
    counts_x = np.array([np.count_nonzero(x == v) for v in values])
    counts_y = np.array([np.count_nonzero(y == v) for v in values])
    shares_x, shares_y = counts_x / x.size, counts_y / y.size
    if not keep_all and values.size > MOST_BARS:
        order = np.argsort(-(shares_x + shares_y), kind="stable")
        first, others = order[: MOST_BARS - 1], order[MOST_BARS - 1 :]
        labels = [*(labels[i] for i in first), "other"]
        shares_x = np.append(shares_x[first], shares_x[others].sum())
        shares_y = np.append(shares_y[first], shares_y[others].sum())
    return Marginal(name, tuple(labels), np.zeros(0), shares_x, shares_y)


def _edges(pooled: FloatArray) -> FloatArray:
    """Return common bin edges; a few far values go to the outer bins, not the whole width."""
    low, high = np.quantile(pooled, [0.005, 0.995])
    if not high > low:
        low, high = float(pooled.min()), float(pooled.max())
    n_bins = min(max(round(2.0 * pooled.size ** (1 / 3)), 8), 40)
    # Values that differ in their last digits only leave room for fewer bins: none is empty.
    return np.unique(np.linspace(low, high, n_bins + 1))


# Two columns together in both samples: points, or proportions of pairs of categories.


MOST_ROWS = 300
MOST_CELLS = 8
MOST_LEVELS = 6
# Rows of equal values are jittered by up to this share of the distance to the next value.
JITTER = 0.3
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
        The limits of the axes; a few far rows are outside.
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

    `cells` holds (category of the first, of the second, share in x, share in y), `n_cells` is the
    number of pairs of categories.
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
        for masks, where in _conditions(samples, third)
        if masks[0].any() and masks[1].any()
    )


def _conditions(samples: Samples, column: int) -> list[tuple[tuple[Mask, Mask], str]]:
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
    drawn = x[draw_rows(len(x), MOST_ROWS, rng)], y[draw_rows(len(y), MOST_ROWS, rng)]
    pooled = np.concatenate(drawn)
    positions, limits, ticks = [], [], []
    for axis, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        labels = samples.categories[name] if kind == "categorical" else ()
        values, shown = _positions(pooled[:, axis], labels)
        values_drawn = _jittered(values, rng, whole=bool(shown))
        positions.append(values_drawn)
        ticks.append(shown)
        limits.append((-0.6, len(shown) - 0.4) if shown else _limits(values_drawn))
    points = np.column_stack(positions)
    return Scatter(
        names=names,
        x=points[: len(drawn[0])],
        y=points[len(drawn[0]) :],
        limits=(limits[0], limits[1]),
        ticks=(ticks[0], ticks[1]),
        n_rows=(len(x), len(y)),
        where=where,
    )


def _positions(values: FloatArray, labels: Sequence[str]) -> tuple[FloatArray, tuple[str, ...]]:
    """Return categories as positions 0, 1, … with their labels, the rare ones together."""
    if not labels:
        return values, ()
    codes, counts = np.unique(values, return_counts=True)
    shown = codes
    if codes.size > MOST_LEVELS:
        shown = codes[np.argsort(-counts, kind="stable")][: MOST_LEVELS - 1]
    position_of = {float(code): float(i) for i, code in enumerate(shown)}
    positions = np.array([position_of.get(float(value), float(len(shown))) for value in values])
    other = ("other",) if codes.size > shown.size else ()
    return positions, (*(labels[int(code)] for code in shown), *other)


def _jittered(values: FloatArray, rng: np.random.Generator, *, whole: bool) -> FloatArray:
    """Jitter rows where a few values hide them behind each other."""
    present = np.unique(values)
    if not whole and (present.size > FEW_VALUES or present.size < 2):
        return values
    step = 1.0 if whole else float(np.diff(present).min())
    return np.asarray(values + step * JITTER * rng.uniform(-1.0, 1.0, values.size))


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


# Where one sample is denser than the other: a map of one or two numeric columns.


MAP_CELLS = {1: 200, 2: 48}
SMOOTHING = {1: 3.0, 2: 1.5}
"""Deviation of the Gaussian that smooths a map, in cells."""


@dataclass(frozen=True, eq=False)
class DensityMap:
    """How much denser the first sample is than the second, by one or two numeric columns.

    Attributes
    ----------
    names : tuple of str
        The columns: across, and up where there are two.
    edges : tuple of arrays
        The edges of the cells of each column.
    difference : array
        Proportion of the rows of the first sample less that of the second, smoothed, cell by cell;
        of two columns up × across.
    regions : tuple of Region
        The regions that the finding reports.
    """

    names: tuple[str, ...]
    edges: tuple[FloatArray, ...]
    difference: FloatArray
    regions: tuple[Region, ...]


def compute_map(
    samples: Samples, columns: Sequence[int], regions: tuple[Region, ...]
) -> DensityMap | None:
    """Return the map of one or two columns; None where they are not numeric, or are more."""
    size = len(columns)
    if size not in MAP_CELLS or any(samples.kinds[c] == "categorical" for c in columns):
        return None
    sides = [samples.x[:, list(columns)], samples.y[:, list(columns)]]
    sides = [side[~np.isnan(side).any(axis=1)] for side in sides]
    pooled = np.concatenate(sides)
    edges = tuple(np.linspace(*_limits(pooled[:, q]), MAP_CELLS[size] + 1) for q in range(size))
    shares = [np.histogramdd(side, edges)[0] / max(len(side), 1) for side in sides]
    difference = gaussian_filter(shares[0] - shares[1], SMOOTHING[size], mode="constant")
    names = tuple(samples.names[c] for c in columns)
    return DensityMap(names, edges, difference.T, regions)
