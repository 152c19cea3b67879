"""Row labels that were saved as a column: told from data, left out, and remembered by the table.

pandas and R write them as a first column without a name, or under a name of their own. They would
tell any two files apart, and mean nothing. A table that was read says in the metadata of its schema
which columns it left behind, so that results can tell.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from tellapart.errors import warn_caller

# How pandas names a row index that it writes into a Parquet or Feather file.
PANDAS_INDEX = "__index_level_"
_KEY = b"tellapart.row_labels"


def row_labels(names: Sequence[str]) -> list[str]:
    """Return the columns that are saved row labels.

    >>> row_labels(["", "age", "__index_level_0__"]), row_labels(["age", " "])
    (['', '__index_level_0__'], [])
    """
    return [
        name
        for place, name in enumerate(names)
        if (place == 0 and not name.strip()) or name.startswith(PANDAS_INDEX)
    ]


def warn_of_row_labels(title: str, labels: Iterable[str]) -> None:
    """Warn of columns that are left out since they are taken for row labels."""
    listed = ", ".join(map(repr, labels))
    if listed:
        warn_caller(f"{title}: column {listed} is taken for row labels and left out")


def without_row_labels(title: str, table: pa.Table) -> pa.Table:
    """Return a table without its saved row labels, of which it warns and remembers the names."""
    labels = row_labels(table.column_names)
    told = {key: value for key, value in (table.schema.metadata or {}).items() if key != _KEY}
    if labels:
        warn_of_row_labels(title, labels)
        told[_KEY] = json.dumps(labels).encode()
        gone = set(labels)
        places = [s for s, name in enumerate(table.column_names) if name not in gone]
        table = table.select(places)
    return table.replace_schema_metadata(told or None)


def remembered(table: Any) -> tuple[str, ...]:
    """Return the row labels that a table left behind when it was read.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True):
    ...     table = without_row_labels("a.csv", pa.table({"": [1, 2], "age": [31, 47]}))
    >>> table.column_names, remembered(table)
    (['age'], ('',))
    """
    if not isinstance(table, pa.Table):
        return ()
    return tuple(json.loads((table.schema.metadata or {}).get(_KEY, b"[]")))
