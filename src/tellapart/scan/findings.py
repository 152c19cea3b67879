"""What the scan names: columns, pairs and triples with adjusted p-values and effect sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tellapart.arrays import BoolArray, FloatArray
from tellapart.effects.columns import LEVELS, NUMERIC
from tellapart.effects.estimate import Estimate, holm
from tellapart.effects.raw_columns import RawColumns
from tellapart.scan.adjusted import WEIGHTS, GroupScores, TableUnits, Units, step_down
from tellapart.scan.column_changes import OTHERS, MaxTScores, OtherUnits, column_changes
from tellapart.scan.column_tests import ColumnTests, Unadjusted
from tellapart.scan.describer import Described, Describer
from tellapart.scan.error_rates import FAMILYWISE, FDR, ErrorRate
from tellapart.scan.families.joint import JointCandidates, LocalDifference
from tellapart.scan.families.missing import MissingCandidates
from tellapart.scan.families.values import ValueCandidates
from tellapart.scan.family import COLUMN_KINDS, GroupCandidates
from tellapart.scan.finding import Finding, sort_findings
from tellapart.scan.finding_kinds import (
    ALONE,
    DISTRIBUTION,
    LAST,
    NEW_VALUES,
    OTHERWISE,
    PAIRS,
    SHARE,
    TRIPLES,
    FindingKind,
    kinds_of,
)
from tellapart.scan.pool import Pool
from tellapart.scan.smallest_effect import SmallestEffect
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


CANDIDATES = 0.1
"""Columns with p ≤ so many α may be reported where several comparisons share one error rate."""


@dataclass(eq=False)
class ColumnCandidates:
    """Columns that may be reported, with their effects, of one pair of samples.

    Attributes
    ----------
    describer : Describer or None
        Computes further effects; None where `described` has them all.
    unadjusted, adjusted : mappings from column to float
        The p-values of each column's values: by itself, and for the familywise error rate.
    n_compared : int
        Columns that were compared in all.
    floor : float
        The smallest p-value that the permutations can give.
    kinds : sequence of str
        What of `COLUMN_KINDS` was compared.
    described : dict from column to Described
        Their effects, as far as they were computed.
    """

    describer: Describer | None
    unadjusted: Mapping[int, float]
    adjusted: Mapping[int, float]
    n_compared: int
    floor: float
    kinds: Sequence[str] = COLUMN_KINDS
    described: dict[int, Described] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        describer: Describer,
        chosen: BoolArray,
        unadjusted: FloatArray,
        adjusted: FloatArray,
        n_compared: int,
        floor: float,
        kinds: Sequence[str],
    ) -> ColumnCandidates:
        """Return the chosen columns, the most significant first."""
        order = np.argsort(adjusted, kind="stable")
        columns = order[chosen[order]]
        unadjusted_of, adjusted_of = (
            dict(zip(columns.tolist(), pvalues[columns].tolist(), strict=True))
            for pvalues in (unadjusted, adjusted)
        )
        return cls(describer, unadjusted_of, adjusted_of, n_compared, floor, kinds)

    @classmethod
    def none(cls, n_compared: int) -> ColumnCandidates:
        """Return no candidates, of so many columns that were compared."""
        return cls(None, {}, {}, n_compared, 0.0, ())

    def describe(self, columns: Sequence[int], orders: Sequence[int]) -> None:
        """Compute the effects of kinds that are reported in these turns."""
        if self.describer is not None:
            self.described |= self.describer.each(columns, orders)

    def complete(self) -> ColumnCandidates:
        """Return the candidates with all their effects, which no longer need the samples."""
        self.describe([*self.unadjusted], (ALONE, OTHERWISE, LAST))
        return replace(self, describer=None)


def report_columns(
    every: Sequence[ColumnCandidates], rate: ErrorRate, alpha: float
) -> list[list[Finding]]:
    """Return the findings of columns, of several pairs of samples that share one error rate.

    A kind is judged by the larger p-value of the two that it needs, that of the name and its own.
    With a smallest effect, its own is that of an effect of at most this size; what differs by less
    is not reported as a kind that has no size, either.
    """
    not_compared = set(COLUMN_KINDS) - {kind for one in every for kind in one.kinds}
    keys = [(k, column) for k, one in enumerate(every) for column in one.unadjusted]
    n_compared = sum(one.n_compared for one in every)
    significant: dict[tuple[int, int], dict[str, float]] = {key: {} for key in keys}
    negligible: set[tuple[int, int]] = set()

    def about(key: tuple[int, int]) -> Described:
        return every[key[0]].described[key[1]]

    def effects(key: tuple[int, int]) -> Mapping[str, Estimate]:
        return about(key).effects

    def of_names(of: Sequence[tuple[int, int]]) -> tuple[FloatArray, FloatArray]:
        return (
            np.array([every[k].unadjusted[column] for k, column in of]),
            np.array([every[k].adjusted[column] for k, column in of]),
        )

    def below(
        of: Sequence[tuple[int, int]], raw: Sequence[float] | None
    ) -> dict[tuple[int, int], float]:
        """Return those with p ≤ α, of their names alone where no other p-values are given."""
        unadjusted, adjusted = of_names(of)
        if raw is not None:
            unadjusted = np.maximum(unadjusted, raw)
            adjusted = np.maximum(adjusted, holm(raw, n_compared))
        pvalues = rate.adjust(unadjusted, adjusted, n_compared)
        return {key: p for key, p in zip(of, pvalues.tolist(), strict=True) if p <= alpha}

    def judge(kind: FindingKind, of: Sequence[tuple[int, int]]) -> None:
        having = [key for key in of if kind.name in effects(key)]
        if negligible:
            having = [
                key
                for key in having
                if key not in negligible or about(key).size(kind.name) is not None
            ]
        raw = [effects(key)[kind.name].pvalue for key in having]
        found = below(having, raw if kind.adjusted else None)
        if any(about(key).size(kind.name) is not None for key in having):
            exceeding = below(having, [about(key).pvalue(kind.name) for key in having])
            negligible.update(found.keys() - exceeding.keys())
            found = exceeding
        for key, p in found.items():
            significant[key][kind.name] = p

    for one in every:
        one.describe([*one.unadjusted], (ALONE,))
    of_columns = [kind for kind in kinds_of(NUMERIC, LEVELS) if kind.name not in not_compared]
    for kind in of_columns:
        if kind.order == ALONE:
            judge(kind, keys)
    for key, kinds in significant.items():
        if {SHARE, NEW_VALUES} <= set(kinds) and (
            effects(key)[SHARE].values == effects(key)[NEW_VALUES].values
        ):
            # The level whose proportion differs most is the one that is new.
            del kinds[SHARE]
    unexplained = [key for key in keys if not significant[key]]
    for k, one in enumerate(every):
        one.describe([column for of, column in unexplained if of == k], (OTHERWISE, LAST))
    for kind in of_columns:
        if kind.order == OTHERWISE:
            judge(kind, unexplained)
    for key, p in below(keys, None).items():
        if significant[key] or DISTRIBUTION not in effects(key):
            continue
        p = about(key).adjusted(p, DISTRIBUTION, n_compared)
        if p <= alpha and (key not in negligible or about(key).size(DISTRIBUTION) is not None):
            significant[key][DISTRIBUTION] = p
    findings: list[list[Finding]] = [[] for _ in every]
    n_effects = len(kinds_of(NUMERIC)) * n_compared
    for (k, column), kinds in significant.items():
        one = every[k]
        described = one.described[column]
        findings[k] += [
            replace(described.finding(kind, p, n_effects, one.floor), rate=rate.name)
            for kind, p in kinds.items()
        ]
    return findings


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
        raw = [every[q].pvalue(kind) for q in having]
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
            sized = any(described.size(own) is not None for own in described.effects)
            p = described.adjusted(group.pvalue, kind, n_compared, clearest)
            if p > alpha or (sized and described.size(kind, clearest) is None):
                continue
            finding = described.finding(kind, p, n_compared, floor, clearest)
        else:
            continue
        findings.append((group, finding))
    return findings


@dataclass(frozen=True)
class Findings:
    """The findings, most significant first, and the test of every column.

    `columns`, `pairs` and `triples` are the columns that findings are about, `unlisted` the numbers
    of further pairs and triples that are significant, and `local` the sets of columns that differ
    locally.
    """

    findings: tuple[Finding, ...]
    tests: ColumnTests
    columns: tuple[int, ...] = ()
    pairs: tuple[tuple[int, ...], ...] = ()
    triples: tuple[tuple[int, ...], ...] = ()
    unlisted: Mapping[str, int] = field(default_factory=dict)
    candidates: ColumnCandidates | None = None
    local: tuple[LocalDifference, ...] = ()


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
    rate: ErrorRate = FAMILYWISE,
    keep_candidates: bool = False,
    smallest: SmallestEffect | None = None,
) -> Findings:
    """Name what differs among the candidates and describe it by the values of `raw`.

    Columns are named by what of `COLUMN_KINDS` is compared, and not at all where nothing is. Where
    the `max_t` of all columns is known, `pool` is that of pairs and triples. No adjusted p-value is
    smaller than that of the scan itself, so nothing is named where the samples as a whole do not
    differ. `rate` decides which columns and kinds are reported; with `keep_candidates` more of them
    are described, for comparisons that share one error rate. With a `smallest` effect, findings are
    those that exceed it beyond error.
    """
    parent = pool.tables.column
    shifts = pool.shifts if "location" in column_kinds else None
    if column_kinds:
        max_t = max_t or MaxTScores.of(column_changes(pool, column_kinds))
    groups = {"pairs": _groups(candidates, 2), "triples": _groups(candidates, 3)}
    scored = {name: GroupScores(kinds, parent) for name, kinds in groups.items()}
    missing = next((one for one in candidates if isinstance(one, MissingCandidates)), None)
    repeated = next((one for one in candidates if isinstance(one, ValueCandidates)), None)
    joint = next((one for one in candidates if isinstance(one, JointCandidates)), None)
    column_units = None if max_t is None else max_t.units()
    missing_units = None if missing is None else TableUnits(missing.scores)
    value_units = None if repeated is None else TableUnits(repeated.scores)
    joint_units = None if joint is None else TableUnits(joint.scores)
    other_units = None if shifts is None else OtherUnits(shifts)
    units: dict[str, Units | None] = {
        "columns": column_units,
        **{name: scores if scores.candidates else None for name, scores in scored.items()},
        "missing": missing_units,
        "values": value_units,
        "joint": joint_units,
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
    of_values = np.empty(0)
    if repeated is not None and value_units is not None:
        of_values = value_units.adjusted(named_of["values"])
        columns, pvalues = repeated.column_pvalues(of_values)
        of_column[columns] = np.minimum(of_column[columns], np.maximum(pvalues, pvalue))
    own = OwnTests.of(names, pool, max_t, shifts, missing, repeated)
    tests = ColumnTests.of(names, own.columns, of_column, own.compared)
    if pvalue > alpha:
        return Findings((), tests)
    floor = 0.0 if pool.labels.exact or rate.name == FDR else 1 / pool.count
    describer = Describer(raw, smallest)
    n_columns = np.unique(parent).size if max_t is None else int(own.compared_values.sum())
    by_rate = np.ones(len(names))
    by_rate[own.compared_values] = rate.adjust(
        own.values[own.compared_values], by_values[own.compared_values], n_columns
    )
    reported = by_rate <= alpha
    possible = ColumnCandidates.of(
        describer,
        reported | (own.values <= CANDIDATES * alpha) if keep_candidates else reported,
        own.values,
        by_values,
        n_columns,
        floor,
        column_kinds,
    )
    if keep_candidates:
        possible = possible.complete()
    findings = report_columns([possible], rate, alpha)[0]
    named = [int(c) for c in np.flatnonzero(reported)]
    told = {(finding.variables, finding.values) for finding in findings}
    apart: list[tuple[int, list[tuple[float, float]], float]] = []
    if repeated is not None:
        n_values = of_values.size
        apart = repeated.named(rate.adjust(own.apart, of_values, n_values), alpha)
    for column, ranges, p in apart:
        p = p if rate.name == FDR else max(p, pvalue)
        finding = describer.values_apart(column, ranges, p, n_columns, floor)
        if (finding.variables, finding.values) not in told and finding.pvalue <= alpha:
            findings.append(finding)
    of_missing = rate.adjust(own.missing, of_missing, of_missing.size)
    findings += [
        describer.missing(int(k), float(of_missing[k]), n_columns, floor)
        for k in np.argsort(of_missing, kind="stable")
        if of_missing[k] <= alpha
    ]
    # What is missing differs, and by enough.
    findings = [replace(finding, rate=rate.name) for finding in findings if finding.pvalue <= alpha]
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
    local: list[LocalDifference] = []
    if joint is not None and joint_units is not None:
        of_sets = np.maximum(joint_units.adjusted(named_of["joint"]), pvalue)
        elsewhere = [*({column} for column in explained), *map(set, (*pairs, *triples))]
        for k in np.argsort(-joint.scores[0], kind="stable"):
            members = set(joint.sets[k])
            # One change is reported once: no set is that has a part in common with a finding.
            nested = (members <= set(one.columns) or set(one.columns) <= members for one in local)
            if of_sets[k] > alpha or any(part <= members for part in elsewhere) or any(nested):
                continue
            of_set = describer.joint(joint.sets[k], float(of_sets[k]), joint.bandwidths[k], floor)
            if of_set is not None and of_set.pvalue <= alpha:
                findings.append(of_set)
                local.append(joint.difference(int(k)))
    return Findings(
        sort_findings(findings),
        tests,
        tuple(sorted(explained)),
        pairs,
        triples,
        {name: count for name, count in unlisted.items() if count},
        possible if keep_candidates else None,
        tuple(local),
    )


@dataclass(frozen=True, eq=False)
class OwnTests:
    """Unadjusted p-values of what findings may be about.

    Attributes
    ----------
    columns : Unadjusted
        Of every column: with p_k those of its values, of what is missing and of values that stand
        apart, and w_k the weights of these classes, min_k p_k Σw/w_k (Bonferroni).
    compared, compared_values : arrays of bool
        Which columns were compared at all, and by their values.
    values : array
        Of every column's values, no smaller than that of the column; 1 where not compared.
    missing, apart : arrays
        Of what is missing, by column of the pattern, and of each value that stands apart.
    """

    columns: Unadjusted
    compared: BoolArray
    compared_values: BoolArray
    values: FloatArray
    missing: FloatArray
    apart: FloatArray

    @classmethod
    def of(
        cls,
        names: tuple[str, ...],
        pool: Pool,
        max_t: MaxTScores | None,
        shifts: WideShifts | None,
        missing: MissingCandidates | None,
        repeated: ValueCandidates | None,
    ) -> OwnTests:
        """Return the p-values of all classes."""
        labels = pool.labels

        def of(scores: FloatArray) -> Unadjusted:
            return Unadjusted.of(scores, labels.log_labellings, exact=labels.exact)

        every = [] if max_t is None else [("columns", max_t.columns, max_t.unadjusted)]
        if shifts is not None:
            every.append((OTHERS, shifts.columns[shifts.named], shifts.unadjusted))
        values, compared_values = np.ones(len(names)), np.zeros(len(names), dtype=np.bool_)
        for _, columns, own in every:
            values[columns], compared_values[columns] = own.pvalue, True
        of_missing = of_values = np.empty(0)
        if missing is not None:
            own = of(missing.scores)
            of_missing = own.pvalue
            place = {name: column for column, name in enumerate(names)}
            known = np.array([k for k, name in enumerate(missing.names) if name in place], np.intp)
            columns = np.array([place[missing.names[k]] for k in known], dtype=np.intp)
            every.append(("missing", columns, own.some(known)))
        if repeated is not None:
            of_values = of(repeated.scores).pvalue
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
        values = np.maximum(values, joined.pvalue)
        return cls(joined, total > 0, compared_values, values, of_missing, of_values)


def _groups(candidates: Sequence[object], n_members: int) -> list[GroupCandidates]:
    """Return the kinds of groups of so many columns."""
    groups = (one for one in candidates if isinstance(one, GroupCandidates))
    return [one for one in groups if one.n_members == n_members]
