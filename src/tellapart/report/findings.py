"""What the report says of findings and families: rows of tables, and groups on one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tellapart.report.words import number
from tellapart.scan.finding import (
    CORRELATION,
    DEPENDENCE,
    LOCATION,
    MISSING,
    SHAPE,
    SHARE,
    SPREAD,
    TRIPLE,
    Finding,
)
from tellapart.testing.result import TestResult
from tellapart.testing.story import tell, tell_unnamed

KIND_WORDS = {
    LOCATION: "Shift",
    SHARE: "Shares",
    SPREAD: "Spread",
    SHAPE: "Shape",
    MISSING: "Missing values",
    CORRELATION: "Correlation",
    DEPENDENCE: "Dependence",
    TRIPLE: "Triple",
}
FAMILY_WORDS = {
    "location": "Values that are higher in one sample: in few columns, in many, in whole rows",
    "shape": "Spread, tails, skew and lumps of single columns",
    "kernel": "Any difference of single columns: the largest MMD² of a few of them",
    "correlation": "Two columns that move together more in one sample than in the other",
    "pair": "Two columns that depend on each other in a way correlation does not see",
    "triple": "Three columns that depend on each other, though no two of them do",
    "higher": "Four columns together, and directions across three to five",
    "missing": "Which values are missing: in single columns, in many, in pairs of columns",
    "values": "Values that stand apart, such as codes for missing ones: how often they occur",
}


@dataclass(frozen=True)
class Row:
    """One finding as a row of a table; `interval` goes with `size`."""

    variables: tuple[str, ...]
    kind: str
    change: str
    size: str
    interval: str
    pvalue: str


@dataclass(frozen=True)
class Scale:
    """What findings that can be drawn on one axis share.

    `unit` follows a number and `axis` says it of an axis; that of ratios names the samples.
    `neutral` is the effect of no difference; ratios go on a logarithmic axis, and shares are
    multiplied by `factor` to be percentage points.
    """

    title: str
    unit: str = ""
    axis: str = ""
    neutral: float = 0.0
    ratio: bool = False
    factor: float = 1.0


@dataclass(frozen=True)
class Family:
    """One family of differences: what it looks at, its p-value or why there is none."""

    name: str
    what: str
    pvalue: str
    note: str


SHIFTS = Scale("Shifts of the mean", "spreads", "in spreads")
RATIOS = Scale("Ratios of the spreads", "times", neutral=1.0, ratio=True)
SHARES = Scale("Differences of shares", "points", "percentage points", factor=100.0)
CORRELATIONS = Scale("Differences of correlations")
PRODUCTS = Scale("Differences of mean products of three")


def scale_of(finding: Finding) -> Scale:
    """Return the scale on which the effect of a finding is drawn."""
    if finding.kind in (SHARE, MISSING) or finding.measure.startswith("share"):
        return SHARES
    if finding.kind == SHAPE:
        return Scale(f"Differences of {finding.measure}")
    return {LOCATION: SHIFTS, SPREAD: RATIOS, TRIPLE: PRODUCTS}.get(finding.kind, CORRELATIONS)


def pick_findings(findings: Sequence[Finding], most: int) -> list[Finding]:
    """Return at most so many findings in their order: some of every scale."""
    groups: dict[Scale, list[int]] = {}
    for place, finding in enumerate(findings):
        groups.setdefault(scale_of(finding), []).append(place)
    kept: list[int] = []
    # The small groups first: what they leave goes to the large ones.
    for done, own in enumerate(sorted(groups.values(), key=len)):
        kept += own[: max((most - len(kept)) // (len(groups) - done), 1)]
    return [findings[place] for place in sorted(kept)]


def group_findings(findings: Sequence[Finding], most: int) -> dict[Scale, list[Finding]]:
    """Return the findings that can be drawn by their scale, at most so many of all."""
    groups: dict[Scale, list[Finding]] = {}
    for finding in pick_findings(list(filter(_has_size, findings)), most):
        groups.setdefault(scale_of(finding), []).append(finding)
    return groups


def describe_finding(finding: Finding) -> Row:
    """Put one finding into the cells of a table.

    Examples
    --------
    >>> found = Finding("spread", ("age",), 0.012, 0.5, (0.4, 0.6), (1.0, 2.0), "spread")
    >>> row = describe_finding(found)
    >>> row.kind, row.size, row.interval, row.pvalue
    ('Spread', '0.50 times', '0.40 to 0.60', '0.012')
    """
    scale = scale_of(finding)
    form = ".0f" if scale is SHARES else ".2f" if scale.ratio else f".{finding.decimals}f"
    effect, low, high = (
        _size(scale.factor * value, form, signed=not scale.ratio)
        for value in (finding.effect, *finding.interval)
    )
    return Row(
        variables=finding.variables,
        kind=KIND_WORDS.get(finding.kind, finding.kind),
        change=finding.change(),
        size=f"{effect} {scale.unit}".rstrip(),
        interval=f"{low} to {high}",
        pvalue=f"{finding.pvalue:.3g}",
    )


def describe_families(result: TestResult) -> list[Family]:
    """Return the families that ran, then those that could not, with what they left out."""
    scan = result.scan
    if scan is None:
        return []
    ran = [
        Family(name, FAMILY_WORDS.get(name, ""), f"{p:.3g}", _noted(scan.notes.get(name)))
        for name, p in scan.families.items()
    ]
    skipped = [
        Family(name, FAMILY_WORDS.get(name, ""), "none", f"Could not run: {reason}.")
        for name, reason in scan.skipped.items()
    ]
    return ran + skipped


def tell_story(result: TestResult) -> str:
    """Return in one sentence what differs; empty where no difference was found."""
    if result.scan is None or not result.reject:
        return ""
    return tell(result.scan) or tell_unnamed(result.scan, result.alpha)


def _has_size(finding: Finding) -> bool:
    """Return whether a size can be drawn: not where the spread of one sample is 0."""
    return math.isfinite(finding.effect) and (finding.effect > 0 or not scale_of(finding).ratio)


def _noted(note: str | None) -> str:
    return "" if note is None else f"Looked at {note}."


def _size(value: float, form: str, *, signed: bool) -> str:
    if math.isnan(value):
        return "not known"
    text = number(value, form)
    return f"+{text}" if signed and value > 0 and not math.isinf(value) else text
