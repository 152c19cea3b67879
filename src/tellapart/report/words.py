"""Words and numbers of the report: selected variables, settings, the certificate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tellapart.results.columns import ColumnSummary, Marginal, Moments, Shares
from tellapart.results.result import TestResult
from tellapart.results.story import describe_kinds, describe_unnamed, family_floor
from tellapart.scan.families import describe_family
from tellapart.scan.finding import Finding, pvalue_cell
from tellapart.scan.finding_kinds import FINDING_KINDS, Scale
from tellapart.selection.selection import EVIDENCE, ROUNDING, Selection
from tellapart.text import capitalised, counted, listed

MOST_NAMES = 20

Lines = tuple[str, ...]


@dataclass(frozen=True)
class Variable:
    """One selected variable: its weight, and both samples in short.

    `share` is its part of the largest weight, `description` how it differs and by how much, where
    that is known; `x` and `y` are lines of text about the rows of each sample.
    """

    name: str
    weight: str
    share: float
    description: str
    x: Lines = ()
    y: Lines = ()


def describe_weights(selection: Selection) -> list[Variable]:
    """Return the selected variables with their weights, the largest first."""
    largest = max(map(abs, selection.weights.values()), default=0.0) or 1.0
    description = selection.description
    return [
        Variable(name, number(weight, ".3f"), abs(weight) / largest, description[name])
        for name, weight in selection.weights.items()
    ]


def describe_variables(selection: Selection, summaries: Sequence[ColumnSummary]) -> list[Variable]:
    """Return the summarised variables, in their order, with their weights and numbers."""
    variables = {variable.name: variable for variable in describe_weights(selection)}
    return [
        replace(variables[summary.name], x=describe_side(summary.x), y=describe_side(summary.y))
        for summary in summaries
    ]


def describe_side(side: Moments | Shares) -> Lines:
    """Return the numbers of one column of one sample as text.

    Examples
    --------
    >>> describe_side(Moments(3.0, 2.0, 2.6457513))
    ('mean 3', 'median 2', 'SD 2.646')
    >>> describe_side(Shares((("drug", 0.25),), n_others=3, others=0.75))[1].startswith("3 other")
    True
    """
    if isinstance(side, Moments):
        mean, median, deviation = map(number, (side.mean, side.median, side.deviation))
        return f"mean {mean}", f"median {median}", f"SD {deviation}"
    lines = [f"{name} {percent(share)}" for name, share in side.named]
    if side.n_others:
        lines.append(f"{side.n_others} other categories {percent(side.others)}")
    return tuple(lines)


def rows_used(result: TestResult) -> str:
    """Return what to call the rows of the p-value: all of them, where none were held out."""
    return "held-out rows" if any(result.n_train) else "rows"


def describe_marginal(
    summary: ColumnSummary, marginal: Marginal, labels: tuple[str, str], rows: str
) -> str:
    """Return what the figure of one variable shows, for those who do not see it."""
    what = "Proportions" if marginal.bars else "Distributions"
    sides = [
        f"{label}: {', '.join(describe_side(side))}"
        for label, side in zip(labels, (summary.x, summary.y), strict=True)
    ]
    return f"{what} in the {rows}. {'; '.join(sides)}."


def describe_null(result: TestResult) -> str:
    """Return what the figure of the null distribution shows; there must be one."""
    null = result.null_distribution
    text = (
        f"Histogram of the statistic under {null.size:,} permutations, from "
        f"{number(float(null.min()))} to {number(float(null.max()))}. "
        f"The observed statistic is {number(result.statistic)}"
    )
    if not math.isfinite(result.threshold):
        return f"{text}; there is no critical value."
    side = "above" if result.statistic > result.threshold else "not above"
    return f"{text}, {side} the critical value {number(result.threshold)}."


def describe_choices(result: TestResult) -> tuple[str, str]:
    """Return how the number of variables and λ were chosen."""
    settings, tuning = result.settings, result.tuning
    if tuning is None:
        return f"{result.selection.support.size}", "not used"
    if result.scan is not None:
        return _choices_after_scan(result, tuning.n_variables)
    few = "the default: too few rows for tuning"
    if tuning.stopped:
        few = "the default: the time limit ended tuning"
    rows = "the training rows"
    if tuning.drawn_rows is not None:
        rows = f"{sum(tuning.drawn_rows):,} training rows, drawn at random"
    number_why, regularization_why = "set by the user", "set by the user"
    if tuning.numbers:
        number_why = f"selected on {rows}: the smallest number as good as the best"
    elif settings.get("n_variables", 0) is None:
        number_why = few
    if tuning.regularizations:
        tried = _tried(score.regularization for score in tuning.regularizations)
        regularization_why = f"cross-validated on {rows}, from {tried}"
        if settings.get("regularization") != "cv":
            regularization_why = "set by the user"
    elif settings.get("regularization") == "cv":
        regularization_why = few
    return (
        f"at most {tuning.n_variables}, {number_why}",
        f"{result.regularization:g}, {regularization_why}",
    )


def _choices_after_scan(result: TestResult, n_variables: int) -> tuple[str, str]:
    number_why = regularization_why = "set by the user"
    weighed = result.selection.objective == EVIDENCE
    if result.settings.get("n_variables", 0) is None:
        number_why = "suggested by the findings of the scan"
        if weighed:
            number_why = "nearly all of the criterion that ten variables reach"
    if weighed:
        return f"at most {n_variables}, {number_why}", "none: joint criterion"
    if result.settings.get("regularization") == "cv":
        regularization_why = "the default of a scan"
        if result.regularization == 0:
            regularization_why = "since the optimum can then be proved"
    return (
        f"at most {n_variables}, {number_why}",
        f"{result.regularization:g}, {regularization_why}",
    )


def describe_validity(result: TestResult) -> str:
    """Return why the p-value holds, as the end of a sentence."""
    if result.method is not None:
        return result.method.validity
    if result.scan is not None:
        return (
            "the observed labelling is part of the reference set: all families are computed for "
            "it and for every permutation in the same way"
        )
    return "the variables were selected on other rows"


def describe_bandwidth(result: TestResult) -> str:
    """Return how the bandwidth was chosen; empty where there was nothing to choose."""
    tuning = result.tuning
    tried = {score.multiplier for score in tuning.regularizations} if tuning is not None else set()
    if tuning is None or (len(tried) < 2 and tuning.multiplier == 1):
        return ""
    how = "set by the user"
    if len(tried) > 1:
        how = f"cross-validated on the training rows, from {_tried(tried)}"
    return f"the median rule times {tuning.multiplier:g}, {how}"


def _tried(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in sorted(set(values)))


def describe_proof(selection: Selection) -> list[tuple[str, str]]:
    """Return the numbers of the certificate with their names."""
    bound = "none" if selection.upper_bound is None else number(selection.upper_bound)
    gap = "none" if selection.gap is None else number(selection.gap)
    if selection.gap is not None and selection.gap <= ROUNDING:
        gap = "0"
    return [
        ("Status", selection.status.replace("_", " ")),
        ("Objective", number(selection.value)),
        ("Upper bound", bound),
        ("Relative gap", gap),
        ("Solver", f"{selection.solver}, {selection.seconds:.2f} s"),
    ]


def number(value: float, form: str = "") -> str:
    """Write a number with four digits, or in the format `form`, and a true minus sign.

    Examples
    --------
    >>> number(0.123456), number(-1234567.8), number(2.5e-7), number(-0.5, ".3f")
    ('0.1235', '−1,234,568', '2.5 × 10⁻⁷', '−0.500')
    """
    if math.isinf(value):
        return "unbounded"
    if not form:
        form = ",.0f" if 1e4 <= abs(value) < 1e9 else ".4g"
    mantissa, exponent, power = format(value, form).replace("-", "−").partition("e")
    if not exponent:
        return mantissa
    raised = str(int(power.replace("−", "-"))).translate(
        str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    )
    return f"{mantissa} × 10{raised}"


def percent(share: float) -> str:
    r"""Write a share in per cent, with a space that never breaks.

    Examples
    --------
    >>> percent(0.5), percent(0.0012), percent(0.0)
    ('50\xa0%', '0.12\xa0%', '0\xa0%')
    """
    digits = ".0f" if share >= 0.1 else ".2g"
    return f"{100 * share:{digits}}\N{NO-BREAK SPACE}%"


def columns_text(names: Sequence[str]) -> str:
    """Return names of columns, only the first of many, or "none".

    Examples
    --------
    >>> columns_text([]), columns_text(["a", "b"])
    ('none', 'a, b')
    """
    return listed(names, MOST_NAMES) if names else "none"


# Findings, columns and families: rows of tables, groups on one scale.


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
    for k, finding in enumerate(findings):
        groups.setdefault(finding.scale, []).append(k)
    kept: list[int] = []
    # The small groups first: what they leave goes to the large ones.
    for done, members in enumerate(sorted(groups.values(), key=len)):
        kept += members[: max((most - len(kept)) // (len(groups) - done), 1)]
    return [findings[k] for k in sorted(kept)]


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
    >>> finding = Finding("spread", ("age",), 0.012, 0.5, (0.4, 0.6), (1.0, 2.0), "SD")
    >>> row = describe_finding(finding)
    >>> row.kind, row.size, row.interval, row.pvalue
    ('Standard deviation', 'SD ratio 0.50', '95 % CI 0.40 to 0.60', '0.012')
    """
    interval = finding.interval_text()
    return Row(
        variables=finding.variables,
        kind=FINDING_KINDS[finding.kind].words.title,
        change=finding.description().removesuffix(finding.size()).removesuffix("; "),
        size=finding.size().removesuffix(f" ({interval})"),
        interval=interval,
        simultaneous=finding.simultaneous_text(),
        pvalue=pvalue_cell(finding.pvalue, finding.floor),
    )


