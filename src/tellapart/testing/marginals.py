"""One column in both samples: the heights a figure of it shows, and the numbers beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.samples import Samples
from tellapart.effects.raw_columns import RawColumns

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
        first, rest = order[: MOST_BARS - 1], order[MOST_BARS - 1 :]
        labels = [*(labels[i] for i in first), "other"]
        shares_x = np.append(shares_x[first], shares_x[rest].sum())
        shares_y = np.append(shares_y[first], shares_y[rest].sum())
    return Marginal(name, tuple(labels), np.zeros(0), shares_x, shares_y)


def _edges(pooled: FloatArray) -> FloatArray:
    """Return common bin edges; a few far values go to the outer bins, not the whole width."""
    low, high = np.quantile(pooled, [0.005, 0.995])
    if not high > low:
        low, high = float(pooled.min()), float(pooled.max())
    n_bins = min(max(round(2.0 * pooled.size ** (1 / 3)), 8), 40)
    # Values that differ in their last digits only leave room for fewer bins: none is empty.
    return np.unique(np.linspace(low, high, n_bins + 1))
