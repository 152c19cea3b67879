"""The page of a comparison of groups: a table of all, and a section for each."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from tellapart import __version__
from tellapart.report.words import Lines, describe_column
from tellapart.testing.groups_result import Comparison, GroupsResult
from tellapart.testing.settings import TestSettings

MOST_SECTIONS = 100
MOST_VARIABLES = 20


def render_groups(result: GroupsResult, reproduce: str | None = None) -> str:
    """Return the page of a comparison of groups, which needs nothing else.

    No script, no font, style or picture from elsewhere; every text from the data is escaped.

    Parameters
    ----------
    result : GroupsResult
        The result to tell of.
    reproduce : str or None
        The command or code that gives the same answer; the Python call if None.
    """
    shown = result.comparisons[:MOST_SECTIONS]
    return (
        _environment()
        .get_template("groups.html.j2")
        .render(
            result=result,
            sections=[(c, _variables(c)) for c in shown],
            facts=_facts(result),
            version=__version__,
            reproduce=python_call(result) if reproduce is None else reproduce,
        )
    )


def render_table(result: GroupsResult) -> str:
    """Return the verdict and the table of comparisons alone, for a notebook."""
    module = _environment().get_template("groups_table.html.j2").make_module()
    return str(module.comparisons(result, links=False))  # type: ignore[attr-defined]


def python_call(result: GroupsResult) -> str:
    """Return the call that gives this result: only what is not the default."""
    usual = {**TestSettings().to_dict(), "mode": "one-versus-rest", "missing": "error"}
    given = {k: v for k, v in result.settings.items() if k in usual and v != usual[k]}
    parts = [f", {k}={v if '(' in str(v) else repr(v)}" for k, v in given.items()]
    return (
        "import tellapart as ta\n\n"
        f"result = ta.compare_groups(table, by={result.by!r}{''.join(parts)})\n"
        'result.to_html("groups.html")'
    )


def _variables(comparison: Comparison) -> list[tuple[str, str, Lines, Lines]]:
    """Return name, weight and both sides of the heaviest variables."""
    result = comparison.result
    place = {result.selection.names[s]: int(s) for s in result.selection.support}
    return [
        (name, f"{weight:.3f}", *describe_column(result.held_out, place[name]))
        for name, weight in list(comparison.weights.items())[:MOST_VARIABLES]
    ]


def _facts(result: GroupsResult) -> list[tuple[str, str]]:
    sizes = ", ".join(f"{label}: {size:,}" for label, size in result.sizes.items())
    return [
        ("Groups", f"{len(result.sizes):,} values of {result.by}"),
        ("Rows of each", sizes),
        ("Columns compared", f"{result.n_columns:,}"),
        ("Comparisons", f"{len(result.comparisons):,}, {_mode(result)}"),
        ("Level of all together", f"{result.alpha:g}"),
        ("Permutations", f"{result.settings['n_permutations']:,} per comparison at most"),
        ("Kernel", _kernels(result.comparisons)),
        ("Seed", str(result.settings["random_state"])),
        ("Time taken", f"{result.seconds:.1f} s"),
    ]


def _mode(result: GroupsResult) -> str:
    return "every pair" if result.mode == "pairwise" else "each group against the rest"


def _kernels(comparisons: tuple[Comparison, ...]) -> str:
    return ", ".join(sorted({c.result.selection.kernel for c in comparisons}))


def _environment() -> Environment:
    # Autoescaping is on for every template, whatever its name ends in.
    return Environment(
        loader=PackageLoader("tellapart", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
