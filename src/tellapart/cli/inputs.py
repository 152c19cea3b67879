"""What a command reads: files, or standard input for `-`."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from tellapart.errors import InputError

STANDARD_INPUT = "-"
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
# A file of this size or more is read block by block.
LARGE_FILE_BYTES = 1 << 30


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


def open_input(path: str, form: str | None) -> Any:
    """Read a file, or open a folder, a pattern or a large file, to be read block by block."""
    from tellapart.data.chunks.open_dataset import open_dataset

    is_large = os.path.isfile(path) and os.path.getsize(path) >= LARGE_FILE_BYTES
    # AnnData is read in one piece whatever its size.
    if is_several(path) or (is_large and "h5ad" not in (form, path.lower()[-4:])):
        return open_dataset(path, form=form)
    return read_input(path, form)


def is_several(path: str) -> bool:
    """Say whether a path is a folder, or a pattern that no file is called by."""
    from tellapart.data.chunks.matching_files import is_pattern

    return os.path.isdir(path) or is_pattern(path)


def files_of(*paths: str | None) -> list[str | int]:
    """Return the files to read: their paths, and the descriptor of standard input for `-`."""
    from tellapart.data.chunks.matching_files import files_in, files_matching, is_pattern

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
