"""The tables of a result for a paper: findings or selected variables, as CSV and for LaTeX."""

from __future__ import annotations

import csv
import io
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tellapart.arguments import check_choice
from tellapart.data.columns import looks_numeric
from tellapart.errors import InputError
from tellapart.groups.result import GroupsResult
from tellapart.results.result import TestResult
from tellapart.results.story import describe_selection
from tellapart.scan.finding import Finding, finding_rows, pvalue_cell, without_p
from tellapart.scan.finding_kinds import POINTS, SD_RATIO, SMD, percent_text
from tellapart.selection.selection import COLUMNS, variable_rows
from tellapart.text import listed, number_pair, safe

# Tables for LaTeX: booktabs rules, and every text from the data escaped.


_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",  # a straight one needs an encoding that a plain document has not
    "−": r"\ensuremath{-}",
    "±": r"\ensuremath{\pm}",
    "×": r"\ensuremath{\times}",
    "²": r"\ensuremath{^2}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
    "∞": r"\ensuremath{\infty}",
    "–": "--",
    "\N{NO-BREAK SPACE}": "~",
}
# Unicode's name of a letter ends in LaTeX's command for it, but for one.
_GREEK = "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ"
for _letter in _GREEK:
    _name = unicodedata.name(_letter).split()[-1].replace("LAMDA", "LAMBDA")
    _SPECIAL[_letter] = f"\\ensuremath{{\\{_name.lower() if _letter.islower() else _name.title()}}}"
_ANY_SPECIAL = re.compile("|".join(map(re.escape, _SPECIAL)))
# A backslash with what it escapes, or what ends an argument too soon.
_ENDING = re.compile(r"\\.|[{}%]", re.DOTALL)


def escaped(text: object) -> str:
    r"""Return text that LaTeX sets as it is.

    Examples
    --------
    >>> print(escaped("50 % of a_b & c\\d"))
    50 \% of a\_b \& c\textbackslash{}d
    """
    return _ANY_SPECIAL.sub(lambda match: _SPECIAL[match.group()], safe(text))


def check_latex(name: str, text: object) -> str | None:
    r"""Return LaTeX that a user wrote, if it can stand in an argument; None if there is none.

    A % or an unmatched brace would take the rest of the table with it, and break the document far
    from here. What else it does is the writer's business.

    Examples
    --------
    >>> check_latex("caption", r"Sizes $\geq 50\,\%$ of \textbf{all}.")
    'Sizes $\\geq 50\\,\\%$ of \\textbf{all}.'
    >>> check_latex("caption", "50 % of all")
    Traceback (most recent call last):
    ...
    tellapart.errors.InputError: caption must be LaTeX without comments; got '50 % of all':
    write \%
    """
    if text is None:
        return None
    if not isinstance(text, str):
        raise InputError(f"{name} must be LaTeX, as text, or None; got {text!r}")
    marks = [mark for mark in _ENDING.findall(text) if mark in "{}%"]
    if "%" in marks:
        raise InputError(f"{name} must be LaTeX without comments; got {text!r}: write \\%")
    depth = 0
    for mark in marks:
        depth += 1 if mark == "{" else -1
        if depth < 0:
            break
    if depth != 0:
        raise InputError(f"{name} must be LaTeX with matching braces; got {text!r}")
    return text


def number(value: float, form: str) -> str:
    """Return a number with a true minus sign; a dash where there is none.

    Examples
    --------
    >>> number(-0.051, ".2f"), number(float("nan"), ".2f")
    ('$-0.05$', '--')
    """
    if math.isnan(value):
        return "--"
    if math.isinf(value):
        return r"$\infty$" if value > 0 else r"$-\infty$"
    text = format(value, form)
    if "e" in text:
        mantissa, _, power = text.partition("e")
        return f"${mantissa} \\times 10^{{{int(power)}}}$"
    return f"${text}$" if text.startswith("-") else text


