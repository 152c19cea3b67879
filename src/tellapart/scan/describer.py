"""The effects of columns, pairs and triples of two samples, computed from their raw values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.budget import current_budget
from tellapart.effects.columns import LEVELS, NUMERIC, Column
from tellapart.effects.estimate import AdjustedRows, Estimate, IndependentRows
from tellapart.effects.groups import Group
from tellapart.effects.raw_columns import RawColumns
from tellapart.effects.regions import JointSet
from tellapart.effects.values import FEWEST_LEVELS, value_proportions
from tellapart.scan.finding import Finding
from tellapart.scan.finding_kinds import (
    ALONE,
    ANY_COLUMN,
    CORRELATION,
    FINDING_KINDS,
    JOINT,
    MISSING,
    NEW_VALUES,
    PAIRS,
    SHARE,
    TRIPLES,
    FindingKind,
    kinds_of,
    scale_of_measure,
)
from tellapart.scan.smallest_effect import SmallestEffect

UNTESTED = math.nan
"""The p-value of an effect of a column that no test named."""


@dataclass(frozen=True, eq=False)
class Described:
    """The effects of a column, pair or triple by kind, with unadjusted p-values.

    `rows` are those of each sample that have values, `statistics` mean, standard deviation and
    median of a numeric column in both samples, `smallest` the size that effects must exceed.
    """

    variables: tuple[str, ...]
    effects: Mapping[str, Estimate]
    rows: tuple[int, int]
    statistics: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    smallest: SmallestEffect | None = None

    @classmethod
    def of(
        cls,
        name: str,
        column: Column,
        orders: Sequence[int],
        smallest: SmallestEffect | None = None,
    ) -> Described:
        """Compute the effects of the kinds that are reported in these turns (`FindingKind.order`).

        The total variation distance of many levels is computed in any turn.
        """
        x, y = column.sides
        statistics = {}
        if column.type == NUMERIC:
            statistics = {
                "mean": (float(x.values.mean()), float(y.values.mean())),
                "SD": (_deviation(x.values), _deviation(y.values)),
                "median": (float(np.median(x.values)), float(np.median(y.values))),
            }
            if column.sampling.weighted:
                statistics["mean"] = x.mean, y.mean
                statistics["SD"] = x.deviation, y.deviation
                statistics["median"] = x.median, y.median
        many_levels = column.labels is not None and column.levels[0].size > FEWEST_LEVELS
        effects = {}
        for kind in kinds_of(column.type, ANY_COLUMN):
            if kind.order in orders or (kind.of == ANY_COLUMN and many_levels):
                estimate = kind.effect(column)
                if estimate is None:
                    continue
                raw = _unadjusted(kind, column)
                if raw:
                    estimate = replace(estimate, detail=raw)
                if column.sampling.standardised and (kind.order == ALONE or column.type == LEVELS):
                    measure = f"{estimate.measure}{column.sampling.words[0]}"
                    estimate = replace(estimate, measure=measure)
                effects[kind.name] = estimate
        return cls((name,), effects, (x.n, y.n), statistics, smallest)

    def size(self, kind: str, estimate: Estimate | None = None) -> float | None:
        """Return the size that an effect must exceed; None where any size is a finding."""
        estimate = estimate or self.effects.get(kind)
        if self.smallest is None or estimate is None:
            return None
        return self.smallest.size(kind, self.variables, estimate.measure)

    def pvalue(self, kind: str, estimate: Estimate | None = None) -> float:
        """Return the p-value of no difference, or of none that exceeds its smallest effect."""
        estimate, size = estimate or self.effects[kind], self.size(kind, estimate)
        return estimate.pvalue if size is None else estimate.pvalue_beyond(size)

    def adjusted(
        self, pvalue: float, kind: str, n_effects: int, estimate: Estimate | None = None
    ) -> float:
        """Return the p-value of a name, no smaller than that of its effect among so many.

        That of the name alone where any size is a finding.
        """
        if self.size(kind, estimate) is None:
            return pvalue
        return max(pvalue, min(n_effects * self.pvalue(kind, estimate), 1.0))

    def finding(
        self,
        kind: str,
        pvalue: float,
        n_effects: int,
        floor: float = 0.0,
        estimate: Estimate | None = None,
    ) -> Finding:
        """Return the finding of one kind, one of `n_effects` effects that were looked at.

        `estimate` is that of the kind if None.
        """
        size = self.size(kind, estimate)
        estimate = estimate or self.effects[kind]
        return Finding(
            kind,
            self.variables,
            pvalue,
            estimate.effect,
            estimate.interval,
            estimate.values,
            estimate.measure,
            simultaneous=estimate.interval_for(n_effects),
            rows=self.rows,
            statistics=self.statistics,
            detail=estimate.detail,
            floor=floor,
            smallest_effect=math.nan if size is None else size,
        )


class Describer:
    """Describes columns, pairs and triples of two samples from their raw values."""

    def __init__(self, raw: RawColumns, smallest: SmallestEffect | None = None) -> None:
        self._raw = raw
        self._smallest = smallest

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""
        return self._raw.names

    def each(
        self, columns: Sequence[int], orders: Sequence[int]
    ) -> Iterator[tuple[int, Described]]:
        """Yield the effects of some columns, in their order, of kinds reported in these turns."""
        self._raw.gather(columns)
        start = 0
        while start < len(columns):
            x, y = self._raw.values(columns[start : start + 1])
            step = max(current_budget().described_entries // (x.shape[0] + y.shape[0]), 1)
            block = columns[start : start + step]
            if len(block) > 1:
                x, y = self._raw.values(block)
            for k, column in enumerate(block):
                name = self.names[column]
                categorical = self._raw.kinds[column] == "categorical"
                labels = self._raw.categories[name] if categorical else None
                values = Column.of(x[:, k], y[:, k], self._raw.sampling, labels)
                yield column, Described.of(name, values, orders, self._smallest)
            start += step

    def values_apart(
        self,
        column: int,
        ranges: Sequence[tuple[float, float]],
        pvalue: float,
        n_compared: int,
        floor: float,
    ) -> Finding:
        """Describe values of a column that stand apart from all others."""
        x, y = (values[:, 0] for values in self._raw.values([column]))
        estimate = value_proportions(x, y, ranges, self._raw.sampling)
        kind = NEW_VALUES if 0 in estimate.values else SHARE
        rows = (int((~np.isnan(x)).sum()), int((~np.isnan(y)).sum()))
        about = Described((self.names[column],), {kind: estimate}, rows, smallest=self._smallest)
        return about.finding(kind, about.adjusted(pvalue, kind, n_compared), n_compared, floor)

    def missing(self, place: int, pvalue: float, n_compared: int, floor: float) -> Finding:
        """Describe the proportion of missing values of a column of the pattern."""
        pattern = self._raw.pattern
        assert pattern is not None
        x, y = self._raw.missing(place)
        estimate = FINDING_KINDS[MISSING].effect(Column.of(x, y, self._raw.sampling))
        assert estimate is not None
        name, rows = pattern.names[place], (x.size, y.size)
        about = Described((name,), {MISSING: estimate}, rows, smallest=self._smallest)
        pvalue = about.adjusted(pvalue, MISSING, n_compared)
        return about.finding(MISSING, pvalue, n_compared, floor)

    def joint(
        self, columns: Sequence[int], pvalue: float, bandwidth: float, floor: float
    ) -> Finding | None:
        """Describe where the joint distribution of columns differs; None where no region shows."""
        each = [self._raw.values([column]) for column in columns]
        x, y = (np.column_stack(side) for side in zip(*each, strict=True))
        names = tuple(self.names[column] for column in columns)
        labels = tuple(self._raw.categories.get(name) for name in names)
        estimate = FINDING_KINDS[JOINT].effect(
            JointSet(x, y, names, labels, self._raw.sampling, bandwidth)
        )
        if estimate is None:
            return None
        n_x, n_y = (int((~np.isnan(side).any(axis=1)).sum()) for side in (x, y))
        about = Described(names, {JOINT: estimate}, (n_x, n_y), smallest=self._smallest)
        pvalue = about.adjusted(pvalue, JOINT, 1)
        return replace(about.finding(JOINT, pvalue, 1, floor), regions=estimate.regions)

    def group(self, columns: Sequence[int], levels: Sequence[str | None]) -> Described:
        """Return the effects of two or three columns together, in the rows that have them all.

        Of a categorical column the indicator of a level takes part; there are no effects where it
        stands for several levels.
        """
        variables = tuple(self.names[column] for column in columns)
        sides: list[list[FloatArray]] = [[], []]
        for column, level in zip(columns, levels, strict=True):
            read = self._raw.values([column])
            values = read if level is None else self._raw.indicator(column, level)
            if values is None:
                return Described(variables, {}, (0, 0))
            for side, of_sample in zip(sides, values, strict=True):
                side.append(of_sample[:, 0])
        x, y = (np.column_stack(side) for side in sides)
        rows = tuple(int((~np.isnan(side).any(axis=1)).sum()) for side in (x, y))
        names = [
            self.names[column] if level is None else f"{self.names[column]} = {level}"
            for column, level in zip(columns, levels, strict=True)
        ]
        sampling = self._raw.sampling
        group = Group.of(x, y, sampling)
        kinds = kinds_of(PAIRS if len(columns) == 2 else TRIPLES)
        if sampling.standardised:
            # Strata in other proportions bend any dependence but that within them.
            kinds = [kind for kind in kinds if kind.name == CORRELATION and kind.effect(group)]
            if kinds:
                x, y = (sampling.within_strata(k, side) for k, side in enumerate((x, y)))
                group = Group.of(x, y, sampling)
        effects = {}
        for kind in kinds:
            estimate = kind.effect(group)
            if estimate is None:
                continue
            measure = estimate.measure.format(*names)
            if kind.name == CORRELATION and any(level is not None for level in levels):
                measure = f"correlation of {names[0]} with {names[1]}"
            if sampling.standardised:
                measure += sampling.words[1]
            effects[kind.name] = replace(estimate, measure=measure)
        return Described(variables, effects, (rows[0], rows[1]), smallest=self._smallest)


def _unadjusted(kind: FindingKind, column: Column) -> str:
    """Return the effect without adjustment for covariates, in words; empty where there are none."""
    if not isinstance(column.sampling, AdjustedRows):
        return ""
    x, y = column.sides
    raw = kind.effect(Column.of(x.values, y.values, IndependentRows(), column.labels))
    if raw is None or not math.isfinite(raw.effect) or (raw.null == 1 and raw.effect <= 0):
        return ""
    scale = kind.scale or scale_of_measure(raw.measure)
    unit = f" {scale.unit}" if scale.unit else ""
    return f"unadjusted {scale.effect} {scale.number(raw.effect)}{unit}"


def _deviation(values: FloatArray) -> float:
    return float(values.std(ddof=1)) if values.size > 1 else math.nan
