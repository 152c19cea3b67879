"""What each selected variable differs in: which way, how much, with an interval, how significant.

What a scan names is reported as the scan found it. Of the other variables the effects are those of
the rows, with the adjusted p-value of the column: they were selected together with others, and are
not individually significant. Effects of variables that the same rows selected are inflated by the
selection (winner's curse); those of held-out rows are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice

from tellapart.budget import current_budget
from tellapart.data.samples import Samples
from tellapart.effects.raw_columns import RawColumns
from tellapart.scan.describer import UNTESTED, Described, Describer
from tellapart.scan.finding import Finding
from tellapart.scan.finding_kinds import ALONE, LOCATION, MISSING, OTHERWISE, SHAPE, SHARE, SPREAD
from tellapart.selection.selection import Selection

MOST_JOINT = 10
"""Variables selected by a joint kernel among whose pairs a change of dependence is looked for."""
SIGNIFICANT = 0.05
"""A difference of means with at most this p-value comes first, whatever else differs."""
CLEARLY_JOINT = 1e-4
"""A pair is reported of a variable where its p-value is at most this, and below the column's."""
FIRST = (LOCATION, SHARE)
"""Differences of the mean come first."""
KINDS_OF = {"shift": FIRST, "spread": (SPREAD,), "shape": (SHAPE,), "missing": (MISSING,)}
"""The kinds of finding that each reason of a choice by evidence stands for."""


@dataclass(frozen=True)
class ScanFindings:
    """What a scan reports at its level: findings, and the adjusted p-value of every column."""

    findings: tuple[Finding, ...]
    pvalues: Mapping[str, float]
    alpha: float


def with_changes(
    selection: Selection,
    samples: Samples,
    *,
    scanned: ScanFindings | None = None,
    train: Samples | None = None,
    joint: bool = False,
) -> Selection:
    """Return the selection with what its variables differ in.

    Parameters
    ----------
    selection : Selection
        The choice.
    samples : Samples
        The rows that effects and intervals are computed from.
    scanned : ScanFindings or None
        What a scan reports of the same rows; None where none was made.
    train : Samples or None
        Rows that decide what to report of each variable, where the others took no part in the
        choice.
    joint : bool
        Whether the variables were selected by a kernel that sees how columns depend on each other:
        then a pair is reported where it is more significant than its columns.
    """
    names = list(islice(selection.weights, current_budget().described_variables))
    reported: dict[str, Finding] = {}
    if scanned is not None:
        from_scan = ((name, _named(scanned, selection, name, names)) for name in names)
        reported = {name: finding for name, finding in from_scan if finding is not None}
    unnamed = [name for name in names if name not in reported]
    if unnamed:
        measured = _Effects(samples, len(names))
        deciding = measured if train is None else _Effects(train, len(names))
        joint = joint and scanned is None and len(names) <= MOST_JOINT
        pairs = list(combinations(sorted(selection.support.tolist()), 2)) if joint else []
        columns = [selection.names.index(name) for name in unnamed]
        for effects in (measured, deciding):
            effects.read(columns)
        for name, column in zip(unnamed, columns, strict=True):
            members = _members(selection, name, column, deciding, pairs)
            kinds = _kinds_of_reason(selection, name)
            finding = measured.finding(members, deciding.kind(members, kinds))
            if finding is not None:
                reported[name] = _judged(finding, name, scanned)
    changes = {name: reported[name] for name in names if name in reported}
    return replace(selection, changes=changes)


def _kinds_of_reason(selection: Selection, name: str) -> tuple[str, ...]:
    reasons = dict(zip(selection.variables, selection.reasons, strict=False))
    return KINDS_OF.get(reasons.get(name, ""), ())


def _group(selection: Selection, name: str) -> tuple[int, ...]:
    column = selection.names.index(name)
    return next((tuple(group) for group in selection.groups if column in group), ())


