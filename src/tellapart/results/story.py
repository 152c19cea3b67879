"""A scan in words: what differs, in one sentence and line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tellapart.scan.error_rates import FWER
from tellapart.scan.finding import Finding, p_text, pvalue_cell
from tellapart.scan.finding_kinds import FINDING_KINDS
from tellapart.scan.scan import Scan
from tellapart.scan.smallest_effect import SmallestEffect
from tellapart.text import capitalised, joined, listed, more_than, safe

if TYPE_CHECKING:
    from tellapart.results.result import TestResult

MOST_NAMES = 3
MOST_LINES = 12
ALL_FINDINGS = "`findings` has all, `to_csv` writes them"
"""How a program gets at the findings that a summary leaves out."""
SELECTION_BIAS = (
    "Effects of findings selected by the same data are inflated by selection (winner's curse); "
    "the simultaneous intervals allow for it."
)


def describe_findings(
    scan: Scan, alpha: float, most: int | None = MOST_LINES, rest: str = ALL_FINDINGS
) -> list[str]:
    """Return what differs: one sentence, then one line per finding.

    `most` findings are listed, all of them if None; `rest` is how to get those left out.
    """
    if not scan.findings:
        return [describe_unnamed(scan, alpha)]
    lines = [describe_kinds(scan), *list_findings(scan.findings, most, rest)]
    if scan.rate.name != FWER:
        lines.append(f"Among findings of columns, {scan.rate.promise(alpha)}.")
    return [*lines, SELECTION_BIAS]


def describe_kinds(scan: Scan) -> str:
    """Return in one sentence what differs, in the order of the findings; empty if nothing does."""
    if not scan.findings:
        return ""
    by_kind: dict[str, list[Finding]] = {}
    for finding in scan.findings:
        by_kind.setdefault(finding.kind, []).append(finding)
    parts = []
    for kind, members in by_kind.items():
        separator = ", " if len(members[0].variables) == 1 else "; "
        names = listed([joined(f.variables) for f in members], MOST_NAMES, separator)
        parts.append(f"{FINDING_KINDS[kind].words.count(len(members))} ({names})")
    parts += [
        f"{count:,} more {groups} are significant, of which only the number is known"
        for groups, count in scan.unlisted.items()
    ]
    return f"{capitalised('; '.join(parts))}."


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
    more = more_than(len(lines), len(findings))
    return [*lines, f" {more}: {rest}"] if more else lines


def list_families(scan: Scan) -> list[str]:
    """Return the families with their p-values, and what was left out with the reason."""
    floor = family_floor(scan)
    families = ", ".join(f"{name} {pvalue_cell(p, floor)}" for name, p in scan.families.items())
    lines = [f"Unadjusted p-values by family: {families}."]
    lines += [f"Family {name} could not run: {reason}." for name, reason in scan.skipped.items()]
    lines += [f"Family {name}: {note}." for name, note in scan.notes.items()]
    return lines


def describe_requested(result: TestResult) -> str:
    """Return which families were requested and what that means; empty where all were."""
    requested = result.settings.get("families")
    if requested is None or result.scan is None:
        return ""
    names = joined(
        f"{name} (weight {requested[name]:g})" if isinstance(requested, Mapping) else name
        for name in requested
    )
    one = len(requested) == 1
    lead = f"The family {names} was requested" if one else f"The families {names} were requested"
    return f"{lead}; other kinds of difference were not tested for"


def family_floor(scan: Scan) -> float:
    """Return the smallest p-value that random permutations can give; 0 where all were enumerated.

    The p-value of a permutation test is then exact, however small.
    """
    return 0.0 if scan.null.exact else 1 / (scan.null.n_permutations + 1)


# The verdict, and where its p-value comes from, in words.


MOST_NAMED = 10
NOT_EQUIVALENT = "absence of evidence is not evidence of equivalence"


def describe_verdict(result: TestResult, *, with_caveat: bool = True) -> str:
    """Return the answer in one sentence.

    The caveat that no evidence of a difference is not evidence of equivalence is superfluous where
    the limits of all effects follow.
    """
    p = f"{result.pvalue_text}, α = {result.alpha:g}"
    requested = result.settings.get("families")
    if requested is not None:
        p += f", {'family' if len(requested) == 1 else 'families'} {joined(requested)} only"
    differ, do_not = result.difference_words()
    if result.reject:
        return f"{differ} ({p}){describe_negligible(result)}."
    caveat = f"; {NOT_EQUIVALENT}" if with_caveat else ""
    return f"{do_not} ({p}){caveat}."


def describe_negligible(result: TestResult) -> str:
    """Return that no effect exceeds the smallest effect of interest, as the end of a sentence.

    Empty where one does, where the test does not reject, and where every effect is of interest.
    """
    smallest = smallest_effect_of(result)
    if smallest is None or not result.reject or result.findings:
        return ""
    return (
        ", but by less than you care for: no effect exceeds the smallest effect of interest beyond "
        f"error ({safe(smallest.describe())})"
    )


def smallest_effect_of(result: TestResult) -> SmallestEffect | None:
    """Return the size that effects must exceed to be findings of a result; None for any size."""
    given = result.settings.get("smallest_effect")
    return None if given is None else SmallestEffect.of(given)


def describe_selection(result: TestResult) -> str:
    """Return what a reader must know of the selected variables first; empty where nothing is.

    Variables are selected whether or not there is a difference, and need not be significant one
    by one.
    """
    selection = result.selection
    if not selection.support.size:
        return ""
    if not result.reject:
        what = "the variable" if selection.support.size == 1 else "the variables"
        verb = "is" if selection.support.size == 1 else "are"
        return (
            f"The test does not reject at α = {result.alpha:g}: {what} below {verb} the best of "
            "what may be noise"
        )
    changes = list(selection.changes.values())
    if changes and all(change.named is False for change in changes):
        which = "The selected variable is not"
        if selection.support.size > 1:
            which = "None of the selected variables is"
        return f"{which} individually significant (adjusted p > {result.alpha:g})"
    return ""


def describe_missing(result: TestResult) -> list[str]:
    """Return lines on how missing values were treated."""
    held, (x, y) = result.held_out, map(safe, result.labels)
    lines = []
    compared = result.scan is not None and "missing" in result.scan.families
    if any(held.dropped_rows):
        of_x, of_y = held.dropped_rows
        lines.append(
            f"Rows excluded for missing values: {of_x:,} of {x}, {of_y:,} of {y}; "
            f"their patterns of missing values were {'compared' if compared else 'not compared'}."
        )
    if held.dropped_columns:
        lines.append(
            f"Columns excluded for missing values: {listed(held.dropped_columns, MOST_NAMED)}."
        )
    if held.filled_columns:
        how = "they are replaced by the pooled median or the most frequent category"
        if result.scan is not None:
            how = (
                "each statistic uses the rows that have what it compares, and where complete "
                "rows are needed (kernels, figures) " + how
            )
        lines.append(f"Values are missing in {listed(held.filled_columns, MOST_NAMED)}: {how}.")
    return lines


def describe_evidence(result: TestResult) -> list[str]:
    """Return lines on how the p-value was computed, and from which rows."""
    split, (x, y) = any(result.n_train), map(safe, result.labels)
    count = result.null_distribution.size
    rows = "the held-out rows" if split else "all rows"
    if result.rows_per_bin > 1:
        units = "" if result.held_out.design is None else f" {result.held_out.design.units_name}"
        rows += f", in blocks of {result.rows_per_bin}{units or ' rows'}"
    how = f"all {count} permutations of {rows}"
    if not result.exact:
        how = f"{count} random permutations of {rows}"
    if result.note:
        how += f", {result.note}"
    if count == 0:
        how = "its distribution under H₀"
    held_out = " (held out for the test)" if split else ""
    lines = [
        f"{capitalised(result.statistic_name)}: {result.statistic:.6g}, "
        f"critical value {result.threshold:.6g}, from {how}.",
    ]
    lines.append(
        f"Sample sizes{held_out}: {result.n_test[0]:,} ({x}) and {result.n_test[1]:,} ({y})."
    )
    design = result.held_out.design
    if design is not None:
        lines.append(f"Design: {safe(design.describe())}.")
        if any(design.left_out):
            lines.append(f"Not used: {design.describe_left_out()}.")
        if design.weights is not None:
            lines.append(f"Effective sample sizes: {design.describe_weights()}.")
        if design.adjustment is not None:
            lines.append(safe(design.adjustment.assumptions()))
    lines += describe_missing(result)
    lines += result.held_out.notes.lines()
    if result.selection.constant:
        lines.append(
            f"Constant columns (weight 0): {listed(result.selection.constant, MOST_NAMED)}."
        )
    if result.drawn_from is not None:
        of_x, of_y = result.drawn_from
        lines.append(f"They were drawn at random from {of_x:,} rows of {x} and {of_y:,} of {y}.")
    if split:
        lines.append(
            f"Sample sizes of the selection: {result.n_train[0]:,} ({x}) and "
            f"{result.n_train[1]:,} ({y})."
        )
        lines += describe_tuning(result)
    if result.scan is not None:
        lines += list_families(result.scan)
        lines += [f"{note}." for note in [describe_requested(result)] if note]
    return lines


def describe_tuning(result: TestResult) -> list[str]:
    """Return lines on the rows that tuning used, and whether the time limit ended it."""
    tuning, lines = result.tuning, []
    if tuning is not None and tuning.drawn_rows is not None:
        x, y = tuning.drawn_rows
        lines.append(f"Tuned on {x:,} and {y:,} of them, drawn at random.")
    if tuning is not None and tuning.stopped:
        how = "with the splits scored by then" if tuning.scored else "before any split was scored"
        lines.append(f"The time limit ended tuning {how}.")
    return lines