@dataclass(frozen=True)
class LatexTable:
    """A table: headings and cells are LaTeX already, `columns` is one letter for each column."""

    columns: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]

    def write(self, caption: str, label: str | None = None) -> str:
        r"""Return the table as a float that needs the package booktabs alone.

        Examples
        --------
        >>> print(LatexTable("lr", ["a", "b"], [["x", "1"]]).write("Two.", "tab:two"))
        \begin{table}
          \centering
          \caption{Two.}
          \label{tab:two}
          \begin{tabular}{lr}
            \toprule
            a & b \\
            \midrule
            x & 1 \\
            \bottomrule
          \end{tabular}
        \end{table}
        """
        lines = [r"\begin{table}", r"  \centering"]
        if caption:
            lines.append(rf"  \caption{{{caption}}}")
        if label:
            lines.append(rf"  \label{{{label}}}")
        lines += [rf"  \begin{{tabular}}{{{self.columns}}}", r"    \toprule", _row(self.headings)]
        lines += [r"    \midrule", *map(_row, self.rows), r"    \bottomrule"]
        return "\n".join([*lines, r"  \end{tabular}", r"\end{table}"])


def _row(cells: Sequence[str]) -> str:
    # An opening bracket after \\ would be taken for its argument.
    guarded = [f"{{}}{cell}" if cell.startswith("[") else cell for cell in cells]
    return f"    {' & '.join(guarded)} \\\\"


AUTO, FINDINGS, VARIABLES = "auto", "findings", "variables"
TABLES = (AUTO, FINDINGS, VARIABLES)


def which_table(result: TestResult, what: object) -> str:
    """Return the requested table; "auto" is the findings of a scan, else the selected variables."""
    table = check_choice("what", what, TABLES)
    if table != AUTO:
        return table
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
    """Return the findings or the selected variables as a LaTeX table.

    A caption of None is replaced by one that describes the table and the samples.
    """
    caption, label = check_latex("caption", caption), check_latex("label", label)
    x, y = map(escaped, result.labels)
    if which_table(result, what) == FINDINGS:
        headings = ["Variables", "Measure", x, y, r"Effect [95\,\% CI]", "$p$"]
        cells = [
            [", ".join(map(escaped, finding.variables)), *_cells(finding)]
            for finding in result.findings
        ]
        table = LatexTable("llrrlr", headings, cells)
        default = f"{_lead(result, 'Significant differences between')}. {_units(result.findings)}"
    else:
        selection = result.selection
        headings = ["Variable", "Weight", "Measure", x, y, r"Effect [95\,\% CI]", "$p$"]
        cells = [
            [escaped(name), number(weight, ".3f"), *_of_variable(name, selection.changes.get(name))]
            for name, weight in selection.weights.items()
        ]
        table = LatexTable("lrlrrlr", headings, cells)
        kinds = [selection.changes[n] for n in selection.weights if n in selection.changes]
        caveat = describe_selection(result).replace(" below", "")
        note = f" {escaped(caveat)}." if caveat and result.reject else ""
        default = f"{_lead(result, 'Selected variables of')}.{note} {_units(kinds)}"
    return table.write(default.strip() if caption is None else caption, label)


def _is_nothing(cell: object) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def _lead(result: TestResult, what: str) -> str:
    """Return what a table shows; where the test does not reject, that comes first."""
    (x, y), (n_x, n_y) = map(escaped, result.labels), result.n_test
    samples = f"{x} ($n = {n_x}$) and {y} ($n = {n_y}$)"
    p = f"{escaped(result.pvalue_text)}, {escaped('α')} = {result.alpha:g}"
    if result.reject:
        return f"{what} {samples}; {p}"
    lead = f"No significant difference between {samples} ({p})"
    return f"{lead}; the variables are the best of what may be noise" if "elected" in what else lead


