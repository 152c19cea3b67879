"""What the report says of findings, columns and families: rows of tables, groups on one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tellapart.scan.families import FAMILY_DESCRIPTIONS
from tellapart.scan.finding import FINDING_KINDS, Finding, Scale, p_text
from tellapart.testing.result import TestResult
from tellapart.testing.story import describe_kinds, describe_unnamed, family_floor

NEARLY_ONE = 0.99
"""An adjusted p-value from here on is no hint at all."""
MOST_COLUMNS = 5000
"""Columns of one group that a page lists."""


@dataclass(frozen=True)
class Row:
    """One finding as a row of a table; `interval` and `simultaneous` are those of `size`."""

    variables: tuple[str, ...]
    kind: str
    change: str
    size: str
    interval: str
    simultaneous: str
    pvalue: str


@dataclass(frozen=True)
class ColumnGroup:
    """Columns with p-values of one range: name, adjusted p-value, and effects in words."""

    title: str
    note: str
    rows: list[tuple[str, str, str]]
    n_columns: int
    unfolded: bool
    names_only: bool = False


@dataclass(frozen=True)
class Family:
    """One family of differences: what it responds to, its p-value or why there is none."""

    name: str
    description: str
    pvalue: str
    note: str


def pick_findings(findings: Sequence[Finding], most: int) -> list[Finding]:
    """Return at most so many findings in their order: some of every scale, for figures."""
    groups: dict[Scale, list[int]] = {}
    for place, finding in enumerate(findings):
        groups.setdefault(finding.scale, []).append(place)
    kept: list[int] = []
    # The small groups first: what they leave goes to the large ones.
    for done, places in enumerate(sorted(groups.values(), key=len)):
        kept += places[: max((most - len(kept)) // (len(groups) - done), 1)]
    return [findings[place] for place in sorted(kept)]


def group_findings(findings: Sequence[Finding], most: int) -> dict[Scale, list[Finding]]:
    """Return the findings that can be drawn by their scale, at most so many of all."""
    groups: dict[Scale, list[Finding]] = {}
    for finding in pick_findings(list(filter(_has_size, findings)), most):
        groups.setdefault(finding.scale, []).append(finding)
    return groups


def describe_finding(finding: Finding) -> Row:
    """Put one finding into the cells of a table.

    Examples
    --------
    >>> found = Finding("spread", ("age",), 0.012, 0.5, (0.4, 0.6), (1.0, 2.0), "SD")
    >>> row = describe_finding(found)
    >>> row.kind, row.size, row.interval, row.pvalue
    ('Standard deviation', 'SD ratio 0.50', '95 % CI 0.40 to 0.60', '0.012')
    """
    interval = finding.interval_text()
    kind = FINDING_KINDS.get(finding.kind)
    return Row(
        variables=finding.variables,
        kind=finding.kind if kind is None else kind.title,
        change=finding.description().removesuffix(finding.size()).removesuffix("; "),
        size=finding.size().removesuffix(f" ({interval})"),
        interval=interval,
        simultaneous=simultaneous_text(finding),
        pvalue=pvalue_cell(finding.pvalue, finding.floor),
    )


def simultaneous_text(finding: Finding) -> str:
    """Return the interval that holds for all effects at once; empty where it is not known."""
    if any(map(math.isnan, finding.simultaneous)):
        return ""
    low, high = (finding.scale.number(value, finding.decimals) for value in finding.simultaneous)
    return f"simultaneous {low} to {high}"


def pvalue_cell(pvalue: float, floor: float = 0.0) -> str:
    """Return a p-value for a column that is headed so: "0.012", "≤ 0.001" at the floor."""
    if math.isnan(pvalue):
        return "–"
    return p_text(pvalue, floor).removeprefix("p ").removeprefix("= ")


def describe_columns(result: TestResult) -> list[ColumnGroup]:
    """Return all columns by their adjusted p-values: at the floor, significant, not, near 1.

    Effects are those of findings and of selected variables.
    """
    pvalues, floor = result.variable_pvalues, result.pvalue_floor
    effects: dict[str, list[str]] = {}
    findings = [finding for finding in result.findings if len(finding.variables) == 1]
    rank = {finding.variables[0]: place for place, finding in reversed([*enumerate(findings)])}
    changes = [c for c in result.selection.changes.values() if len(c.variables) == 1]
    known = {finding.variables[0] for finding in findings}
    for finding in [*findings, *(c for c in changes if c.variables[0] not in known)]:
        effects.setdefault(finding.variables[0], []).append(finding.size() or finding.change())
    # Findings are sorted by effect where p-values are equal: so are their columns.
    order = sorted(pvalues, key=lambda name: (pvalues[name], rank.get(name, len(rank))))
    least = f"p ≤ {floor:.3g}" if floor else ""
    limits = [
        (floor, f"at {least}", f"the smallest p-value that {_permutations(result)} can give"),
        (result.alpha, f"significant at α = {result.alpha:g}", "adjusted p-values"),
        (NEARLY_ONE, "not significant", "adjusted p-values"),
        (math.inf, f"with p > {NEARLY_ONE:g}", "nothing in these columns points to a difference"),
    ]
    groups, above = [], -math.inf
    for limit, title, note in limits:
        names = [name for name in order if above < pvalues[name] <= limit]
        above = max(above, limit)
        if not names:
            continue
        listed = names[:MOST_COLUMNS]
        count = f"{len(names):,} column{'s' if len(names) > 1 else ''}"
        groups.append(
            ColumnGroup(
                title=f"{count} {title}",
                note=note,
                rows=[
                    (name, pvalue_cell(pvalues[name], floor), "; ".join(effects.get(name, ())))
                    for name in listed
                ],
                n_columns=len(names),
                unfolded=limit <= result.alpha and len(names) <= 50,
                names_only=limit == math.inf,
            )
        )
    return groups


def describe_families(result: TestResult) -> list[Family]:
    """Return the families that ran, then those that could not, with what they left out."""
    scan = result.scan
    if scan is None:
        return []
    floor = family_floor(scan)
    ran = [
        Family(name, _described(name), pvalue_cell(p, floor), _sentence(scan.notes.get(name, "")))
        for name, p in scan.families.items()
    ]
    skipped = [
        Family(name, _described(name), "none", f"Could not run: {reason}.")
        for name, reason in scan.skipped.items()
    ]
    return ran + skipped


def describe_difference(result: TestResult) -> str:
    """Return in one sentence what differs; empty where the test does not reject."""
    if result.scan is None or not result.reject:
        return ""
    return describe_kinds(result.scan) or describe_unnamed(result.scan, result.alpha)


def _has_size(finding: Finding) -> bool:
    """Return whether a size can be drawn: not where one sample is constant."""
    return math.isfinite(finding.effect) and (finding.effect > 0 or not finding.scale.ratio)


def _described(family: str) -> str:
    return _sentence(FAMILY_DESCRIPTIONS.get(family, "")).removesuffix(".")


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _permutations(result: TestResult) -> str:
    return f"{result.null_distribution.size:,} permutations"
