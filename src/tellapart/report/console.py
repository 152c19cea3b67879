"""Output of the command line: tables on a terminal, plain text everywhere else."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tellapart.text import safe, safe_lines

if TYPE_CHECKING:
    from tellapart.groups.result import GroupsResult
    from tellapart.results.result import TestResult
    from tellapart.selection.selection import Selection

BAR_WIDTH = 20
WHOLE = ("rows", "adjusted p", "differ")
MOST_FINDINGS = 20
OPTIONS = "--all-findings prints all, --csv FILE writes all"


def show_result(
    result: TestResult,
    console: Console | None = None,
    *,
    all_findings: bool = False,
    rest: str = OPTIONS,
) -> None:
    """Show the verdict, the findings, the evidence and the selected variables.

    Off a terminal this is `result.summary()`: no colours, no boxes, no name cut short. `rest`
    is how to get the findings that are not shown.
    """
    out = console or Console()
    if not out.is_terminal:
        most = None if all_findings else MOST_FINDINGS
        say(result.summary(most, rest=rest), out)
        return
    # Imported here: the command line must answer `--help` without loading the library.
    from tellapart.results.story import describe_selection, describe_verdict

    verdict = describe_verdict(result, with_caveat=not result.excluded)
    out.print(_text(verdict, f"bold {_colour(result.reject)}"))
    if result.findings and result.reject:
        say(result.story()[0], out)
        out.print(findings_table(result, None if all_findings else MOST_FINDINGS, rest))
    else:
        say("\n".join(result.story()), out)
    say("\n".join(result.evidence()), out)
    caveat = describe_selection(result)
    if caveat:
        out.print(_text(f"{caveat}.", "bold"))
    out.print(weight_table(result.selection))
    say(f"Certificate: {result.selection.certificate}.", out)
    for remark in result.selection.remarks:
        say(f"{remark}.", out)


def findings_table(
    result: TestResult, most: int | None = MOST_FINDINGS, rest: str = OPTIONS
) -> Table:
    """Return the findings of a scan as a rich table: the first ones, or all if `most` is None."""
    from tellapart.report.words import describe_finding

    title = "Significant differences, most significant first"
    table = Table(title=title, title_justify="left")
    table.add_column("columns", overflow="fold")
    table.add_column("what differs", overflow="fold")
    table.add_column("effect size", overflow="fold")
    table.add_column("adjusted p", justify="right", no_wrap=True)
    for finding in result.findings[:most]:
        row = describe_finding(finding)
        size = f"{row.size} ({row.interval})" if row.interval else row.size
        table.add_row(_text(", ".join(row.variables)), _text(row.change), size, row.pvalue)
    left = len(result.findings) - table.row_count
    if left > 0:
        table.caption = f"and {left:,} more: {rest}"
        table.caption_justify = "left"
    return table


def weight_table(selection: Selection) -> Table:
    """Return the selected variables and their weights as a rich table."""
    title = (
        f"{selection.support.size} of {len(selection.names)} variables selected ({selection.maker})"
    )
    table = Table(title=_text(title), title_justify="left")
    table.add_column("variable", overflow="fold")
    table.add_column("weight", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    description = selection.description
    if any(description.values()):
        table.add_column("what differs", overflow="fold")
    for name, weight in selection.weights.items():
        bar = "█" * max(round(abs(weight) * BAR_WIDTH), 1)
        differs = [_text(description[name])] if any(description.values()) else []
        table.add_row(_text(name), f"{weight:.3f}", bar, *differs)
    return table


def show_groups(result: GroupsResult, console: Console | None = None) -> None:
    """Show the verdict and all comparisons; off a terminal this is `result.summary()`."""
    out = console or Console()
    if not out.is_terminal:
        say(result.summary(), out)
        return
    from tellapart.scan.finding import without_p

    table = Table(title=_text(result.verdict), title_justify="left")
    for heading in ("group", "against", "rows", "adjusted p", "differ", "variables"):
        # Names may be broken, numbers not.
        table.add_column(heading, overflow="fold", no_wrap=heading in WHOLE)
    for c in result.comparisons:
        table.add_row(
            _text(c.group),
            _text(c.against),
            f"{c.n_rows[0]}, {c.n_rows[1]}",
            without_p(c.adjusted_text),
            _text("yes" if c.reject else "not significant", _colour(c.reject)),
            _text(", ".join(c.variables)),
        )
    out.print(table)
    for note in result.notes():
        say(note, out)


def say(text: str, console: Console | None = None) -> None:
    """Write text to standard output as it is, but safe: nothing styled, wrapped or cut."""
    out = console or Console()
    out.print(safe_lines(text), markup=False, highlight=False, soft_wrap=True, emoji=False)


def complain(message: str) -> None:
    """Write one line to standard error; a closed stream does not change the exit status."""
    with suppress(OSError):
        sys.stderr.write(f"tellapart: {' '.join(safe(message).split())}\n")
        sys.stderr.flush()


def _text(text: str, style: str = "") -> Text:
    """Return text that is shown as it is, but safe: brackets and colons are no markup."""
    return Text(safe(text), style)


def _colour(reject: bool) -> str:
    return "green" if reject else "yellow"
