"""Every column in both samples: sizes, moments, quartiles, levels and effects of a result.

All numbers are of the raw values of the tested rows: nothing is clipped or filled in. They are
computed once, when first asked for, and take about 250 bytes per column.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from tellapart.arguments import check_choice
from tellapart.arrays import FloatArray, IntArray
from tellapart.budget import current_budget
from tellapart.data.column_store import extremes_of, rows_of
from tellapart.data.missing import MissingPattern
from tellapart.data.row_stores import ArrayRows, block_rows
from tellapart.data.samples import Samples
from tellapart.effects.columns import weighted_quantiles
from tellapart.effects.estimate import IndependentRows, Sampling
from tellapart.effects.every_column import (
    QUARTILES,
    Moments,
    Precision,
    block_moments,
    category_effect,
    independent_precision,
    number_effects,
    quartiles,
    sorted_columns,
    two_value_effect,
    units_of,
)
from tellapart.effects.raw_columns import RawColumns
from tellapart.errors import InputError

if TYPE_CHECKING:
    from tellapart.results.result import TestResult

NUMERIC, BINARY, CATEGORICAL, CONSTANT, EMPTY = (
    "numeric",
    "binary",
    "categorical",
    "constant",
    "empty",
)
SIDES = ("first", "second")
FOLD_CHANGES = ("counts", "log1p")
PSEUDOCOUNT = 1e-9
"""That of scanpy's `rank_genes_groups`."""


@dataclass(frozen=True, eq=False)
class Levels:
    """How many rows of each sample have each level of a column: (2 × levels).

    `weighted` are the proportions in X, in Y and in all rows where rows have weights (3 × levels).
    """

    labels: tuple[str, ...]
    counts: IntArray
    weighted: FloatArray | None = None

    @property
    def proportions(self) -> FloatArray:
        """The proportion of each level in each sample, (2 × levels)."""
        if self.weighted is not None:
            return self.weighted[:2]
        return np.asarray(self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1))


