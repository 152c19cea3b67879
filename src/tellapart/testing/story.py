"""A scan in words: what differs, in one sentence and line by line."""

from __future__ import annotations

from collections.abc import Sequence

from tellapart.scan.finding import FINDING_KINDS, Finding, p_text
from tellapart.scan.scan import Scan
from tellapart.text import safe

MOST_NAMES = 3
MOST_LINES = 12
ALL_FINDINGS = "`findings` has all, `to_csv` writes them"
"""How a program gets at the findings that a summary leaves out."""
SELECTION_BIAS = (
    "Effects of findings selected by the same data are inflated by selection (winner's curse); "
    "the simultaneous intervals allow for it."
)
_NUMBERS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def describe_findings(
    scan: Scan, alpha: float, most: int | None = MOST_LINES, rest: str = ALL_FINDINGS
) -> list[str]:
    """Return what differs: one sentence, then one line per finding.

    `most` findings are listed, all of them if None; `rest` says how to get those left out.
    """
    if not scan.findings:
        return [describe_unnamed(scan, alpha)]
    return [describe_kinds(scan), *list_findings(scan.findings, most, rest), SELECTION_BIAS]


def describe_kinds(scan: Scan) -> str:
    """Return in one sentence what differs, in the order of the findings; empty if nothing does."""
    if not scan.findings:
        return ""
    kinds = list(dict.fromkeys(finding.kind for finding in scan.findings))
    parts = []
    for kind in kinds:
        members = [finding for finding in scan.findings if finding.kind == kind]
        parts.append(f"{_counted(kind, len(members))} ({_names(members)})")
    parts += [
        f"{count:,} more {groups} are significant, of which only the number is known"
        for groups, count in scan.unlisted.items()
    ]
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def describe_unnamed(scan: Scan, alpha: float) -> str:
    """Return which families show a difference that no single column, pair or triple does."""
    significant = sorted((p, name) for name, p in scan.families.items() if p <= alpha)
    where = ", ".join(f"{name} ({p_text(p, family_floor(scan))})" for p, name in significant)
    lead = "No single column, pair or triple is individually significant"
    return f"{lead}; unadjusted, these families are: {where}." if where else f"{lead}."


def list_findings(
    findings: Sequence[Finding], most: int | None = MOST_LINES, rest: str = ALL_FINDINGS
) -> list[str]:
    """Return one line per finding, and one for those left out."""
    lines = [f"  {finding.summary()}" for finding in findings[:most]]
    if len(findings) > len(lines):
        lines.append(f"  and {len(findings) - len(lines):,} more: {rest}")
    return lines


def list_families(scan: Scan) -> list[str]:
    """Return the families with their p-values, and what was left out with the reason."""
    floor = family_floor(scan)
    listed = ", ".join(
        f"{name} {p_text(p, floor).removeprefix('p ').removeprefix('= ')}"
        for name, p in scan.families.items()
    )
    lines = [f"Unadjusted p-values by family: {listed}."]
    lines += [f"Family {name} could not run: {reason}." for name, reason in scan.skipped.items()]
    lines += [f"Family {name}: {note}." for name, note in scan.notes.items()]
    return lines


def family_floor(scan: Scan) -> float:
    """Return the smallest p-value that random permutations can give; 0 where all were enumerated.

    The p-value of a permutation test is then exact, however small.
    """
    return 0.0 if scan.null.exact else 1 / (scan.null.n_permutations + 1)


def _counted(kind: str, count: int) -> str:
    if count == 1:
        return FINDING_KINDS[kind].one
    word = _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"
    return FINDING_KINDS[kind].many.format(word)


def _names(findings: Sequence[Finding]) -> str:
    joint = [_joined(finding.variables) for finding in findings]
    mark = ", " if len(findings[0].variables) == 1 else "; "
    shown = mark.join(joint[:MOST_NAMES])
    more = len(joint) - MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def _joined(variables: Sequence[str]) -> str:
    *first, last = map(safe, variables)
    return f"{', '.join(first)} and {last}" if first else last