def _named(
    scanned: ScanFindings, selection: Selection, name: str, names: Sequence[str]
) -> Finding | None:
    """Return the finding that describes a variable: of its mean first, then of its reason."""
    findings, group = scanned.findings, _group(selection, name)
    if group:
        members = {selection.names[s] for s in group}
        return next((f for f in findings if set(f.variables) == members), None)
    single = [finding for finding in findings if finding.variables == (name,)]
    kinds = _kinds_of_reason(selection, name)
    first = [finding for finding in single if finding.kind in FIRST]
    fitting = [finding for finding in single if finding.kind in kinds]
    # A kernel gives no reason for a variable, which may be how it depends on others.
    joint = [f for f in findings if name in f.variables and set(f.variables) <= set(names)]
    return next(iter([*first, *fitting, *single, *([] if kinds else joint)]), None)


def _members(
    selection: Selection,
    name: str,
    column: int,
    deciding: _Effects,
    pairs: Iterable[tuple[int, int]],
) -> tuple[int, ...]:
    """Return the column, or the group or pair that is reported of it."""
    group = _group(selection, name)
    if group:
        return group
    members: tuple[int, ...] = (column,)
    least = min(CLEARLY_JOINT, deciding.least(members))
    for pair in pairs:
        if column in pair and deciding.least(pair) < least:
            members, least = pair, deciding.least(pair)
    return members


class _Effects:
    """The effects of columns and groups of some rows, each computed once."""

    def __init__(self, samples: Samples, n_effects: int) -> None:
        self._raw = RawColumns(samples)
        self._describer = Describer(self._raw)
        self._n_effects = n_effects
        self._described: dict[tuple[int, ...], Described] = {}

    def read(self, columns: Sequence[int]) -> None:
        """Compute the effects of single columns."""
        for column, described in self._describer.each(columns, (ALONE, OTHERWISE)):
            self._described[column,] = described

    def _pvalues(self, columns: tuple[int, ...]) -> dict[str, float]:
        """Return the unadjusted p-values by kind; none of groups with a categorical column."""
        if columns not in self._described:
            described = Described((), {}, (0, 0))
            if all(self._raw.kinds[column] == "numeric" for column in columns):
                described = self._describer.group(columns, [None] * len(columns))
            self._described[columns] = described
        effects = self._described[columns].effects
        return {kind: estimate.pvalue for kind, estimate in effects.items()}

    def _in_pattern(self, columns: tuple[int, ...]) -> int | None:
        """Return the number of a column among those with missing values; None of others."""
        pattern, name = self._raw.pattern, self._raw.names[columns[0]]
        if pattern is None or len(columns) > 1 or name not in pattern.names:
            return None
        return pattern.names.index(name)

    def least(self, columns: tuple[int, ...]) -> float:
        """Return the smallest p-value of a column or group."""
        return min(self._pvalues(columns).values(), default=1.0)

    def kind(self, columns: tuple[int, ...], preferred: tuple[str, ...]) -> str | None:
        """Return the kind to report: of the mean, a preferred one, or the most significant."""
        if MISSING in preferred and self._in_pattern(columns) is not None:
            return MISSING
        pvalues = self._pvalues(columns)
        first = [kind for kind in FIRST if pvalues.get(kind, 1.0) <= SIGNIFICANT]
        fitting = [kind for kind in preferred if kind in pvalues]
        by_pvalue = sorted(pvalues, key=lambda kind: pvalues[kind])
        return next(iter([*first, *fitting, *by_pvalue]), None)

    def finding(self, columns: tuple[int, ...], kind: str | None) -> Finding | None:
        """Return the finding of a kind, or the most significant one if these rows have none."""
        k = self._in_pattern(columns)
        if kind == MISSING and k is not None:
            return self._describer.missing(k, UNTESTED, self._n_effects, 0.0)
        if kind not in self._pvalues(columns):
            kind = self.kind(columns, ())
        if kind is None:
            return None
        return self._described[columns].finding(kind, UNTESTED, self._n_effects)


def _judged(finding: Finding, name: str, scanned: ScanFindings | None) -> Finding:
    """Return a finding with the p-value of its column, where a scan gives one."""
    if scanned is None:
        return replace(finding, named=None)
    pvalue = scanned.pvalues.get(name, UNTESTED) if len(finding.variables) == 1 else UNTESTED
    return replace(finding, pvalue=pvalue, named=pvalue <= scanned.alpha)
