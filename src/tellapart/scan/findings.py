"""What the scan names: columns, pairs and triples with adjusted p-values and effect sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.budget import current_budget
from tellapart.effects.columns import LEVELS, NUMERIC, Column
from tellapart.effects.estimate import Estimate, holm
from tellapart.effects.groups import Group
from tellapart.effects.raw_columns import RawColumns
from tellapart.effects.values import FEWEST_LEVELS, value_proportions
from tellapart.scan.adjusted import WEIGHTS, GroupScores, TableUnits, Units, step_down
from tellapart.scan.column_changes import OTHERS, MaxTScores, OtherUnits, column_changes
from tellapart.scan.column_tests import ColumnTests, Unadjusted
from tellapart.scan.families.missing import MissingCandidates
from tellapart.scan.families.values import ValueCandidates
from tellapart.scan.family import COLUMN_KINDS, GroupCandidates
from tellapart.scan.finding import Finding, sort_findings
from tellapart.scan.finding_kinds import (
    ALONE,
    ANY_COLUMN,
    CORRELATION,
    DISTRIBUTION,
    FINDING_KINDS,
    LAST,
    MISSING,
    NEW_VALUES,
    OTHERWISE,
    PAIRS,
    SHARE,
    TRIPLES,
    FindingKind,
    kinds_of,
)
from tellapart.scan.pool import Pool
from tellapart.scan.wide import WideShifts

# From names to findings: what kind of difference, how large, with an interval.
#
# The maxima over permutations show *that* a column or pair is part of a difference, with the
# familywise error rate under control. *What* differs is a different question, as under a
# permutation null every feature is equal at once. It is answered by studentised tests of raw values
# (`tellapart.effects`), adjusted by Holm's method for each kind over all columns, or pairs, that
# were compared. A kind is reported where its adjusted p-value and that of the name are at most α:
#
#     mean, standard deviation    each on its own
#     shape                       where neither of them is
#     distribution                where no other is: what the name itself shows
#
# So for each kind the probability of any false one is at most α, in large samples.


UNTESTED = math.nan
"""The p-value of an effect of a column that no test named."""
STANDARDISED = ", standardised to the strata"
"""What follows a measure where strata count alike in both samples."""


@dataclass(frozen=True, eq=False)
class Described:
    """The effects of a column, pair or triple by kind, with unadjusted p-values.

    `rows` are those of each sample that have values, `statistics` mean, standard deviation and
    median of a numeric column in both samples.
    """

    variables: tuple[str, ...]
    effects: Mapping[str, Estimate]
    rows: tuple[int, int]
    statistics: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, column: Column, orders: Sequence[int]) -> Described:
        """Compute the effects of the kinds that are reported in these turns (`FindingKind.order`).

        The total variation distance of many levels is computed in any turn.
        """
        x, y = column.sides
        statistics = {}
        if column.type == NUMERIC:
            statistics = {
                "mean": (float(x.values.mean()), float(y.values.mean())),
                "SD": (_deviation(x.values), _deviation(y.values)),
                "median": (x.median, y.median),
            }
        many_levels = column.labels is not None and column.levels[0].size > FEWEST_LEVELS
        effects = {}
        for kind in kinds_of(column.type, ANY_COLUMN):
            if kind.order in orders or (kind.of == ANY_COLUMN and many_levels):
                estimate = kind.effect(column)
                if estimate is None:
                    continue
                if column.sampling.standardised and (kind.order == ALONE or column.type == LEVELS):
                    estimate = replace(estimate, measure=f"{estimate.measure}{STANDARDISED}")
                effects[kind.name] = estimate
        return cls((name,), effects, (x.n, y.n), statistics)

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
        )


class Describer:
    """Describes columns, pairs and triples of two samples from their raw values."""

    def __init__(self, raw: RawColumns) -> None:
        self._raw = raw

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
                yield column, Described.of(name, values, orders)
            start += step

    def columns(
        self,
        named: Sequence[tuple[int, float]],
        n_compared: int,
        alpha: float,
        floor: float,
        column_kinds: Sequence[str] = COLUMN_KINDS,
    ) -> list[Finding]:
        """Return the findings of columns that were named with these p-values.

        `n_compared` columns were compared in all, and `floor` is the smallest p-value that the
        permutations can give. Of what can change of a column, these kinds were compared.
        """
        pvalue_of = dict(named)
        described = dict(self.each([*pvalue_of], (ALONE,)))
        significant: dict[int, dict[str, float]] = {column: {} for column in described}

        def judge(kind: FindingKind, columns: Mapping[int, Described]) -> None:
            raw = {
                column: about.effects[kind.name].pvalue
                for column, about in columns.items()
                if kind.name in about.effects
            }
            adjusted = holm([*raw.values()], n_compared if kind.adjusted else 0)
            for column, p in zip(raw, adjusted.tolist(), strict=True):
                if max(p, pvalue_of[column]) <= alpha:
                    significant[column][kind.name] = max(p, pvalue_of[column])

        not_compared = set(COLUMN_KINDS) - set(column_kinds)
        of_columns = [kind for kind in kinds_of(NUMERIC, LEVELS) if kind.name not in not_compared]
        for kind in of_columns:
            if kind.order == ALONE:
                judge(kind, described)
        for column, kinds in significant.items():
            effects = described[column].effects
            if {SHARE, NEW_VALUES} <= set(kinds) and (
                effects[SHARE].values == effects[NEW_VALUES].values
            ):
                # The level whose proportion differs most is the one that is new.
                del kinds[SHARE]
        unexplained = [column for column, kinds in significant.items() if not kinds]
        described |= self.each(unexplained, (OTHERWISE, LAST))
        for kind in of_columns:
            if kind.order == OTHERWISE:
                judge(kind, {column: described[column] for column in unexplained})
        for column in unexplained:
            if not significant[column] and DISTRIBUTION in described[column].effects:
                significant[column][DISTRIBUTION] = pvalue_of[column]
        n_effects = len(kinds_of(NUMERIC)) * n_compared
        return [
            described[column].finding(kind, p, n_effects, floor)
            for column, kinds in significant.items()
            for kind, p in kinds.items()
        ]

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
        about = Described((self.names[column],), {kind: estimate}, rows)
        return about.finding(kind, pvalue, n_compared, floor)

    def missing(self, place: int, pvalue: float, n_compared: int, floor: float) -> Finding:
        """Describe the proportion of missing values of a column of the pattern."""
        pattern = self._raw.pattern
        assert pattern is not None
        x, y = self._raw.missing(place)
        estimate = FINDING_KINDS[MISSING].effect(Column.of(x, y, self._raw.sampling))
        assert estimate is not None
        about = Described((pattern.names[place],), {MISSING: estimate}, (x.size, y.size))
        return about.finding(MISSING, pvalue, n_compared, floor)

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
                measure += " within strata"
            effects[kind.name] = replace(estimate, measure=measure)
        return Described(variables, effects, (rows[0], rows[1]))


@dataclass(frozen=True)
class NamedGroup:
    """A pair or triple that was named: its columns, their levels, and its p-value."""

    columns: tuple[int, ...]
    levels: tuple[str | None, ...]
    pvalue: float


def describe_groups(
    describer: Describer,
    named: Sequence[NamedGroup],
    n_compared: int,
    alpha: float,
    floor: float,
    explained: set[int],
) -> list[tuple[NamedGroup, Finding]]:
    """Return the findings of pairs, or of triples, that were named.

    A kind is reported where it is significant among the `n_compared` groups. A group without one
    differs as a whole: that is reported where none of its columns is `explained` by a finding of
    its own.
    """
    every = [describer.group(group.columns, group.levels) for group in named]
    kinds = [kind.name for kind in kinds_of(PAIRS, TRIPLES)]
    adjusted: dict[str, dict[int, float]] = {}
    for kind in kinds:
        having = [q for q, described in enumerate(every) if kind in described.effects]
        raw = [every[q].effects[kind].pvalue for q in having]
        adjusted[kind] = dict(zip(having, holm(raw, n_compared).tolist(), strict=True))
    findings = []
    for q, (group, described) in enumerate(zip(named, every, strict=True)):
        pvalues = {
            kind: max(adjusted[kind][q], group.pvalue) for kind in kinds if q in adjusted[kind]
        }
        kind = next((kind for kind, p in pvalues.items() if p <= alpha), DISTRIBUTION)
        if kind != DISTRIBUTION:
            finding = described.finding(kind, pvalues[kind], n_compared, floor)
        elif described.effects and not explained & set(group.columns):
            clearest = min(described.effects.values(), key=lambda estimate: estimate.pvalue)
            finding = described.finding(kind, group.pvalue, n_compared, floor, clearest)
        else:
            continue
        findings.append((group, finding))
    return findings


def _deviation(values: FloatArray) -> float:
    return float(values.std(ddof=1)) if values.size > 1 else math.nan


@dataclass(frozen=True)
class Findings:
    """The findings, most significant first, and the test of every column.

    `columns`, `pairs` and `triples` are the columns that findings are about, `unlisted` the numbers
    of further pairs and triples that are significant.
    """

    findings: tuple[Finding, ...]
    tests: ColumnTests
    columns: tuple[int, ...] = ()
    pairs: tuple[tuple[int, ...], ...] = ()
    triples: tuple[tuple[int, ...], ...] = ()
    unlisted: Mapping[str, int] = field(default_factory=dict)


def find(
    names: tuple[str, ...],
    pool: Pool,
    candidates: Sequence[object],
    *,
    pvalue: float,
    alpha: float,
    raw: RawColumns,
    column_kinds: Sequence[str] = COLUMN_KINDS,
    max_t: MaxTScores | None = None,
) -> Findings:
    """Name what differs among the candidates and describe it by the values of `raw`.

    Columns are named by what of `COLUMN_KINDS` is compared, and not at all where nothing is. Where
    the `max_t` of all columns is known, `pool` is that of pairs and triples. No adjusted p-value is
    smaller than that of the scan itself, so nothing is named where the samples as a whole do not
    differ.
    """
    parent = pool.tables.column
    shifts = pool.shifts if "location" in column_kinds else None
    if column_kinds:
        max_t = max_t or MaxTScores.of(column_changes(pool, column_kinds))
    groups = {"pairs": _groups(candidates, 2), "triples": _groups(candidates, 3)}
    scored = {name: GroupScores(kinds, parent) for name, kinds in groups.items()}
    missing = next((one for one in candidates if isinstance(one, MissingCandidates)), None)
    repeated = next((one for one in candidates if isinstance(one, ValueCandidates)), None)
    column_units = None if max_t is None else max_t.units()
    missing_units = None if missing is None else TableUnits(missing.scores)
    value_units = None if repeated is None else TableUnits(repeated.scores)
    other_units = None if shifts is None else OtherUnits(shifts)
    units: dict[str, Units | None] = {
        "columns": column_units,
        **{name: scores if scores.candidates else None for name, scores in scored.items()},
        "missing": missing_units,
        "values": value_units,
        OTHERS: other_units,
    }
    named_of = step_down({name: some for name, some in units.items() if some is not None}, alpha)
    of_column = np.ones(len(names))
    if max_t is not None and column_units is not None:
        adjusted = max_t.adjusted(column_units, named_of["columns"])
        of_column[max_t.columns] = np.maximum(adjusted, pvalue)
    if shifts is not None and other_units is not None:
        of_others = np.maximum(other_units.adjusted(named_of[OTHERS]), pvalue)
        of_column[shifts.columns[shifts.named]] = of_others[shifts.named]
    by_values = of_column.copy()
    of_missing = np.empty(0)
    if missing is not None and missing_units is not None:
        of_missing = np.maximum(missing_units.adjusted(named_of["missing"]), pvalue)
        column_of = {name: column for column, name in enumerate(names)}
        for name, p in zip(missing.names, of_missing.tolist(), strict=True):
            # A column differs where its values do, or what is missing of it.
            if name in column_of:
                of_column[column_of[name]] = min(of_column[column_of[name]], p)
    apart: list[tuple[int, list[tuple[float, float]], float]] = []
    if repeated is not None and value_units is not None:
        of_values = value_units.adjusted(named_of["values"])
        columns, pvalues = repeated.column_pvalues(of_values)
        of_column[columns] = np.minimum(of_column[columns], np.maximum(pvalues, pvalue))
        apart = repeated.named(of_values, alpha)
    tests = _column_tests(names, pool, max_t, shifts, missing, repeated, of_column)
    if pvalue > alpha:
        return Findings((), tests)
    floor = 0.0 if pool.labels.exact else 1 / pool.count
    describer = Describer(raw)
    named = [int(c) for c in np.argsort(by_values, kind="stable") if by_values[c] <= alpha]
    n_columns = np.unique(parent).size if max_t is None else int(max_t.columns.size)
    n_columns += 0 if shifts is None else int(shifts.named.sum())
    findings = describer.columns(
        [(column, float(by_values[column])) for column in named],
        n_columns,
        alpha,
        floor,
        column_kinds,
    )
    reported = {(finding.variables, finding.values) for finding in findings}
    for column, ranges, p in apart:
        finding = describer.values_apart(column, ranges, max(p, pvalue), n_columns, floor)
        if (finding.variables, finding.values) not in reported:
            findings.append(finding)
    findings += [
        describer.missing(int(k), float(of_missing[k]), n_columns, floor)
        for k in np.argsort(of_missing, kind="stable")
        if of_missing[k] <= alpha
    ]
    explained = {*named, *(column for column, _, _ in apart)}
    levels = [
        one or other for one, other in zip(pool.tables.told_by, pool.tables.level, strict=True)
    ]
    unlisted: dict[str, int] = {}
    described: dict[str, list[NamedGroup]] = {}
    for name, scores in scored.items():
        taken = scores.named(named_of[name], alpha) if scores.taken else []
        if taken:
            unlisted[name] = scores.n_unlisted(named_of[name], alpha)
        # What columns and pairs show already is not reported again of the triples they are in.
        explaining: list[set[int]] = []
        if name == "triples":
            explaining = [set(group.columns) for group in described["pairs"]] + [{c} for c in named]
        to_describe = [
            NamedGroup(
                tuple(int(parent[s]) for s in candidate.score_columns),
                tuple(levels[s] for s in candidate.score_columns),
                max(p, pvalue),
            )
            for candidate, p in taken
            if not any(members <= set(candidate.columns) for members in explaining)
        ]
        n_groups = max((len(kind.score_columns) for kind in groups[name]), default=1)
        reports = describe_groups(describer, to_describe, n_groups, alpha, floor, explained)
        findings += [finding for _, finding in reports]
        described[name] = [group for group, _ in reports]
    pairs, triples = (
        tuple(tuple(sorted(group.columns)) for group in described[name])
        for name in ("pairs", "triples")
    )
    return Findings(
        sort_findings(findings),
        tests,
        tuple(sorted(explained)),
        pairs,
        triples,
        {name: count for name, count in unlisted.items() if count},
    )


def _column_tests(
    names: tuple[str, ...],
    pool: Pool,
    max_t: MaxTScores | None,
    shifts: WideShifts | None,
    missing: MissingCandidates | None,
    repeated: ValueCandidates | None,
    adjusted: FloatArray,
) -> ColumnTests:
    """Return the tests of all columns, of which several share the level of their column.

    With p_k the p-values of its values, of what is missing and of values that stand apart, and w_k
    the weights of these classes, that of the column is min_k p_k Σw/w_k (Bonferroni).
    """
    labels = pool.labels

    def of(scores: FloatArray) -> Unadjusted:
        return Unadjusted.of(scores, labels.log_labellings, exact=labels.exact)

    every = [] if max_t is None else [("columns", max_t.columns, max_t.unadjusted)]
    if shifts is not None:
        every.append((OTHERS, shifts.columns[shifts.named], shifts.unadjusted))
    if missing is not None:
        place = {name: column for column, name in enumerate(names)}
        known = [k for k, name in enumerate(missing.names) if name in place]
        columns = np.array([place[missing.names[k]] for k in known], dtype=np.intp)
        every.append(("missing", columns, of(missing.scores[:, known])))
    if repeated is not None:
        columns, largest = repeated.largest()
        every.append(("values", columns, of(largest)))
    total = np.zeros(len(names))
    for name, columns, _ in every:
        total[columns] += WEIGHTS[name]
    joined = Unadjusted.none(len(names))
    for name, columns, own in every:
        pvalue = np.minimum(own.pvalue * total[columns] / WEIGHTS[name], 1.0)
        smaller = pvalue < joined.pvalue[columns]
        joined.pvalue[columns[smaller]] = pvalue[smaller]
        joined.approximate[columns[smaller]] = own.approximate[smaller]
    return ColumnTests.of(names, joined, adjusted, total > 0)


def _groups(candidates: Sequence[object], n_members: int) -> list[GroupCandidates]:
    """Return the kinds of groups of so many columns."""
    groups = (one for one in candidates if isinstance(one, GroupCandidates))
    return [one for one in groups if one.n_members == n_members]
