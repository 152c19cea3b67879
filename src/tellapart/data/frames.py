"""Tables to hand back: pandas, polars or pyarrow, as the user has them."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
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
