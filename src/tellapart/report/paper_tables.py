"""The tables of a result for a paper: findings or chosen variables, as CSV and for LaTeX."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

from tellapart.arguments import check_choice
from tellapart.data.columns import looks_numeric
from tellapart.report.latex import LatexTable, check_latex, escaped, number
from tellapart.scan.finding import LOCATION, SHARE, SPREAD, Finding, finding_rows
from tellapart.scan.units import CLIP
from tellapart.selection.frame import variable_rows
from tellapart.testing.result import TestResult
from tellapart.text import safe

AUTO, FINDINGS, VARIABLES = "auto", "findings", "variables"
TABLES = (AUTO, FINDINGS, VARIABLES)


def which_table(result: TestResult, what: object) -> str:
    """Return the table asked for; "auto" is what a scan found, else the chosen variables."""
    asked = check_choice("what", what, TABLES)
    if asked != AUTO:
        return asked
    return VARIABLES if result.scan is None else FINDINGS


def csv_table(result: TestResult, what: object) -> str:
    """Return the rows of `to_frame` or of `variables_frame` as CSV."""
    if which_table(result, what) == FINDINGS:
        return write_csv(finding_rows(result.findings))
    return write_csv(variable_rows(result.selection))


def write_csv(columns: Mapping[str, Sequence[Any]]) -> str:
    r"""Return named columns as CSV: numbers in full, nothing where there is none.

    Texts are safe to open in a spreadsheet: see `_harmless`.

    Examples
    --------
    >>> write_csv({"name": ["a, b", "=1+1"], "p": [0.001, float("nan")]})
    'name,p\n"a, b",0.001\n\'=1+1,\n'
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(_harmless, columns))
    for row in zip(*columns.values(), strict=True):
        writer.writerow(["" if _is_nothing(cell) else _harmless(cell) for cell in row])
    return out.getvalue()


def _harmless(cell: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula, and without control characters.

    Spreadsheets compute what begins with =, +, - or @; behind an apostrophe it is text. Texts
    that are numbers, such as the label -1, stay as they are.
    """
    if not isinstance(cell, str):
        return cell
    text = safe(cell)
    formula = text.lstrip().startswith(("=", "+", "-", "@")) and not looks_numeric(text)
    return f"'{text}" if formula else text


def latex_table(result: TestResult, what: object, caption: str | None, label: str | None) -> str:
    """Return the findings or the chosen variables as a LaTeX table.

    A caption of None is one that says what the table shows, of which samples and how sure.
    """
    caption, label = check_latex("caption", caption), check_latex("label", label)
    x, y = map(escaped, result.labels)
    if which_table(result, what) == FINDINGS:
        headings = ["Variables", "What differs", x, y, r"Size [95\,\% CI]", "$p$"]
        cells = [
            [", ".join(map(escaped, found.variables)), *_cells(found)] for found in result.findings
        ]
        table = LatexTable("llrrlr", headings, cells)
        own = f"What differs between {_sizes(result)}. {_units(result.findings)}"
    else:
        selection = result.selection
        headings = ["Variable", "Weight", "What differs", x, y, r"Size [95\,\% CI]", "$p$"]
        cells = [
            [escaped(name), number(weight, ".3f"), *_of_variable(name, selection.changes.get(name))]
            for name, weight in selection.weights.items()
        ]
        table = LatexTable("lrlrrlr", headings, cells)
        kinds = [selection.changes[n] for n in selection.weights if n in selection.changes]
        own = f"Variables that tell {_sizes(result)} apart. {_units(kinds)}"
    return table.write(own.strip() if caption is None else caption, label)


def _is_nothing(cell: object) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def _sizes(result: TestResult) -> str:
    (x, y), (n_x, n_y) = map(escaped, result.labels), result.n_test
    return f"{x} ($n = {n_x}$) and {y} ($n = {n_y}$)"


def _units(findings: Sequence[Finding]) -> str:
    """Say what the sizes are and what the p-values are adjusted for."""
    kinds = {finding.kind for finding in findings}
    parts = []
    if LOCATION in kinds:
        parts.append("differences of means in standard deviations within the samples")
    if SPREAD in kinds:
        parts.append("ratios of standard deviations")
    if kinds - {LOCATION, SPREAD}:
        parts.append("differences of what is named" if parts else "differences")
    said = f"Sizes: {'; '.join(parts)}, with 95\\,\\% bootstrap intervals." if parts else ""
    if kinds & {LOCATION, SPREAD}:
        said += f" Values are clipped at {CLIP:g} robust standard deviations from the median."
    tested = any(not math.isnan(finding.pvalue) for finding in findings)
    return f"{said} The $p$-values are adjusted." if tested else said


def _of_variable(name: str, change: Finding | None) -> list[str]:
    if change is None:
        return ["--"] * 5
    others = [other for other in change.variables if other != name]
    what, *rest = _cells(change)
    return [f"{what} with {', '.join(map(escaped, others))}" if others else what, *rest]


def _cells(found: Finding) -> list[str]:
    """Return what differs, its value in both samples, its size with the interval, and p."""
    share = found.kind == SHARE or found.measure.startswith("share")
    form = ".2f" if found.kind in (LOCATION, SPREAD) else f".{found.decimals}f"
    low, high = (number(end, form) for end in found.interval)
    of_samples = form if not (share or found.kind in (LOCATION, SPREAD)) else ".4g"
    values = [number(value, ".2f" if share else of_samples) for value in found.values]
    size = f"{number(found.effect, form)} [{low}, {high}]"
    return [escaped(found.measure), *values, size, number(found.pvalue, ".3g")]
