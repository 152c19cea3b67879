"""The page of a comparison of groups: a table of all, and a section for each."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from tellapart.groups.result import GroupsResult
from tellapart.report.svg import draws, figures, inline_svg
from tellapart.report.templates import render
from tellapart.report.words import describe_variables
from tellapart.results.columns import ColumnSummary
from tellapart.results.result import design_arguments, write_arguments
from tellapart.results.story import SELECTION_BIAS
from tellapart.two_sample.settings import TestSettings

# Findings of two groups, one line each.
MOST_FINDINGS = 8


def render_groups(
    result: GroupsResult,
    summaries: Sequence[Sequence[ColumnSummary]],
    reproduce: str | None = None,
) -> str:
    """Return the page of a comparison of groups, which needs nothing else.

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
    return render(
        "groups.html.j2",
        style="groups.css",
        result=result,
        sections=sections,
        figure=_figure(result),
        facts=_facts(result),
        most_findings=MOST_FINDINGS,
        selection_bias=SELECTION_BIAS,
        reproduce=python_call(result) if reproduce is None else reproduce,
    )


def python_call(result: GroupsResult) -> str:
    """Return the call that gives this result: only what is not the default."""
    usual = {
        **TestSettings().to_dict(),
        "mode": "one-versus-rest",
        "missing": "error",
        "smallest_effect": None,
    }
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
    if not (profile.variables and draws()):
        return None
    parts = []
    for name, effects in zip(profile.variables, profile.effects, strict=True):
        most = int(abs(effects).argmax())
        word = "higher" if effects[most] > 0 else "lower"
        parts.append(f"{name} is {word} in {profile.groups[most]}")
    title = "Selected variables in every group"
    return inline_svg(figures.page_profile(profile), "profile", title, "; ".join(parts))


def _facts(result: GroupsResult) -> list[tuple[str, str]]:
    sizes = ", ".join(f"{label}: {size:,}" for label, size in result.sizes.items())
    mode = "every pair" if result.mode == "pairwise" else "each group against the rest"
    kernels = ", ".join(sorted({c.result.selection.kernel for c in result.comparisons}))
    return [
        ("Groups", f"{len(result.sizes):,} values of {result.by}"),
        ("Group sizes", sizes),
        ("Columns compared", f"{result.n_columns:,}"),
        ("Comparisons", f"{len(result.comparisons):,}, {mode}"),
        ("Familywise level α", f"{result.alpha:g}"),
        ("Permutations", f"{result.settings['n_permutations']:,} per comparison at most"),
        ("Kernel", kernels),
        ("Seed", str(result.settings["random_state"])),
        ("Time taken", f"{result.seconds:.1f} s"),
    ]