@dataclass(frozen=True, eq=False)
class ColumnsTable:
    """Every column of a test in both samples; arrays have one entry per column in the last axis.

    Attributes
    ----------
    names, types : tuples of str
        The columns, and what they hold: "numeric", "binary" (numbers with two values),
        "categorical", "constant", or "empty" where a sample has no value.
    n, missing, nonzero : arrays of shape (2, D)
        Values of each sample that take part, missing values, and values other than 0.
    mean, deviation : arrays of shape (3, D)
        Means and standard deviations of X, of Y and of all rows; NaN for categorical columns.
    quartiles : array of shape (3, 3, D)
        Quartiles and median of X, of Y and of all rows; NaN where they were not computed.
    difference, ratio : arrays of shape (3, D)
        The standardised mean difference and the SD ratio, each with the ends of its 95 % CI.
    statistic : array of shape (D,)
        The difference of means over its standard error; Welch's t where rows are independent.
    pvalues : array of shape (2, D)
        Unadjusted p-values of equal means (of that statistic) and of equal SDs (of the log of their
        ratio); that of SDs is NaN for columns of two values.
    levels : mapping from str to Levels
        The levels of categorical and binary columns.
    quartiles_from : pair of int or None
        How many rows, drawn at random, the quartiles are of; None for all.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    n: IntArray
    missing: IntArray
    nonzero: IntArray
    mean: FloatArray
    deviation: FloatArray
    quartiles: FloatArray
    difference: FloatArray
    ratio: FloatArray
    statistic: FloatArray
    pvalues: FloatArray
    levels: Mapping[str, Levels]
    quartiles_from: tuple[int, int] | None = None

    def log2_fold_changes(self, how: str, pseudocount: float) -> FloatArray:
        """Return log₂ of the ratio of the means of X and Y; see `TestResult.columns_table`."""
        means = self.mean[:2] if how == "counts" else np.expm1(np.minimum(self.mean[:2], 700.0))
        with np.errstate(invalid="ignore", divide="ignore"):
            raised = np.log2(means + pseudocount)
            found = raised[0] - raised[1]
        found[(means < 0).any(axis=0)] = np.nan
        return np.asarray(found)

    def proportions(self, name: str) -> FloatArray:
        """Return the proportion of each level of a column in each sample, (2 × levels)."""
        return self.levels[name].proportions


def describe_columns(samples: Samples, *, ordered: bool = True) -> ColumnsTable:
    """Return the table of all columns of two samples.

    Rows in memory are described a few columns at a time, rows in chunks in one pass over them; the
    quartiles of the latter are those of the rows drawn at random. `ordered` is False to leave
    quartiles out.
    """
    if not all(isinstance(store, ArrayRows) for store in samples.stores):
        return _describe_chunks(samples, ordered)
    raw = RawColumns(samples)
    builder = _Builder(raw.names, raw.kinds, raw.categories)
    for columns in _blocks(raw, len(raw.names)):
        builder.add(columns, raw, ordered)
    return builder.table(_missing_counts(raw))


def _blocks(raw: RawColumns, n_columns: int) -> Iterator[list[int]]:
    """Return the columns in blocks that fit the budget."""
    x, y = raw.values([0])
    step = max(current_budget().described_entries // (len(x) + len(y)), 1)
    for start in range(0, n_columns, step):
        yield list(range(start, min(start + step, n_columns)))


def _missing_counts(raw: RawColumns) -> IntArray:
    counts = np.zeros((2, len(raw.names)), dtype=np.intp)
    if raw.pattern is not None:
        for place, column in raw.pattern.missing_among_kept():
            counts[:, column] = [int(side.sum()) for side in raw.missing(place)]
    return counts


class _Builder:
    """Puts a table together, block of columns by block."""

    def __init__(
        self,
        names: tuple[str, ...],
        kinds: Sequence[str],
        categories: Mapping[str, tuple[str, ...]],
    ) -> None:
        size = len(names)
        self._names, self._categories = names, categories
        self._categorical = np.array([kind == "categorical" for kind in kinds], dtype=np.bool_)
        self._types = [NUMERIC] * size
        self._n = np.zeros((2, size), dtype=np.intp)
        self._nonzero = np.zeros((2, size), dtype=np.intp)
        self._mean, self._deviation = np.full((3, size), np.nan), np.full((3, size), np.nan)
        self._quartiles = np.full((3, len(SIDES) + 1, size), np.nan)
        self._difference, self._ratio = np.full((3, size), np.nan), np.full((3, size), np.nan)
        self._statistic, self._pvalues = np.full(size, np.nan), np.full((2, size), np.nan)
        self._levels: dict[str, Levels] = {}

    def add(self, columns: list[int], raw: RawColumns, ordered: bool) -> None:
        """Describe some columns by their values."""
        values = raw.values(columns)
        sampling = raw.sampling
        moments, compared, precision = block_moments(values, sampling)
        shown = None
        if sampling.weighted:
            sides = zip((*values, np.concatenate(values)), raw.own_weights, strict=True)
            of_x, of_y, both = (
                Moments.of(side, moments[0].unit, own[:, np.newaxis], effective=True)
                for side, own in sides
            )
            shown = of_x, of_y, both
        low = np.fmin(*(np.fmin.reduce(own, axis=0) for own in values))
        high = np.fmax(*(np.fmax.reduce(own, axis=0) for own in values))
        hits = np.array([[(own == end).sum(axis=0) for own in values] for end in (low, high)])
        nonzero = np.array([((own != 0) & ~np.isnan(own)).sum(axis=0) for own in values])
        self.add_moments(
            np.array(columns), moments, compared, precision, (low, high), hits, nonzero,
            plain=isinstance(sampling, IndependentRows), shown=shown,
        )  # fmt: skip
        numeric = [k for k, column in enumerate(columns) if not self._categorical[column]]
        if ordered and numeric:
            x, y = (own[:, numeric] for own in values)
            if sampling.weighted:
                self._add_weighted_quartiles((x, y), np.array(columns)[numeric], raw.own_weights)
            else:
                self.add_quartiles((x, y), np.array(columns)[numeric])
        for k, column in enumerate(columns):
            if not self._categorical[column]:
                continue
            n_levels = len(self._categories[self._names[column]])
            codes = [own[:, k] for own in values]
            counts = np.array([count_codes(own, n_levels) for own in codes])
            plain = isinstance(sampling, IndependentRows)
            weighted = None if plain else _weighted(codes, sampling, n_levels)
            shares = None
            if sampling.weighted:
                shares = np.stack(
                    [
                        np.bincount(own.astype(np.intp), weights, minlength=n_levels) * 1.0
                        for own, weights in zip(
                            (*codes, np.concatenate(codes)), raw.own_weights, strict=True
                        )
                    ]
                )
            self.add_levels(column, counts, weighted, shares)

    def add_moments(
        self,
        columns: IntArray,
        moments: tuple[Moments, Moments],
        compared: tuple[Moments, Moments],
        precision: Precision,
        ends: tuple[FloatArray, FloatArray],
        hits: IntArray,
        nonzero: IntArray,
        *,
        plain: bool,
        shown: tuple[Moments, Moments, Moments] | None = None,
    ) -> None:
        """Describe some columns by their moments; `hits` is how often the ends occur.

        `shown` are the moments to be given for X, Y and all rows, where rows have weights.
        """
        n = np.stack([side.n for side in moments])
        weighted, shown = shown is not None, shown or (*moments, moments[0].merged(moments[1]))
        self._n[:, columns], self._nonzero[:, columns] = n, nonzero
        effects = number_effects(*compared, precision)
        low, high = ends
        binary = (hits.sum(axis=(0, 1)) == n.sum(axis=0)) & (high > low)
        constant = ~(high > low)
        empty = n.min(axis=0) == 0
        if binary.any():
            width = np.where(binary, high - low, 1.0)
            p_x, p_y = (np.clip((side.mean - low) / width, 0.0, 1.0) for side in compared)
            error = None if plain else precision.error * compared[0].unit / width
            of_two = two_value_effect(
                p_x, p_y, (n[0], n[1]), error, None if plain else precision.degrees
            )
            effects = replace(effects, difference=np.where(binary, of_two, effects.difference))
        numeric = ~self._categorical[columns]
        kept = columns[numeric]
        for k, side in enumerate(shown):
            self._mean[k, kept] = side.mean[numeric]
            self._deviation[k, kept] = side.deviation[numeric]
        self._difference[:, kept] = effects.difference[:, numeric]
        self._ratio[:, kept] = np.where(binary, np.nan, effects.ratio)[:, numeric]
        self._statistic[kept] = effects.statistic[numeric]
        self._pvalues[0, kept] = effects.pvalues[0, numeric]
        self._pvalues[1, kept] = np.where(binary, np.nan, effects.pvalues[1])[numeric]
        for k, column in enumerate(columns):
            if self._categorical[column]:
                self._types[column] = CATEGORICAL
            elif empty[k]:
                self._types[column] = EMPTY
            elif constant[k]:
                self._types[column] = CONSTANT
            elif binary[k]:
                self._types[column] = BINARY
                labels = f"{low[k]:.10g}", f"{high[k]:.10g}"
                shares = None
                if weighted:
                    larger = np.array([side.mean[k] - low[k] for side in shown])
                    larger = np.clip(larger / (high[k] - low[k]), 0.0, 1.0)
                    shares = np.stack([1 - larger, larger], axis=1)
                self._levels[self._names[column]] = Levels(labels, hits[:, :, k].T.copy(), shares)

    def add_levels(
        self,
        column: int,
        counts: IntArray,
        weights: tuple[FloatArray, FloatArray] | None,
        shares: FloatArray | None = None,
    ) -> None:
        """Describe a categorical column by the counts of its levels, (2 × levels).

        `weights` are the proportions that are compared under a design, `shares` those of rows with
        weights of their own.
        """
        name = self._names[column]
        self._levels[name] = Levels(self._categories[name], counts, shares)
        n = int(counts[0].sum()), int(counts[1].sum())
        if min(n) == 0:
            self._types[column] = EMPTY
        x, y = (counts[0] / max(n[0], 1), counts[1] / max(n[1], 1)) if weights is None else weights
        self._difference[:, column] = category_effect(x, y, n, limits=weights is None)

    def add_quartiles(self, values: tuple[FloatArray, FloatArray], columns: IntArray) -> None:
        """Take in the quartiles of some columns of numbers."""
        for k, side in enumerate(sorted_columns(values)):
            self._quartiles[k][:, columns] = quartiles(side)

    def _add_weighted_quartiles(
        self,
        values: tuple[FloatArray, FloatArray],
        columns: IntArray,
        weights: tuple[FloatArray, FloatArray, FloatArray],
    ) -> None:
        """Take in the quartiles of some columns of numbers, of rows with weights."""
        sides = zip((*values, np.concatenate(values)), weights, strict=True)
        for k, (side, own) in enumerate(sides):
            for column, one in zip(columns, side.T, strict=True):
                self._quartiles[k][:, column] = weighted_quantiles(one, own, QUARTILES)

    def add_sums(self, fold: _Fold, x: _Sums, y: _Sums) -> None:
        """Describe all columns by sums over independent rows."""
        assert x.moments is not None
        assert y.moments is not None
        moments = x.moments, y.moments
        self.add_moments(
            np.arange(len(self._names)),
            moments,
            moments,
            independent_precision(*moments),
            fold.ends,
            np.stack([x.hits, y.hits], axis=1),
            np.stack([x.nonzero, y.nonzero]),
            plain=True,
        )
        for (column, _), of_x, of_y in zip(fold.categorical, x.counts, y.counts, strict=True):
            self.add_levels(column, np.stack([of_x, of_y]), None)

    def table(
        self, missing: IntArray, quartiles_from: tuple[int, int] | None = None
    ) -> ColumnsTable:
        """Return the table."""
        self._mean[:, self._categorical] = np.nan
        return ColumnsTable(
            names=self._names,
            types=tuple(self._types),
            n=self._n,
            missing=missing,
            nonzero=self._nonzero,
            mean=self._mean,
            deviation=self._deviation,
            quartiles=self._quartiles,
            difference=self._difference,
            ratio=self._ratio,
            statistic=self._statistic,
            pvalues=self._pvalues,
            levels=self._levels,
            quartiles_from=quartiles_from,
        )


def _weighted(
    codes: Sequence[FloatArray], sampling: Sampling, n_levels: int
) -> tuple[FloatArray, FloatArray]:
    """Return the proportions of levels in both samples, rows weighted as the design has it."""
    x, y = (
        np.bincount(own.astype(np.intp), weights=sampling.weights(k, own), minlength=n_levels)
        for k, own in enumerate(codes)
    )
    return np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)


def count_codes(codes: FloatArray, n_levels: int) -> IntArray:
    """Return how often each of the codes 0, 1, … occurs; NaN is missing."""
    return np.bincount(codes[~np.isnan(codes)].astype(np.intp), minlength=n_levels)


# Rows in chunks: moments are merged over blocks of rows.


@dataclass
class _Sums:
    """What is summed over the rows of one sample."""

    moments: Moments | None
    missing: IntArray
    nonzero: IntArray
    hits: IntArray
    counts: list[IntArray]


@dataclass(frozen=True, eq=False)
class _Fold:
    """Moments and counts of all columns as a sum over blocks of rows."""

    unit: FloatArray
    ends: tuple[FloatArray, FloatArray]
    categorical: tuple[tuple[int, int], ...]
    pattern: MissingPattern | None

    @classmethod
    def of(
        cls,
        samples: Samples,
        ends: tuple[FloatArray, FloatArray],
        pattern: MissingPattern | None,
    ) -> _Fold:
        """Return the fold of these columns, whose values lie between these ends."""
        levels_of = tuple(
            (column, len(samples.categories[name]))
            for column, name in enumerate(samples.names)
            if samples.kinds[column] == CATEGORICAL
        )
        return cls(units_of(np.maximum(*map(np.abs, ends))), ends, levels_of, pattern)

    def start(self) -> _Sums:
        size = self.unit.size
        counts = [np.zeros(levels, dtype=np.intp) for _, levels in self.categorical]
        missing, nonzero = np.zeros((2, size), dtype=np.intp)
        return _Sums(None, missing, nonzero, np.zeros((2, size), dtype=np.intp), counts)

    def add(self, held: _Sums, first_row: int, values: FloatArray) -> _Sums:  # noqa: ARG002
        own = values if self.pattern is None else self.pattern.values(values)
        as_read = values if self.pattern is None else values[:, self.pattern.kept]
        moments = Moments.of(own, self.unit)
        held.moments = moments if held.moments is None else held.moments.merged(moments)
        held.missing += np.isnan(as_read).sum(axis=0)
        held.nonzero += ((own != 0) & ~np.isnan(own)).sum(axis=0)
        held.hits += np.stack([(own == end).sum(axis=0) for end in self.ends])
        for counts, (column, levels) in zip(held.counts, self.categorical, strict=True):
            counts += count_codes(own[:, column], levels)
        return held

    def merge(self, left: _Sums, right: _Sums) -> _Sums:
        if right.moments is not None:
            right_moments = right.moments
            left.moments = (
                right_moments if left.moments is None else left.moments.merged(right_moments)
            )
        left.missing += right.missing
        left.nonzero += right.nonzero
        left.hits += right.hits
        for mine, other in zip(left.counts, right.counts, strict=True):
            mine += other
        return left


def _describe_chunks(samples: Samples, ordered: bool) -> ColumnsTable:
    """Return the table of rows in files or on a cluster."""
    whole = samples.whole
    fold = _Fold.of(samples, (whole.least, whole.greatest), samples.pattern)
    step = block_rows(whole.x.shape[1])
    x, y = (store.fold(fold, step) for store in samples.stores)
    builder = _Builder(samples.names, samples.kinds, samples.categories)
    builder.add_sums(fold, x, y)
    if ordered:
        drawn = RawColumns(samples.held)
        for columns in _blocks(drawn, len(samples.names)):
            numeric = [c for c in columns if samples.kinds[c] != CATEGORICAL]
            if numeric:
                builder.add_quartiles(drawn.values(numeric), np.array(numeric))
    drawn_rows = None if samples.all_drawn else (samples.n_x, samples.n_y)
    return builder.table(np.stack([x.missing, y.missing]), drawn_rows)


class GroupSums:
    """The sums over each group of a table: any group against the rest takes no further pass.

    Parameters
    ----------
    whole : Samples
        All rows, none with a missing value: those of X, then those of Y.
    groups : int array
        The group of each row.
    """

    def __init__(self, whole: Samples, groups: IntArray) -> None:
        self._whole, self._groups = whole, groups

    @cached_property
    def _sums(self) -> tuple[_Fold, dict[int, _Sums]]:
        whole = self._whole
        (low_x, high_x), (low_y, high_y) = map(extremes_of, (whole.x, whole.y))
        ends = np.minimum(low_x, low_y), np.maximum(high_x, high_y)
        fold = _Fold.of(whole, ends, None)
        step, sums = block_rows(whole.n_columns), {}
        for group in np.unique(self._groups):
            rows = np.flatnonzero(self._groups == group)
            parts = (rows[rows < whole.n_x], rows[rows >= whole.n_x] - whole.n_x)
            held = fold.start()
            for values, few in zip((whole.x, whole.y), parts, strict=True):
                if few.size:
                    held = fold.merge(held, ArrayRows(rows_of(values, few)).fold(fold, step))
            sums[int(group)] = held
        return fold, sums

    def table(self, group: int) -> ColumnsTable:
        """Return the table of one group against all others, without quartiles."""
        fold, sums = self._sums
        rest = fold.start()
        for other, held in sums.items():
            if other != group:
                rest = fold.merge(rest, held)
        whole = self._whole
        builder = _Builder(whole.names, whole.kinds, whole.categories)
        builder.add_sums(fold, sums[group], rest)
        return builder.table(np.stack([sums[group].missing, rest.missing]))


class ColumnsSource:
    """A table that is computed when first asked for, or when it is pickled.

    What it is computed from, which may be rows in files or those of many results, is let go then
    and never pickled.
    """

    def __init__(self, make: Callable[[], ColumnsTable]) -> None:
        self._make: Callable[[], ColumnsTable] | None = make
        self._table: ColumnsTable | None = None
        self._lock = Lock()

    @property
    def table(self) -> ColumnsTable:
        """The table."""
        with self._lock:
            if self._table is None:
                assert self._make is not None
                self._table, self._make = self._make(), None
            return self._table

    def __reduce__(self) -> tuple[Any, ...]:
        return _known, (self.table,)


def _known(table: ColumnsTable) -> ColumnsSource:
    source = ColumnsSource(lambda: table)
    assert source.table is table
    return source


# The table as named columns: what frames, CSV and JSON hold.


def check_fold_change(value: object, name: str = "log2_fold_change") -> str | None:
    """Return how fold changes are computed; None where none are asked for."""
    if value is False or value is None:
        return None
    return "counts" if value is True else check_choice(name, value, FOLD_CHANGES)


def check_pseudocount(value: object) -> float:
    """Return a pseudocount that is a finite number of at least 0."""
    sound = isinstance(value, int | float) and not isinstance(value, bool)
    if not sound or not math.isfinite(float(value)) or float(value) < 0:  # type: ignore[arg-type]
        raise InputError(f"pseudocount must be a finite number of at least 0; got {value!r}")
    return float(value)  # type: ignore[arg-type]


def table_columns(
    result: TestResult,
    *,
    levels: bool = False,
    log2_fold_change: bool | str = False,
    pseudocount: float = PSEUDOCOUNT,
) -> dict[str, list[Any]]:
    """Return the columns of `TestResult.columns_table`, by name."""
    fold_change, added = check_fold_change(log2_fold_change), check_pseudocount(pseudocount)
    table = result.column_data
    found: dict[str, list[Any]] = {"column": list(table.names), "type": list(table.types)}
    for k, side in enumerate(SIDES):
        found[f"n_{side}"] = table.n[k].tolist()
        found[f"missing_{side}"] = table.missing[k].tolist()
    for k, side in enumerate(SIDES):
        found[f"mean_{side}"] = table.mean[k].tolist()
        found[f"sd_{side}"] = table.deviation[k].tolist()
        for q, name in enumerate(("q1", "median", "q3")):
            found[f"{name}_{side}"] = table.quartiles[k, q].tolist()
    for k, side in enumerate(SIDES):
        found[f"levels_{side}"] = [folded_levels(table, name, k) for name in table.names]
    for name, values in (("smd", table.difference), ("sd_ratio", table.ratio)):
        for end, row in zip(("", "_low", "_high"), values, strict=True):
            found[f"{name}{end}"] = row.tolist()
    if fold_change is not None and result.effective_sizes is not None:
        raise InputError(
            "log2_fold_change must be left out with weights: proportions of rows that express have "
            f"no weighted form; got {fold_change!r}"
        )
    if fold_change is not None:
        found["log2_fold_change"] = table.log2_fold_changes(fold_change, added).tolist()
        for k, side in enumerate(SIDES):
            share = table.nonzero[k] / np.where(table.n[k] > 0, table.n[k], np.nan)
            share = np.where([kind == CATEGORICAL for kind in table.types], np.nan, share)
            found[f"expressing_{side}"] = share.tolist()
    found["statistic"] = table.statistic.tolist()
    for kind, pvalues in zip(("location", "spread"), table.pvalues, strict=True):
        found[f"pvalue_{kind}"] = pvalues.tolist()
    found |= _test_columns(result)
    return _with_levels(found, table) if levels else found


def _test_columns(result: TestResult) -> dict[str, list[Any]]:
    """Return p-values and findings of every column."""
    names, tests = result.column_data.names, result.column_tests
    found: dict[str, list[Any]] = {}
    if tests is not None:
        found = {
            "pvalue": tests.pvalue.tolist(),
            "approximate": tests.approximate.tolist(),
            "adjusted_pvalue": tests.adjusted.tolist(),
            "qvalue": tests.qvalue.tolist(),
        }
    kinds: dict[str, Counter[str]] = {}
    for finding in result.findings:
        for name in finding.variables:
            kinds.setdefault(name, Counter())[finding.kind] += 1
    return found | {"findings": [", ".join(kinds.get(name, ())) for name in names]}


def folded_levels(table: ColumnsTable, name: str, side: int, decimals: int = 1) -> str:
    """Return the levels of a column in one sample: "F 12 (40.0 %); M 18 (60.0 %)"."""
    if name not in table.levels:
        return ""
    levels, shares = table.levels[name], table.proportions(name)[side]
    return "; ".join(
        f"{label} {count} ({100 * share:.{decimals}f} %)"
        for label, count, share in zip(
            levels.labels, levels.counts[side].tolist(), shares.tolist(), strict=True
        )
    )


def _with_levels(found: dict[str, list[Any]], table: ColumnsTable) -> dict[str, list[Any]]:
    """Return the columns with one further row for each level of a categorical or binary column."""
    numbers = ("level", "count_first", "count_second", "proportion_first", "proportion_second")
    keys = [key for key in found if not key.startswith("levels_")]
    place = keys.index("smd")
    order = [*keys[:1], "level", *keys[1:place], *numbers[1:], *keys[place:]]
    rows: list[dict[str, Any]] = []
    for k, name in enumerate(table.names):
        rows.append({key: found[key][k] for key in keys})
        if name not in table.levels:
            continue
        levels, shares = table.levels[name], table.proportions(name)
        for q, label in enumerate(levels.labels):
            counts = levels.counts[:, q].tolist()
            cells = (label, *counts, *shares[:, q].tolist())
            rows.append({"column": name, "type": "level"} | dict(zip(numbers, cells, strict=True)))
    texts = ("level", "approximate", "findings")
    return {
        key: [row.get(key, None if key in texts else math.nan) for row in rows] for key in order
    }
