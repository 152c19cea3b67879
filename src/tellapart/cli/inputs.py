"""What a command reads: files, or standard input for `-`."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from tellapart.errors import InputError

STANDARD_INPUT = "-"


def read_input(path: str, form: str | None) -> Any:
    """Read a file, or standard input for `-`, which is CSV unless the format says otherwise."""
    # Arrow takes a while to load: completions and help do without.
    from tellapart.data.files import read_stream, read_table

    if path != STANDARD_INPUT:
        return read_table(path, form)
    if sys.stdin is None:
        raise InputError("standard input: expected a table from a pipe or a file; it is closed")
    if sys.stdin.isatty():
        raise InputError("standard input: expected a table from a pipe or a file; got a terminal")
    return read_stream(sys.stdin.buffer, form or "csv")


def files_of(*paths: str | None) -> list[str | int]:
    """Return the files to read: their paths, and the descriptor of standard input for `-`."""
    files: list[str | int] = [path for path in paths if path and path != STANDARD_INPUT]
    if STANDARD_INPUT in paths and sys.stdin is not None:
        with suppress(AttributeError, OSError):  # a stream that no file is behind
            files.append(sys.stdin.fileno())
    return files


def title_of(path: str) -> str:
    """Return what to call the data of a file: its name without folder and ending."""
    return "standard input" if path == STANDARD_INPUT else Path(path).stem
