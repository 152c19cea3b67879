"""Batches in numbers, and how unusual each is among the others.

A batch is kept as the measures of its columns: means, standard deviations, L-skewness, proportions
of levels and of missing values, rank correlations. They depend on the rows of the batch alone. In a
pool of n batches measure f of batch i is standardised as

    z_fi = (x_fi − med_f)/√(τ_f² + v_fi),

with the median over the pool, the sampling variance v_fi within the batch, and τ_f² the variance
between batches: that of a robust spread, the larger of the MAD and the 90 % quantile of
|x_fi − med_f| (both scaled to normal data), less the median of v_fi. A measure that varies from
batch to batch must deviate more; a small batch may deviate more.

All of this is symmetric in the batches of the pool. If batches are exchangeable, the rank of any
score of the latest batch among those of all is uniform, exactly, whatever the distribution and
however many measures there are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats

from tellapart.arrays import FloatArray
from tellapart.data.column_store import columns_of, dense
from tellapart.data.samples import CodedRows
from tellapart.scan.finding_kinds import CORRELATION, LOCATION, MISSING, SHAPE, SPREAD

MOST_PAIRED = 30
"""Numeric columns whose pairs are measured: the first ones."""
MOST_LEVELS = 50
"""Levels of a column that are measured: the most frequent ones of the pool."""
NORMAL_MAD = 1.4826
NORMAL_Q90 = 1.6449
SKEWNESS_VARIANCE = 0.19
"""n times the sampling variance of L-skewness, of normal data."""
RANK_VARIANCE = 1.06
"""n − 3 times the sampling variance of Fisher's z of a rank correlation."""
SMALLEST_SD = 1e-9
"""Stands for the standard deviation of a constant column, relative to its mean or 1."""
MOST_CORRELATED = 1 - 1e-9


@dataclass(frozen=True)
class Measure:
    """A number about a batch: its kind of finding, its columns and its words."""

    kind: str
    variables: tuple[str, ...]
    measure: str


