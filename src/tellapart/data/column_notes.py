"""What became of columns at the door, in words: left out, or split into parts."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tellapart.errors import warn_caller
from tellapart.optional import is_arrow, pa
from tellapart.text import listed, safe

# Lines name this many columns, then say how many more there are.
MOST_NAMED = 10
UNNAMED = "a first column without a name"


@dataclass(frozen=True)
class ColumnNotes:
    """Columns of the input that are not compared as they are, beside those that miss values.

    Attributes
    ----------
    naming_rows : mapping from str to str
        Columns excluded because they appear to be identifiers, each with the reason.
    unchosen : tuple of str
        Columns excluded by the user.
    parts : mapping from str to tuple of str
        Dates, times and durations, each with the parts that are compared in its place.
    moments : tuple of str
        Dates that a monitor leaves out: every batch has its own.
    row_labels : tuple of str
        Columns of files left out because they are row labels that were saved with the rows.
    fixed : mapping from str to tuple of str
        Columns left out because they are constant within every stratum, or every pair, and so
        cannot differ under the design: "strata" or "pairs", with the columns.
    kept : tuple of str
        Columns included by the user, although they may appear to be identifiers.

    Examples
    --------
    >>> notes = ColumnNotes({"id": "60 distinct texts in 60 rows"}, parts={"day": ("weekday",)})
    >>> for line in notes.lines():
    ...     print(line)
    Excluded: 'id' (60 distinct texts in 60 rows), which appears to be an identifier: keep=['id'] (--keep id in a shell) includes it.
    Split into parts: 'day' into weekday.
    """  # noqa: E501

    naming_rows: Mapping[str, str] = field(default_factory=dict)
    unchosen: tuple[str, ...] = ()
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    row_labels: tuple[str, ...] = ()
    moments: tuple[str, ...] = ()
    fixed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ColumnNotes:
        """Return the notes that `to_dict` was made of."""
        split = plain["split_into_parts"].items()
        return cls(
            dict(plain["naming_rows"]),
            tuple(plain["unchosen"]),
            {name: tuple(parts) for name, parts in split},
            tuple(plain["kept"]),
            tuple(plain["row_labels"]),
            tuple(plain["moments"]),
            {where: tuple(names) for where, names in plain.get("constant_within", {}).items()},
        )

    def with_fixed(self, where: str, columns: tuple[str, ...]) -> ColumnNotes:
        """Return the notes with columns that are constant within "strata" or "pairs"."""
        return replace(self, fixed={where: columns})

    def with_row_labels(self, labels: Iterable[str]) -> ColumnNotes:
        """Return the notes with more columns that are saved row labels."""
        return replace(self, row_labels=tuple(dict.fromkeys((*self.row_labels, *labels))))

    def without(self, unchosen: Iterable[str]) -> ColumnNotes:
        """Return the notes with more columns that the user excluded."""
        return replace(self, unchosen=tuple(dict.fromkeys((*self.unchosen, *unchosen))))

    @property
    def way_back(self) -> str:
        """The argument, and the options, that include columns which appear to be identifiers."""
        names = list(self.naming_rows)[:MOST_NAMED]
        # One option for each: a name may have a comma in it.
        typed = " ".join(f"--keep {shlex.quote(name)}" for name in names)
        return safe(f"keep={names!r} ({typed} in a shell)")

    def lines(self) -> list[str]:
        """Return one sentence for each thing that was done; none where nothing was."""

        def shown(entries: Iterable[str], separator: str = ", ") -> str:
            return listed(entries, MOST_NAMED, separator)

        sentences = []
        if self.naming_rows:
            one = len(self.naming_rows) == 1
            entries = [f"{name!r} ({why})" for name, why in self.naming_rows.items()]
            sentences.append(
                f"Excluded: {shown(entries)}, which "
                f"{'appears to be an identifier' if one else 'appear to be identifiers'}: "
                f"{self.way_back} includes {'it' if one else 'them'}."
            )
        if self.row_labels:
            entries = [repr(name) if name.strip() else UNNAMED for name in self.row_labels]
            sentences.append(f"Excluded: {shown(entries)}, saved row labels.")
        if self.moments:
            entries = list(map(repr, self.moments))
            sentences.append(f"Excluded: {shown(entries)}, since every batch has dates of its own.")
        for where, names in self.fixed.items():
            they = "it is constant" if len(names) == 1 else "they are constant"
            sentences.append(
                f"Excluded: {shown(map(repr, names))}: {they} within all {where}, and so cannot "
                "differ under the design."
            )
        if self.unchosen:
            sentences.append(f"Excluded by the user: {shown(map(repr, self.unchosen))}.")
        if self.parts:
            entries = [f"{name!r} into {', '.join(parts)}" for name, parts in self.parts.items()]
            sentences.append(f"Split into parts: {listed(entries, MOST_NAMED, '; ')}.")
        return [safe(line) for line in sentences]

    def to_dict(self) -> dict[str, Any]:
        """Return the notes as plain Python values."""
        return {
            "naming_rows": dict(self.naming_rows),
            "unchosen": list(self.unchosen),
            "split_into_parts": {name: list(parts) for name, parts in self.parts.items()},
            "row_labels": list(self.row_labels),
            "moments": list(self.moments),
            "constant_within": {where: list(names) for where, names in self.fixed.items()},
            "kept": list(self.kept),
        }


# Row labels that were saved as a column: recognised, left out, and remembered by the table.
#
# pandas and R write them as a first column without a name, or under a name of their own. They
# differ between any two files, and mean nothing. A table that was read says in the metadata of its
# schema which columns were left out, so that results can report them.


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
    metadata = {key: value for key, value in (table.schema.metadata or {}).items() if key != _KEY}
    if labels:
        warn_of_row_labels(title, labels)
        metadata[_KEY] = json.dumps(labels).encode()
        gone = set(labels)
        places = [s for s, name in enumerate(table.column_names) if name not in gone]
        table = table.select(places)
    return table.replace_schema_metadata(metadata or None)


def remembered(table: Any) -> tuple[str, ...]:
    """Return the row labels that a table left behind when it was read.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True):
    ...     table = without_row_labels("a.csv", pa.table({"": [1, 2], "age": [31, 47]}))
    >>> table.column_names, remembered(table)
    (['age'], ('',))
    """
    if not is_arrow(table, "Table"):
        return ()
    return tuple(json.loads((table.schema.metadata or {}).get(_KEY, b"[]")))