def _units(findings: Sequence[Finding]) -> str:
    """Return what the effects are, and that p-values are adjusted."""
    scales = {finding.scale for finding in findings}
    parts = []
    if SMD in scales:
        parts.append("standardised mean differences (Hedges' $g$)")
    if SD_RATIO in scales:
        parts.append("ratios of standard deviations")
    if POINTS in scales:
        parts.append("differences of proportions in percentage points (pp)")
    if scales - {SMD, SD_RATIO, POINTS}:
        parts.append("differences of the measure")
    text = f"Effects: {'; '.join(parts)}." if parts else ""
    tested = any(not math.isnan(finding.pvalue) for finding in findings)
    return f"{text} The $p$-values are adjusted." if tested else text


def _of_variable(name: str, change: Finding | None) -> list[str]:
    if change is None:
        return ["--"] * 5
    others = [other for other in change.variables if other != name]
    what, *rest = _cells(change)
    return [f"{what} with {', '.join(map(escaped, others))}" if others else what, *rest]


def _cells(finding: Finding) -> list[str]:
    """Return the measure, its value in both samples, the effect with its interval, and p."""
    scale = finding.scale
    effect, low, high = (
        "--" if math.isnan(value) else escaped(scale.number(value, finding.decimals, sign=False))
        for value in (finding.effect, *finding.interval)
    )
    if scale is POINTS:
        values = [escaped(percent_text(value)).replace(" ", r"\,") for value in finding.values]
    else:
        values = ["--" if "nan" in text else escaped(text) for text in number_pair(*finding.values)]
    unit = " pp" if scale is POINTS else ""
    size = f"{effect}{unit} [{low}, {high}]"
    return [
        escaped(finding.measure),
        *values,
        size,
        escaped(finding.pvalue_cell()),
    ]


# The tables of a comparison of groups for a paper: as CSV and for LaTeX.


COMPARISONS, COLUMNS_TABLE = "comparisons", "columns"
MOST_VARIABLES = 5
"""Variables that a cell names."""


def groups_csv(result: GroupsResult, what: object) -> str:
    """Return the comparisons, or the selected variables of all of them, as CSV."""
    if check_choice("what", what, (COMPARISONS, VARIABLES, COLUMNS_TABLE)) == VARIABLES:
        return write_csv(_all_variables(result))
    rows = [comparison.to_dict() for comparison in result.comparisons]
    return write_csv({key: [_flat(row[key]) for row in rows] for key in rows[0]})


def groups_latex(result: GroupsResult, caption: str | None, label: str | None) -> str:
    """Return the comparisons as a LaTeX table, with the variables of the largest weights."""
    caption, label = check_latex("caption", caption), check_latex("label", label)
    headings = ["Group", "Against", "$n$", "$p$", "Adjusted $p$", "Variables"]
    cells = [
        [
            escaped(c.group),
            escaped(c.against),
            f"{c.n_rows[0]}, {c.n_rows[1]}",
            escaped(pvalue_cell(c.pvalue, c.result.pvalue_floor)),
            escaped(without_p(c.adjusted_text)),
            escaped(listed(c.variables, MOST_VARIABLES)) if c.reject else "--",
        ]
        for c in result.comparisons
    ]
    default = (
        f"Comparisons of groups of {escaped(result.by)}: unadjusted and Holm-adjusted "
        f"$p$-values ({escaped('α')} = {result.alpha:g}), and the selected variables of groups "
        "that differ significantly, the largest weight first."
    )
    table = LatexTable("llrrrl", headings, cells)
    return table.write(default if caption is None else caption, label)


def _all_variables(result: GroupsResult) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {key: [] for key in ("group", "against", "adjusted_pvalue")}
    columns |= {key: [] for key in COLUMNS}
    for comparison in result.comparisons:
        rows = variable_rows(comparison.result.selection)
        count = len(rows["variable"])
        columns["group"] += [comparison.group] * count
        columns["against"] += [comparison.against] * count
        columns["adjusted_pvalue"] += [comparison.adjusted_pvalue] * count
        for key, values in rows.items():
            columns[key] += values
    return columns


def _flat(cell: object) -> object:
    return "; ".join(map(str, cell)) if isinstance(cell, list) else cell
