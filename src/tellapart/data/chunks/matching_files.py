"""The files in a folder, or that a pattern matches: found in a bounded walk.

Links to folders are not followed below a folder or by `**`: in a file system that describes itself
(`/proc`) they lead round in circles, and a call on "/" would never end.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path

from tellapart.errors import InputError
from tellapart.text import safe

WILD = "*?["
ANY_FOLDERS = "**"
# Files that programs leave beside the data begin so; pyarrow passes over them, too.
HIDDEN = ("_", ".")
MOST_MET = 100_000
"""Files and folders met before a walk is given up: nobody means so many."""


def is_pattern(path: str) -> bool:
    """Say whether a path is a pattern for several files, and not the name of one."""
    return any(mark in path for mark in WILD) and not os.path.exists(path)


def files_in(folder: str) -> list[str]:
    """Return the files below a folder, sorted; hidden ones and hidden folders are passed over."""
    return sorted(os.path.join(folder, *names) for names in _below(folder, HIDDEN, folder))


def files_matching(pattern: str) -> list[str]:
    """Return the files that a pattern matches, sorted; `**` stands for any folders, or none.

    >>> _matches(["**", "*.csv"], ["2024", "may", "a.csv"]), _matches(["*.csv"], [".a.csv"])
    (True, False)
    """
    every = Path(pattern).parts
    # Any folders below any folders are any folders: said once, there are fewer ways to match.
    parts = [
        part
        for k, part in enumerate(every)
        if part != ANY_FOLDERS or every[max(k - 1, 0) : k] != (ANY_FOLDERS,)
    ]
    if ANY_FOLDERS not in parts:
        found = list(islice(glob.iglob(pattern), MOST_MET + 1))
        if len(found) > MOST_MET:
            raise _too_many(pattern)
    else:
        known = next(k for k, part in enumerate(parts) if any(mark in part for mark in WILD))
        base = os.path.join(*parts[:known]) if known else ""
        if not os.path.isdir(base or "."):
            return []
        found = [
            os.path.join(base, *names)
            for names in _below(base or ".", (), pattern)
            if _matches(parts[known:], names)
        ]
    return sorted(file for file in found if os.path.isfile(file))


def _below(folder: str, hidden: tuple[str, ...], asked: str) -> Iterator[list[str]]:
    """Yield the files below a folder as the names that lead to them."""
    met = 0
    for root, folders, files in os.walk(folder):
        met += len(folders) + len(files)
        if met > MOST_MET:
            raise _too_many(asked)
        folders[:] = [name for name in folders if not name.startswith(hidden)]
        way = [] if root == folder else os.path.relpath(root, folder).split(os.sep)
        for name in files:
            if not name.startswith(hidden) and os.path.isfile(os.path.join(root, name)):
                yield [*way, name]


def _matches(parts: Sequence[str], names: Sequence[str]) -> bool:
    """Say whether names, one for each folder and the last for the file, are as a pattern says."""
    if not parts or not names:
        return not names and all(part == ANY_FOLDERS for part in parts)
    first, rest = names[0], names[1:]
    # As in a shell, a leading dot has to be asked for.
    seen = parts[0].startswith(".") or not first.startswith(".")
    if parts[0] == ANY_FOLDERS:
        return _matches(parts[1:], names) or (seen and _matches(parts, rest))
    return seen and fnmatch(first, parts[0]) and _matches(parts[1:], rest)


def _too_many(path: str) -> InputError:
    return InputError(
        f"{safe(path)}: expected a folder or a pattern of data files; got one with more than "
        f"{MOST_MET:,} files and folders to look through"
    )
