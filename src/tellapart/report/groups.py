"""The page of a comparison of groups: a table of all, and a section for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from tellapart import __version__
from tellapart.arguments import check_choice
from tellapart.groups.result import Comparison, GroupsResult
from tellapart.report.figures import profile_svg
from tellapart.report.tables import LatexTable, check_latex, escaped, write_csv
from tellapart.report.templates import get_template
from tellapart.report.words import describe_variables
from tellapart.results.columns import ColumnSummary
from tellapart.results.result import design_arguments, write_arguments
from tellapart.results.story import SELECTION_BIAS
from tellapart.scan.finding import pvalue_cell, without_p
from tellapart.selection.selection import COLUMNS, variable_rows
from tellapart.two_sample.settings import TestSettings

# Findings of two groups, one line each.
MOST_FINDINGS = 8


def render_groups(
    result: GroupsResult,
    summaries: Sequence[Sequence[ColumnSummary]],
    reproduce: str | None = None,
) -> str:
    """Return the page of a comparison of groups, which needs nothing else.

    No script, no font, style or picture from elsewhere; every text from the data is escaped.

    Parameters
    ----------
    result : GroupsResult
        The result to show.
    summaries : sequence of sequences of ColumnSummary
        The variables with the largest weights of the first comparisons, in numbers.
    reproduce : str or None
        The command or code that gives the same answer; the Python call if None.
    """
    sections = [
        (comparison, describe_variables(comparison.result.selection, summary))
        for comparison, summary in zip(result.comparisons, summaries, strict=False)
    ]
    return get_template("groups.html.j2").render(
        result=result,
        sections=sections,
        figure=_figure(result),
        facts=_facts(result),
        most_findings=MOST_FINDINGS,
        selection_bias=SELECTION_BIAS,
        version=__version__,
        reproduce=python_call(result) if reproduce is None else reproduce,
    )


def render_table(result: GroupsResult) -> str:
    """Return the verdict and the table of comparisons alone, for a notebook."""
    module = get_template("groups_table.html.j2").make_module()
    return str(module.comparisons(result, links=False))  # type: ignore[attr-defined]


def python_call(result: GroupsResult) -> str:
    """Return the call that gives this result: only what is not the default."""
    usual = {**TestSettings().to_dict(), "mode": "one-versus-rest", "missing": "error"}
    given = {key: value for key, value in result.settings.items() if key in usual}
    if result.column_notes.kept:
        given["keep"] = list(result.column_notes.kept)
    given |= design_arguments(result.settings, "({0}_of_rows)")
    return (
        "import tellapart as ta\n\n"
        f"result = ta.compare_groups(table, by={result.by!r}{write_arguments(given, usual)})\n"
        'result.to_html("groups.html")'
    )


def _figure(result: GroupsResult) -> Markup | None:
    profile = result.profile
    if not profile.variables:
        return None
    parts = []
    for name, effects in zip(profile.variables, profile.effects, strict=True):
        most = int(abs(effects).argmax())
        word = "higher" if effects[most] > 0 else "lower"
        parts.append(f"{name} is {word} in {profile.groups[most]}")
    return profile_svg(profile, "Selected variables in every group", "; ".join(parts))


def _facts(result: GroupsResult) -> list[tuple[str, str]]:
    sizes = ", ".join(f"{label}: {size:,}" for label, size in result.sizes.items())
    return [
        ("Groups", f"{len(result.sizes):,} values of {result.by}"),
        ("Group sizes", sizes),
        ("Columns compared", f"{result.n_columns:,}"),
        ("Comparisons", f"{len(result.comparisons):,}, {_mode(result)}"),
        ("Familywise level α", f"{result.alpha:g}"),
        ("Permutations", f"{result.settings['n_permutations']:,} per comparison at most"),
        ("Kernel", _kernels(result.comparisons)),
        ("Seed", str(result.settings["random_state"])),
        ("Time taken", f"{result.seconds:.1f} s"),
    ]


def _mode(result: GroupsResult) -> str:
    return "every pair" if result.mode == "pairwise" else "each group against the rest"


def _kernels(comparisons: tuple[Comparison, ...]) -> str:
    return ", ".join(sorted({c.result.selection.kernel for c in comparisons}))


# The tables of a comparison of groups for a paper: as CSV and for LaTeX.


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
            escaped(without_p(c.adjusted_text)),
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
