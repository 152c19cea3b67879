"""What a command reads: files, or standard input for `-`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tellapart.errors import InputError

STANDARD_INPUT = "-"
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
# Files whose numbers take more than this in memory are read block by block.
LARGE_BYTES = 1 << 30
# What a test of numbers in memory takes at its peak, as a multiple of them.
TIMES_IN_MEMORY = 4


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
    from tellapart.data.chunks.open_dataset import open_dataset

    large = not in_memory and are_large(paths, form, memory_budget)
    return [
        open_dataset(path, form=form)
        if is_several(path) or (large and _has_blocks(path, form))
        else read_input(path, form)
        for path in paths
    ]


def are_large(paths: Sequence[str], form: str | None, memory_budget: float | None) -> bool:
    """Say whether files hold too much for memory, by the size of the numbers in them."""
    from tellapart.data.files import bytes_in_memory

    most: float = LARGE_BYTES
    if memory_budget is not None:
        most = min(most, memory_budget / TIMES_IN_MEMORY)
    return sum(bytes_in_memory(path, form) for path in paths if _has_blocks(path, form)) > most


def _has_blocks(path: str, form: str | None) -> bool:
    """Say whether a path is a file that can be read block by block; AnnData is read as a whole."""
    return os.path.isfile(path) and "h5ad" not in (form, path.lower()[-4:])


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
