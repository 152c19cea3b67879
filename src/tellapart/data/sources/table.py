"""Tables to hand back: pandas, polars or pyarrow, as the user has them."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa


def make_frame(columns: Mapping[str, Sequence[Any]], library: str | None = None) -> Any:
    """Return a table of named columns.

    `library` is "pandas", "polars" or "pyarrow"; for any other it is pandas, or pyarrow where
    pandas is not installed.
    """
    table = pa.table({name: list(values) for name, values in columns.items()})
    if library not in ("pandas", "polars", "pyarrow"):
        library = "pandas" if importlib.util.find_spec("pandas") else "pyarrow"
    if library == "polars":
        import polars

        return polars.from_arrow(table)
    return table.to_pandas() if library == "pandas" else table


# What messages call the data that came: its package and type, and names of columns.


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
