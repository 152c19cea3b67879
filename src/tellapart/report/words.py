"""Words and numbers of the report: selected variables, settings, the certificate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.results.columns import ColumnSummary, Marginal, Moments, Shares
from tellapart.results.columns_table import BINARY, CATEGORICAL, ColumnsTable
from tellapart.results.result import TestResult
from tellapart.results.story import (
    describe_kinds,
    describe_negligible,
    describe_unnamed,
    family_floor,
)
from tellapart.scan.families import describe_family
from tellapart.scan.finding import Finding, magnitude, pvalue_cell
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
    """Return in which sense the p-value holds and why, as the end of a sentence."""
    design = result.held_out.design
    if design is not None and design.adjustment is not None:
        return (
            "asymptotic, and valid if the model of the labels or that of the columns given the "
            "covariates is right and no other variable explains both"
        )
    always = "valid for any number of rows because "
    if result.method is not None:
        return always + result.method.validity
    if result.scan is not None:
        return always + (
            "the observed labelling is part of the reference set: all families are computed for "
            "it and for every permutation in the same way"
        )
    return always + "the variables were selected on other rows"


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


MOST_LEVELS = 6
"""Levels of a categorical column that the table of all columns shows."""


@dataclass(frozen=True)
class Row:
    """One finding as a row of a table; `interval` and `simultaneous` are those of `size`.

    Rows are sorted by the numbers `magnitude`, common to all kinds, and `evidence`, the p-value.
    """

    variables: tuple[str, ...]
    kind: str
    change: str
    size: str
    interval: str
    simultaneous: str
    pvalue: str
    magnitude: str
    evidence: str


@dataclass(frozen=True)
class ColumnRow:
    """One column as a row of the table of all columns; tests are p, adjusted p and q.

    `quartiles` are those of both samples, from which a box is drawn; empty if there are none.
    """

    name: str
    first: Lines
    second: Lines
    difference: Lines
    ratio: Lines
    tests: Lines
    findings: str
    quartiles: str


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
    interval, size = finding.interval_text(), magnitude(finding)
    return Row(
        variables=finding.variables,
        kind=FINDING_KINDS[finding.kind].words.title,
        change=finding.description().removesuffix(finding.size()).removesuffix("; "),
        size=finding.size().removesuffix(f" ({interval})"),
        interval=interval,
        simultaneous=finding.simultaneous_text(),
        pvalue=finding.pvalue_cell(),
        magnitude="" if size < 0 else f"{size:.6g}".replace("inf", "Infinity"),
        evidence="" if math.isnan(finding.pvalue) else f"{finding.pvalue:.6g}",
    )


def columns_by_evidence(result: TestResult) -> list[str]:
    """Return all columns by their adjusted p-values; equal ones by the order of findings."""
    pvalues = result.variable_pvalues
    named = [f.variables[0] for f in result.findings if len(f.variables) == 1]
    rank = {name: k for k, name in enumerate(dict.fromkeys(named))}
    return sorted(pvalues, key=lambda name: (pvalues[name], rank.get(name, len(rank))))


def describe_all_columns(result: TestResult, table: ColumnsTable) -> list[ColumnRow]:
    """Return all columns, by p-value and then by the size of the SMD."""
    tests = result.column_tests
    kinds: dict[str, dict[str, None]] = {}
    for finding in result.findings if result.reject else ():
        for name in finding.variables:
            kinds.setdefault(name, {})[FINDING_KINDS[finding.kind].words.title] = None
    sizes = np.nan_to_num(np.abs(table.difference[0]), nan=-1.0)
    order = np.argsort(-sizes, kind="stable")
    if tests is not None:
        order = order[np.lexsort((tests.pvalue[order], tests.adjusted[order]))]
    floor = result.pvalue_floor
    rows = []
    for k in map(int, order):
        first, second = (_column_cells(table, k, side) for side in (0, 1))
        cells: Lines = ()
        if tests is not None:
            tail = bool(tests.approximate[k])
            cells = (
                pvalue_cell(float(tests.pvalue[k]), 0.0 if tail else floor),
                pvalue_cell(float(tests.adjusted[k]), floor),
                pvalue_cell(float(tests.qvalue[k])),
            )
        rows.append(
            ColumnRow(
                table.names[k],
                first,
                second,
                _with_interval(table.difference[:, k]),
                _with_interval(table.ratio[:, k]),
                cells,
                ", ".join(kinds.get(table.names[k], ())),
                _quartiles(table, k),
            )
        )
    return rows


def _column_cells(table: ColumnsTable, k: int, side: int) -> Lines:
    """Return one column of one sample in numbers."""
    name, lines = table.names[k], []
    if name in table.levels:
        levels, shares = table.levels[name], table.proportions(name)[side]
        texts = [
            f"{percent(share)} ({count:,})"
            for share, count in zip(shares, levels.counts[side], strict=True)
        ]
        if table.types[k] == BINARY:
            value = levels.labels[1]
            lines.append(texts[1] if value == "1" else f"{texts[1]} equal {value}")
        else:
            pairs = zip(levels.labels[:MOST_LEVELS], texts, strict=False)
            lines += [f"{label}: {text}" for label, text in pairs]
        if table.types[k] == CATEGORICAL and len(texts) > MOST_LEVELS:
            lines.append(f"and {counted(len(texts) - MOST_LEVELS, 'level')} more")
    elif table.n[side, k]:
        lines.append(
            _unbroken(f"{_short(table.mean[side, k])} ({_short(table.deviation[side, k])})")
        )
        low, middle, high = map(_short, table.quartiles[side, :, k])
        if middle != "–":
            lines.append(_unbroken(f"{middle} [{low}, {high}]"))
    if table.missing[side, k]:
        lines.append(_unbroken(f"{table.missing[side, k]:,} missing"))
    return tuple(lines) or ("–",)


def _quartiles(table: ColumnsTable, k: int) -> str:
    """Return the quartiles of X and of Y as plain numbers."""
    values = table.quartiles[:2, :, k].ravel()
    if table.names[k] in table.levels or not np.isfinite(values).all():
        return ""
    return " ".join(f"{value:.5g}" for value in values)


def _short(value: float) -> str:
    """Write a number with three digits, or whole where it has more."""
    if math.isnan(value):
        return "–"
    return number(value, ",.0f" if 100 <= abs(value) < 1e9 else ".3g")


def _unbroken(text: str) -> str:
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _with_interval(effect: FloatArray) -> Lines:
    """Return an effect and its interval, a dash where there is none."""
    value, low, high = map(float, effect)
    if math.isnan(value):
        return ("–",)
    text = "∞" if value == math.inf else "−∞" if value == -math.inf else number(value, ".2f")
    if not (math.isfinite(low) and math.isfinite(high)):
        return (text,)
    return text, _unbroken(f"{number(low, '.2f')} to {number(high, '.2f')}")


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
    if result.scan is None or not result.reject or describe_negligible(result):
        return ""
    return describe_kinds(result.scan) or describe_unnamed(result.scan, result.alpha)


def _has_size(finding: Finding) -> bool:
    """Return whether a size can be drawn: not where one sample is constant."""
    return math.isfinite(finding.effect) and (finding.effect > 0 or not finding.scale.ratio)


def _described(family: str) -> str:
    return _sentence(describe_family(family)).removesuffix(".")


def _sentence(text: str) -> str:
    return f"{capitalised(text)}." if text else ""