@dataclass(frozen=True)
class Layout:
    """Which measures batches have: decided by the columns of the reference.

    Attributes
    ----------
    names, kinds : tuples of str
        The columns, and whether each is "numeric" or "categorical".
    missing : bool
        Whether proportions of missing values are measured.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    missing: bool

    @cached_property
    def numeric(self) -> tuple[str, ...]:
        """The numeric columns."""
        return tuple(n for n, k in zip(self.names, self.kinds, strict=True) if k == "numeric")

    @cached_property
    def categorical(self) -> tuple[str, ...]:
        """The columns with levels."""
        return tuple(n for n, k in zip(self.names, self.kinds, strict=True) if k != "numeric")

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of columns whose correlation is measured."""
        return tuple(combinations(self.numeric[:MOST_PAIRED], 2))

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The measures of single columns, then those of pairs; proportions of levels are apart."""
        of_columns = [
            Measure(kind, (name,), words)
            for kind, words in ((LOCATION, "mean"), (SPREAD, "SD"), (SHAPE, "L-skewness"))
            for name in self.numeric
        ]
        gaps = [Measure(MISSING, (name,), "missing") for name in self.names if self.missing]
        return (
            *of_columns,
            *gaps,
            *(Measure(CORRELATION, pair, "rank correlation") for pair in self.pairs),
        )


@dataclass(frozen=True, eq=False)
class BatchSummary:
    """What is kept of a batch.

    Attributes
    ----------
    n_rows : int
        Rows of the batch.
    values, variances : arrays with an entry per measure of the layout
        SDs are logarithms and correlations Fisher's z; NaN where a measure is not defined.
    levels : mapping from str to mapping from str to float
        The proportion of each level, by column.
    """

    n_rows: int
    values: FloatArray
    variances: FloatArray
    levels: Mapping[str, Mapping[str, float]]

    @classmethod
    def of(cls, rows: CodedRows, layout: Layout) -> BatchSummary:
        """Measure the rows of a batch; missing values are NaN.

        >>> rows = CodedRows(np.array([[1.0], [2.0], [6.0]]), ("age",), ("numeric",))
        >>> layout = Layout(("age",), ("numeric",), missing=False)
        >>> BatchSummary.of(rows, layout).values.round(3)
        array([3.   , 0.973, 0.6  ])
        """
        place = {name: s for s, name in enumerate(rows.names)}

        def column(name: str) -> FloatArray:
            return dense(columns_of(rows.values, np.array([place[name]])))[:, 0]

        measured = [_moments(column(name)) for name in layout.numeric]
        found = [one[k] for k in range(3) for one in measured]
        if layout.missing:
            shares = (float(np.isnan(column(name)).mean()) for name in layout.names)
            found += [(share, math.nan) for share in shares]
        paired = layout.numeric[:MOST_PAIRED]
        if len(paired) > 1:
            found += _correlations(np.column_stack([column(name) for name in paired]))
        levels = {name: _shares(column(name), rows.categories[name]) for name in layout.categorical}
        values, variances = np.array(found, dtype=np.float64).reshape(-1, 2).T
        return cls(rows.n_rows, values, variances, levels)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "n_rows": self.n_rows,
            "values": _plain(self.values),
            "variances": _plain(self.variances),
            "levels": {name: dict(shares) for name, shares in self.levels.items()},
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], layout: Layout) -> BatchSummary:
        """Return the summary that `to_dict` was made of; ValueError if it has another layout."""
        values, variances = (
            np.array(plain[key], dtype=np.float64) for key in ("values", "variances")
        )
        fits = values.size == variances.size == len(layout.measures)
        if not fits or tuple(plain["levels"]) != layout.categorical or plain["n_rows"] < 1:
            raise ValueError("a batch does not have the measures of the reference")
        levels = {
            name: {str(level): float(share) for level, share in shares.items()}
            for name, shares in plain["levels"].items()
        }
        return cls(int(plain["n_rows"]), values, variances, levels)


def _moments(values: FloatArray) -> tuple[tuple[float, float], ...]:
    """Return mean, log SD and L-skewness, each with its sampling variance."""
    known = values[~np.isnan(values)]
    n = known.size
    if n < 2:
        return ((float(known.mean()) if n else math.nan, math.nan),) + ((math.nan, math.nan),) * 2
    mean = float(known.mean())
    centred = known - mean
    variance = float(centred @ centred) / (n - 1)
    sd = max(math.sqrt(variance), SMALLEST_SD * max(abs(mean), 1.0))
    # Twice the variance is that of a normal sample; a constant column has no kurtosis.
    kurtosis = float(np.mean((centred / sd) ** 4)) if variance > 0 else 3.0
    skewness = _l_skewness(np.sort(known)) if n > 2 else math.nan
    return (
        (mean, variance / n),
        (math.log(sd), max(kurtosis - 1, 1.0) / (4 * n)),
        (skewness, SKEWNESS_VARIANCE / n),
    )


def _l_skewness(ordered: FloatArray) -> float:
    """Return the ratio of the third to the second sample L-moment."""
    n = ordered.size
    k = np.arange(n)
    first = float(ordered.mean())
    second = float(k @ ordered) / (n * (n - 1))
    third = float((k * (k - 1)) @ ordered) / (n * (n - 1) * (n - 2))
    scale = 2 * second - first
    # Rounding may leave a scale to constant values.
    if ordered[0] == ordered[-1]:
        return math.nan
    return (6 * third - 6 * second + first) / scale


def _correlations(columns: FloatArray) -> list[tuple[float, float]]:
    """Return Fisher's z of Spearman's correlation of each pair, a missing value at the mean."""
    n = columns.shape[0]
    ranks = stats.rankdata(columns, axis=0, nan_policy="omit")
    centred = np.nan_to_num(ranks - np.nanmean(ranks, axis=0))
    lengths = np.sqrt((centred**2).sum(axis=0))
    with np.errstate(invalid="ignore", divide="ignore"):
        correlations = centred.T @ centred / np.outer(lengths, lengths)
    upper = correlations[np.triu_indices(columns.shape[1], 1)]
    z = np.arctanh(np.clip(upper, -MOST_CORRELATED, MOST_CORRELATED))
    return [(float(one), RANK_VARIANCE / max(n - 3, 1)) for one in z]


def _shares(codes: FloatArray, labels: Sequence[str]) -> dict[str, float]:
    """Return the proportion of each level that occurs, the most frequent ones first."""
    known = codes[~np.isnan(codes)].astype(np.intp)
    counts = np.bincount(known, minlength=len(labels))
    order = np.argsort(-counts, kind="stable")[:MOST_LEVELS]
    return {labels[k]: float(counts[k] / known.size) for k in order if counts[k]}


def _plain(values: FloatArray) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


@dataclass(frozen=True, eq=False)
class Scored:
    """The latest batch of a pool against all of its batches.

    Attributes
    ----------
    z : array with an entry per measure
        How far the batch deviates in each, with its sign; infinite where the others are constant.
    levels : mapping from (column, level) to float
        The same for proportions.
    most : array of length n
        The largest |z| of every batch of the pool, the latest last.
    up, down, levels_pvalues : arrays
        One-sided p-values of every measure, and the p-value of each column with levels.
    """

    z: FloatArray
    levels: Mapping[tuple[str, str], float]
    most: FloatArray
    up: FloatArray
    down: FloatArray
    levels_pvalues: FloatArray

    @property
    def pvalue(self) -> float:
        """How many batches deviate as much as the latest in anything, of all batches."""
        return self.adjusted(self.most[-1])

    def adjusted(self, z: float) -> float:
        """Return the p-value of one deviation, adjusted for all measures (max-T)."""
        return float(np.mean(self.most >= abs(z)))

    @property
    def streams(self) -> FloatArray:
        """The p-values that are bet on: overall, measures up and down, levels by column."""
        return np.concatenate([[self.pvalue], self.up, self.down, self.levels_pvalues])


@dataclass(frozen=True, eq=False)
class BatchPool:
    """Batches to rank the latest one among.

    Attributes
    ----------
    layout : Layout
        The measures.
    batches : tuple of BatchSummary
        The batches, those of the reference first.
    """

    layout: Layout
    batches: tuple[BatchSummary, ...]

    @property
    def size(self) -> int:
        """How many batches there are."""
        return len(self.batches)

    @property
    def n_rows(self) -> float:
        """How many rows the batches have together."""
        return float(self._rows.sum())

    def with_batch(self, batch: BatchSummary) -> BatchPool:
        """Return the pool with one more batch, the latest."""
        return replace(self, batches=(*self.batches, batch))

    def score(self) -> Scored:
        """Return how unusual the latest batch is among all."""
        z = standardised(self._values, self._variances(self._values))
        most = np.abs(z).max(axis=1, initial=0.0)
        levels: dict[tuple[str, str], float] = {}
        pvalues = []
        for name, labels, shares in self.shares():
            deviations = standardised(shares, self._sampling(shares))
            of_column = np.abs(deviations).max(axis=1, initial=0.0)
            pvalues.append(float(np.mean(of_column >= of_column[-1])))
            most = np.maximum(most, of_column)
            latest = zip(labels, deviations[-1], strict=True)
            levels.update({(name, level): float(one) for level, one in latest})
        return Scored(
            z[-1],
            levels,
            most,
            np.mean(z >= z[-1], axis=0),
            np.mean(z <= z[-1], axis=0),
            np.array(pvalues),
        )

    def shares(self) -> Iterator[tuple[str, list[str], FloatArray]]:
        """Give, for each column with levels, the levels and their proportions in every batch."""
        for name in self.layout.categorical:
            total: dict[str, float] = {}
            for batch in self.batches:
                for level, share in batch.levels[name].items():
                    total[level] = total.get(level, 0.0) + share
            labels = sorted(total, key=lambda level: (-total[level], level))[:MOST_LEVELS]
            table = [
                [batch.levels[name].get(level, 0.0) for level in labels] for batch in self.batches
            ]
            yield name, labels, np.array(table).reshape(self.size, len(labels))

    @cached_property
    def _rows(self) -> FloatArray:
        return np.array([batch.n_rows for batch in self.batches], dtype=np.float64)

    @cached_property
    def _values(self) -> FloatArray:
        return np.array([batch.values for batch in self.batches])

    def _variances(self, values: FloatArray) -> FloatArray:
        """Return sampling variances; those of proportions follow from the pooled proportion."""
        variances = np.array([batch.variances for batch in self.batches])
        gaps = [f for f, one in enumerate(self.layout.measures) if one.kind == MISSING]
        if gaps:
            variances[:, gaps] = self._sampling(values[:, gaps])
        return variances

    def _sampling(self, shares: FloatArray) -> FloatArray:
        rows = self._rows[:, np.newaxis]
        # Half a row more of either: a level that is never seen could have been.
        pooled = ((rows * shares).sum(axis=0) + 0.5) / (rows.sum() + 1)
        return np.asarray(pooled * (1 - pooled) / rows)


def standardised(values: FloatArray, variances: FloatArray) -> FloatArray:
    """Return z of every batch (row) and measure (column); 0 where a measure is not defined.

    >>> values = np.array([[0.0], [1.0], [-1.0], [0.5], [9.0]])
    >>> standardised(values, np.full((5, 1), 0.1)).ravel().round(1)
    array([-0.1,  0.1, -0.4,  0. ,  2.5])
    """
    if not values.size:
        return np.zeros(values.shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        middle, noise = _median(values), _median(variances)
        deviations = values - middle
        sizes = np.abs(deviations)
        spread = np.maximum(
            NORMAL_MAD * _median(sizes),
            np.nanquantile(np.where(np.isnan(sizes).all(axis=0), 0.0, sizes), 0.9, axis=0)
            / NORMAL_Q90,
        )
        between = np.maximum(spread**2 - np.nan_to_num(noise), 0.0)
        z = deviations / np.sqrt(between + np.nan_to_num(variances))
    z[np.isnan(z)] = 0.0
    return np.asarray(z)


def _median(values: FloatArray) -> FloatArray:
    """Return the median of every column; NaN, without a warning, where it has no value."""
    empty = np.isnan(values).all(axis=0)
    found = np.nanmedian(np.where(empty, 0.0, values), axis=0)
    return np.where(empty, np.nan, found)
