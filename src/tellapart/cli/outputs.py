"""What a command writes: checked before any work is done."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tellapart.errors import InputError
from tellapart.writing import check_targets, check_writable, write_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURE_ENDINGS = (".png", ".pdf", ".svg")
STANDARD_OUTPUT = "-"


class Recorded(Protocol):
    """What can be written as JSON."""

    def to_json(self, path: Any = None) -> str:
        """Return everything as JSON, and write it."""
        ...


class Result(Recorded, Protocol):
    """What can be written: the result of a test, or of a comparison of groups."""

    def to_html(self, path: Any = None, *, reproduce: str | None = None) -> str:
        """Return the report, and write it."""
        ...


class Drawn(Protocol):
    """What can be drawn."""

    def plot(self) -> Figure:
        """Return a figure."""
        ...


class Exported(Protocol):
    """What can be put into a paper."""

    def to_csv(self, path: Any = None) -> str:
        """Return what differs as CSV, and write it."""
        ...

    def to_latex(self, path: Any = None) -> str:
        """Return what differs as a table for LaTeX, and write it."""
        ...

    def figure(self, path: Any = None) -> Figure:
        """Return a figure of one column's width, and write it."""
        ...


@dataclass(frozen=True)
class Outputs:
    """The files to write, all checked before any work is done.

    `show` says whether the answer goes to standard output in words, `progress` whether standard
    error shows how far the work is.
    """

    json: Path | None = None
    plot: Path | None = None
    report: Path | None = None
    csv: Path | None = None
    latex: Path | None = None
    figure: Path | None = None
    json_to_stdout: bool = False
    show: bool = True
    progress: bool = False

    def write(self, result: Result, reproduce: str | None = None) -> None:
        """Write what was asked for; `reproduce` is what the report says of how to repeat it."""
        self.write_json(result)
        if self.report is not None:
            result.to_html(self.report, reproduce=reproduce)

    def write_json(self, result: Recorded) -> None:
        """Write everything as JSON, if it was asked for."""
        if self.json is not None:
            result.to_json(self.json)
        if self.json_to_stdout:
            sys.stdout.write(f"{result.to_json()}\n")

    def draw(self, result: Drawn) -> None:
        """Write the figure, if one was asked for."""
        if self.plot is not None:
            write_picture(self.plot, result.plot(), dpi=150)

    def export(self, result: Exported) -> None:
        """Write what a paper is to show, if it was asked for."""
        if self.csv is not None:
            result.to_csv(self.csv)
        if self.latex is not None:
            result.to_latex(self.latex)
        if self.figure is not None:
            result.figure(self.figure)


def check_outputs(
    json: str | None,
    plot: str | None,
    report: str | None,
    *,
    csv: str | None = None,
    latex: str | None = None,
    figure: str | None = None,
    inputs: Iterable[str | int] = (),
    quiet: bool = False,
) -> Outputs:
    """Check where to write before any work is done; with `quiet`, no warning is shown either.

    `inputs` are the files that are read: nothing is written over them.
    """
    for name, path in (("--plot", plot), ("--figure", figure)):
        if path is not None and not path.lower().endswith(FIGURE_ENDINGS):
            raise InputError(f"{name} must end in {', '.join(FIGURE_ENDINGS)}; got {path!r}")
    files = {
        "--plot": plot,
        "--report": report,
        "--csv": csv,
        "--latex": latex,
        "--figure": figure,
    }
    for name, path in files.items():
        if path == STANDARD_OUTPUT:
            raise InputError(f"{name} must be the path of a file; only --json takes '-'")
    if quiet:
        warnings.simplefilter("ignore")
    to_stdout = json == STANDARD_OUTPUT
    targets = {"--json": None if to_stdout else json, **files}
    check_targets(targets, inputs)
    checked = {
        name.removeprefix("--"): None if path is None else check_writable(name, path)
        for name, path in targets.items()
    }
    return Outputs(
        **checked,
        json_to_stdout=to_stdout,
        show=not (quiet or to_stdout),
        progress=not quiet and sys.stderr.isatty(),
    )
