"""The files that a command reads, or standard input for `-`, and those that it writes."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tellapart.budget import current_budget
from tellapart.errors import InputError
from tellapart.optional import is_installed, missing
from tellapart.writing import check_targets, check_writable, write_picture

STANDARD_INPUT = STANDARD_OUTPUT = "-"
FIGURE_ENDINGS = (".png", ".pdf", ".svg")
TABLE_ENDINGS = (".csv", ".tex", ".html")
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
TIMES_IN_MEMORY = 4
"""What a test of numbers in memory takes at its peak, as a multiple of them."""


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
    """Return whether files hold too much for memory, by the size of the numbers in them."""
    from tellapart.data.sources.files import bytes_in_memory

    most: float = current_budget().file_bytes_in_memory
    if memory_budget is not None:
        most = min(most, memory_budget / TIMES_IN_MEMORY)
    return sum(bytes_in_memory(path, form) for path in paths if _has_blocks(path, form)) > most


def _has_blocks(path: str, form: str | None) -> bool:
    """Return whether a file can be read block by block; AnnData is read as a whole."""
    return os.path.isfile(path) and "h5ad" not in (form, path.lower()[-4:])


def is_several(path: str) -> bool:
    """Return whether a path is a folder, or a pattern that is not the name of a file."""
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
    """Return the label of the data of a file: its name without folder and ending."""
    if path == STANDARD_INPUT:
        return "standard input"
    if is_several(path) and not os.path.isdir(path):
        return path
    name = Path(path)
    return Path(name.stem).stem if name.suffix.lower() in COMPRESSED else name.stem


@dataclass(frozen=True)
class Outputs:
    """The files that a command writes, all checked before any work is done.

    Attributes
    ----------
    paths : mapping from str to Path
        The requested files, by the name of their option.
    json_to_stdout : bool
        Whether standard output gets the JSON.
    show : bool
        Whether standard output gets the answer in words.
    progress : bool
        Whether standard error shows the progress.
    """

    paths: Mapping[str, Path]
    json_to_stdout: bool = False
    show: bool = True
    progress: bool = False

    def write(
        self, result: Any, reproduce: str | None = None, **arguments: Mapping[str, Any]
    ) -> None:
        """Write the requested files; `reproduce` is the command that the report gives.

        `arguments` are those of the methods that write, by the name of their option.
        """
        if "plot" in self.paths:
            write_picture(self.paths["plot"], result.plot(), dpi=150)
        exports = {"csv": "to_csv", "latex": "to_latex", "figure": "figure", "json": "to_json"}
        exports["prometheus"] = "to_prometheus"
        for name, method in exports.items():
            if name in self.paths:
                getattr(result, method)(self.paths[name], **arguments.get(name, {}))
        if "table" in self.paths:
            write_table(result, self.paths["table"], **arguments.get("table", {}))
        if self.json_to_stdout:
            sys.stdout.write(f"{result.to_json()}\n")
        if "report" in self.paths:
            result.to_html(self.paths["report"], reproduce=reproduce)


def write_table(result: Any, path: Path, log2_fold_change: str | None) -> None:
    """Write all columns: their numbers in full (.csv), or as Table 1 of a paper (.tex, .html)."""
    if path.suffix.lower() == ".csv":
        result.to_csv(path, what="columns", log2_fold_change=log2_fold_change or False)
    elif path.suffix.lower() == ".tex":
        result.table_one().to_latex(path)
    else:
        result.table_one().to_html(path)


def check_outputs(
    *, inputs: Iterable[str | int] = (), quiet: bool = False, **paths: str | None
) -> Outputs:
    """Check where to write before any work is done; with `quiet`, no warning is shown either.

    `paths` are the outputs by the name of their option; `inputs` are the files that are read:
    nothing is written over them.
    """
    requested = {name: path for name, path in paths.items() if path is not None}
    endings = {"plot": FIGURE_ENDINGS, "figure": FIGURE_ENDINGS, "table": TABLE_ENDINGS}
    for name, allowed in endings.items():
        path = requested.get(name)
        if path is not None and not path.lower().endswith(allowed):
            raise InputError(f"--{name} must end in {', '.join(allowed)}; got {path!r}")
        if path is not None and name != "table" and not is_installed("matplotlib"):
            raise missing(f"--{name}", "matplotlib", "plot")
    to_stdout = requested.get("json") == STANDARD_OUTPUT
    if to_stdout:
        del requested["json"]
    for name, path in requested.items():
        if path == STANDARD_OUTPUT:
            raise InputError(f"--{name} must be the path of a file; only --json takes '-'")
    if quiet:
        warnings.simplefilter("ignore")
    check_targets({f"--{name}": path for name, path in requested.items()}, inputs)
    return Outputs(
        {name: check_writable(f"--{name}", path) for name, path in requested.items()},
        json_to_stdout=to_stdout,
        show=not (quiet or to_stdout),
        progress=not quiet and sys.stderr.isatty(),
    )
