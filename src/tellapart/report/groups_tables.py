"""The tables of a comparison of groups for a paper: as CSV and for LaTeX."""

from __future__ import annotations

from typing import Any

from tellapart.arguments import check_choice
from tellapart.report.findings import pvalue_cell
from tellapart.report.latex import LatexTable, check_latex, escaped
from tellapart.report.paper_tables import write_csv
from tellapart.selection.frame import COLUMNS, variable_rows
from tellapart.testing.groups_result import GroupsResult

COMPARISONS, VARIABLES = "comparisons", "variables"
MOST_VARIABLES = 5
"""Variables that a cell names."""


def groups_csv(result: GroupsResult, what: object) -> str:
    """Return the comparisons, or the selected variables of all of them, as CSV."""
    if check_choice("what", what, (COMPARISONS, VARIABLES)) == VARIABLES:
        return write_csv(_variables(result))
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
            escaped(c.adjusted_text.removeprefix("p ").removeprefix("= ")),
            _heaviest(c.variables) if c.reject else "--",
        ]
        for c in result.comparisons
    ]
    own = (
        f"Comparisons of groups of {escaped(result.by)}: unadjusted and Holm-adjusted "
        f"$p$-values ({escaped('α')} = {result.alpha:g}), and the selected variables of groups "
        "that differ significantly, the largest weight first."
    )
    table = LatexTable("llrrrl", headings, cells)
    return table.write(own if caption is None else caption, label)


def _variables(result: GroupsResult) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {key: [] for key in ("group", "against", "adjusted_pvalue")}
    columns |= {key: [] for key in COLUMNS}
    for comparison in result.comparisons:
        own = variable_rows(comparison.result.selection)
        count = len(own["variable"])
        columns["group"] += [comparison.group] * count
        columns["against"] += [comparison.against] * count
        columns["adjusted_pvalue"] += [comparison.adjusted_pvalue] * count
        for key, values in own.items():
            columns[key] += values
    return columns


def _flat(cell: object) -> object:
    return "; ".join(map(str, cell)) if isinstance(cell, list) else cell


def _heaviest(names: tuple[str, ...]) -> str:
    shown = ", ".join(map(escaped, names[:MOST_VARIABLES]))
    more = len(names) - MOST_VARIABLES
    return f"{shown} and {more} more" if more > 0 else shown
