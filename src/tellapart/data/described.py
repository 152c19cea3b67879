"""What messages call the data that came: its package and type, and names of columns."""

from __future__ import annotations

from collections.abc import Iterable

EXPECTED = (
    "a 2-dimensional array, a SciPy sparse matrix, a pandas, polars or pyarrow table, or AnnData"
)
MOST_NAMED = 5


def described(data: object) -> str:
    """Return what messages call an object: its package and type."""
    package = package_of(data)
    name = type(data).__name__ if package == "builtins" else f"{package} {type(data).__name__}"
    return f"{name} {data!r}" if isinstance(data, str) else name


def quoted(names: Iterable[str]) -> str:
    """Return "'a', 'b' and 3 more"."""
    every = list(names)
    more = len(every) - MOST_NAMED
    shown = ", ".join(repr(name) for name in every[:MOST_NAMED])
    return f"{shown} and {more} more" if more > 0 else shown


def package_of(data: object) -> str:
    """Return the package that an object's type is from."""
    return type(data).__module__.partition(".")[0]
