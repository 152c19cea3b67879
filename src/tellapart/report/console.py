"""What the command line shows: a rich table on a terminal, plain text everywhere else."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from tellapart.selection.selection import Selection
    from tellapart.testing.result import TestResult

BAR_WIDTH = 20


def show_result(result: TestResult, console: Console | None = None) -> None:
    """Show the verdict, the evidence and the chosen variables.

    Off a terminal this is `result.summary()`: no colours, no boxes, no name cut short.
    """
    out = console or Console()
    if not out.is_terminal:
        say(result.summary(), out)
        return
    colour = "green" if result.reject else "yellow"
    out.print(f"[bold {colour}]{escape(result.verdict)}[/]")
    say("\n".join(result.evidence()), out)
    out.print(weight_table(result.selection))
    say(f"Certificate: {result.selection.certificate}.", out)


def weight_table(selection: Selection) -> Table:
    """Return the chosen variables and their weights as a rich table."""
    title = f"{selection.support.size} of {len(selection.names)} variables ({selection.maker})"
    table = Table(title=title, title_justify="left")
    table.add_column("variable", overflow="fold")
    table.add_column("weight", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for name, weight in selection.weights.items():
        table.add_row(escape(name), f"{weight:.3f}", "█" * max(round(abs(weight) * BAR_WIDTH), 1))
    return table


def say(text: str, console: Console | None = None) -> None:
    """Write text to standard output as it is: nothing styled, wrapped or cut."""
    out = console or Console()
    out.print(text, markup=False, highlight=False, soft_wrap=True, emoji=False)


def complain(message: str) -> None:
    """Write one line to standard error."""
    sys.stderr.write(f"tellapart: {' '.join(message.split())}\n")


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Show each warning as one line on standard error, without the code it came from."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *_, **__: complain(f"warning: {message}")
        yield
