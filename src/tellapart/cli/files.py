"""What a command reads: files, or standard input for `-`."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tellapart.budget import current_budget
from tellapart.errors import InputError
from tellapart.writing import check_targets, check_writable, write_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STANDARD_INPUT = "-"
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
# What a test of numbers in memory takes at its peak, as a multiple of them.
TIMES_IN_MEMORY = 4


def read_input(path: str, form: str | None) -> Any:
    """Read a file, or standard input for `-`, which is CSV unless the format says otherwise."""
    # Arrow takes a while to load: completions and help do without.
    from tellapart.data.sources.files import read_stream, read_table

    if path != STANDARD_INPUT:
        return read_table(path, form)
    if sys.stdin is None:
        raise InputError("standard input: expected a table from a pipe or a file; it is closed")
    if sys.stdin.isatty():
        raise InputError("standard input: expected a table from a pipe or a file; got a terminal")
    return read_stream(sys.stdin.buffer, form or "csv")


def open_inputs(
    paths: Sequence[str],
    form: str | None,
    memory_budget: float | None = None,
    *,
    in_memory: bool = False,
) -> list[Any]:
    """Read files; open folders, patterns and what is large together, to be read block by block.

    With `in_memory` files are read whatever their size.
    """
    from tellapart.data.sources.files import open_dataset

    large = not in_memory and are_large(paths, form, memory_budget)
    return [
        open_dataset(path, form=form)
        if is_several(path) or (large and _has_blocks(path, form))
        else read_input(path, form)
        for path in paths
    ]


def are_large(paths: Sequence[str], form: str | None, memory_budget: float | None) -> bool:
    """Say whether files hold too much for memory, by the size of the numbers in them."""
    from tellapart.data.sources.files import bytes_in_memory

    most: float = current_budget().file_bytes_in_memory
    if memory_budget is not None:
        most = min(most, memory_budget / TIMES_IN_MEMORY)
    return sum(bytes_in_memory(path, form) for path in paths if _has_blocks(path, form)) > most


def _has_blocks(path: str, form: str | None) -> bool:
    """Say whether a path is a file that can be read block by block; AnnData is read as a whole."""
    return os.path.isfile(path) and "h5ad" not in (form, path.lower()[-4:])


def is_several(path: str) -> bool:
    """Say whether a path is a folder, or a pattern that no file is called by."""
    from tellapart.data.sources.files import is_pattern

    return os.path.isdir(path) or is_pattern(path)


def files_of(*paths: str | None) -> list[str | int]:
    """Return the files to read: their paths, and the descriptor of standard input for `-`."""
    from tellapart.data.sources.files import files_in, files_matching, is_pattern

    named = [path for path in paths if path and path != STANDARD_INPUT]
    files: list[str | int] = []
    for path in named:
        if os.path.isdir(path):
            files.extend(files_in(path))
        else:
            files.extend(files_matching(path) if is_pattern(path) else [path])
    if STANDARD_INPUT in paths and sys.stdin is not None:
        with suppress(AttributeError, OSError):  # a stream that no file is behind
            files.append(sys.stdin.fileno())
    return files


def title_of(path: str) -> str:
    """Return what to call the data of a file: its name without folder and ending."""
    if path == STANDARD_INPUT:
        return "standard input"
    if is_several(path) and not os.path.isdir(path):
        return path
    name = Path(path)
    return Path(name.stem).stem if name.suffix.lower() in COMPRESSED else name.stem


# What a command writes: checked before any work is done.


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