def columns_by_evidence(result: TestResult) -> list[str]:
    """Return all columns by their adjusted p-values; equal ones by the order of findings."""
    pvalues = result.variable_pvalues
    named = [f.variables[0] for f in result.findings if len(f.variables) == 1]
    rank = {name: k for k, name in enumerate(dict.fromkeys(named))}
    return sorted(pvalues, key=lambda name: (pvalues[name], rank.get(name, len(rank))))


def describe_columns(result: TestResult) -> list[ColumnGroup]:
    """Return all columns by their adjusted p-values: at the floor, significant, not, near 1.

    Effects are those of findings and of selected variables.
    """
    pvalues, floor = result.variable_pvalues, result.pvalue_floor
    effects: dict[str, list[str]] = {}
    findings = [finding for finding in result.findings if len(finding.variables) == 1]
    changes = [c for c in result.selection.changes.values() if len(c.variables) == 1]
    with_finding = {finding.variables[0] for finding in findings}
    for finding in [*findings, *(c for c in changes if c.variables[0] not in with_finding)]:
        effects.setdefault(finding.variables[0], []).append(finding.size() or finding.change())
    order = columns_by_evidence(result)
    least = f"p ≤ {floor:.3g}" if floor else ""
    limits = [
        (
            floor,
            f"at {least}",
            f"the smallest p-value that {result.null_distribution.size:,} permutations can give",
        ),
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
        groups.append(
            ColumnGroup(
                title=f"{counted(len(names), 'column')} {title}",
                note=note,
                rows=[
                    (name, pvalue_cell(pvalues[name], floor), "; ".join(effects.get(name, ())))
                    for name in names[:MOST_COLUMNS]
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
    return _sentence(describe_family(family)).removesuffix(".")


def _sentence(text: str) -> str:
    return f"{capitalised(text)}." if text else ""
