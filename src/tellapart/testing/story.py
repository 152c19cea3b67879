"""A scan in words: what differs, in one sentence and line by line."""

from __future__ import annotations

from collections.abc import Sequence

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
from tellapart.scan.scan import Scan
from tellapart.text import safe

MOST_NAMES = 3
MOST_LINES = 12

_SINGULAR = {
    LOCATION: "one column is shifted",
    SHARE: "one column has other shares",
    SPREAD: "one column has another spread",
    SHAPE: "one column has another shape",
    MISSING: "one column misses values in another share of the rows",
    CORRELATION: "one pair of columns has another correlation",
    DEPENDENCE: "one pair of columns depends on each other in another way",
    TRIPLE: "one triple of columns depends on each other in another way",
}
_PLURAL = {
    LOCATION: "{} columns are shifted",
    SHARE: "{} columns have other shares",
    SPREAD: "{} columns have another spread",
    SHAPE: "{} columns have another shape",
    MISSING: "{} columns miss values in another share of the rows",
    CORRELATION: "{} pairs of columns have another correlation",
    DEPENDENCE: "{} pairs of columns depend on each other in another way",
    TRIPLE: "{} triples of columns depend on each other in another way",
}
_NUMBERS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def tell_lines(scan: Scan, alpha: float) -> list[str]:
    """Return what differs: one sentence, then one line per finding."""
    if not scan.findings:
        return [tell_unnamed(scan, alpha)]
    return [tell(scan), *list_findings(scan.findings)]


def tell(scan: Scan) -> str:
    """Say in one sentence what differs, the surest kind first; empty where nothing does.

    A difference that no single column, pair or triple carries is told by its families.
    """
    if not scan.findings:
        return ""
    kinds = list(dict.fromkeys(finding.kind for finding in scan.findings))
    parts = []
    for kind in kinds:
        own = [finding for finding in scan.findings if finding.kind == kind]
        parts.append(f"{_counted(kind, len(own))} ({_names(own)})")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def tell_unnamed(scan: Scan, alpha: float) -> str:
    """Say which families see a difference that no single column, pair or triple carries."""
    seen = sorted((p, name) for name, p in scan.families.items() if p <= alpha)
    where = ", ".join(f"{name} (p = {p:.3g})" for p, name in seen)
    lead = "No single column, pair or triple carries it at this level"
    return f"{lead}; by itself it shows in: {where}." if where else f"{lead}."


def list_findings(findings: Sequence[Finding], most: int = MOST_LINES) -> list[str]:
    """Return one line per finding, and one for those left out."""
    lines = [f"  {finding.summary()}" for finding in findings[:most]]
    if len(findings) > most:
        lines.append(f"  and {len(findings) - most} more: see `findings`")
    return lines


def list_families(scan: Scan) -> list[str]:
    """Return the families with their p-values, and what was left out with the reason."""
    ran = ", ".join(f"{name} {p:.3g}" for name, p in scan.families.items())
    lines = [f"Families of differences, each with its own p-value: {ran}."]
    lines += [f"Family {name} could not run: {reason}." for name, reason in scan.skipped.items()]
    lines += [f"Family {name} looked at {note}." for name, note in scan.notes.items()]
    return lines


def _counted(kind: str, count: int) -> str:
    if count == 1:
        return _SINGULAR[kind]
    word = _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"
    return _PLURAL[kind].format(word)


def _names(findings: Sequence[Finding]) -> str:
    joint = [_joined(finding.variables) for finding in findings]
    shown = (
        ", ".join(joint[:MOST_NAMES])
        if len(findings[0].variables) == 1
        else "; ".join(joint[:MOST_NAMES])
    )
    more = len(joint) - MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def _joined(variables: Sequence[str]) -> str:
    *first, last = map(safe, variables)
    return f"{', '.join(first)} and {last}" if first else last
