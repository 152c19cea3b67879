"""Rows on file: what an experiment measured, added as it comes and never measured twice."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tellapart.errors import InputError
from tellapart.writing import write_atomically

Row = dict[str, str]
"""One measurement; numbers as text, as they stand in the file."""
Key = tuple[str, ...]


@dataclass(frozen=True)
class Store:
    """A CSV file of rows whose first `keys` columns say which trial a row belongs to.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(Path(folder) / "coin.csv", keys=("coin", "trial"), values=("side",))
    ...     store.add([{"coin": "euro", "trial": "0", "side": "head"}])
    ...     store.done(), store.rows()
    ({('euro', '0')}, [{'coin': 'euro', 'trial': '0', 'side': 'head'}])
    """

    path: Path
    keys: tuple[str, ...]
    values: tuple[str, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        """All columns of the file."""
        return (*self.keys, *self.values)

    def rows(self) -> list[Row]:
        """Return all rows on file; none if there is no file."""
        if not self.path.exists():
            return []
        text = self.path.read_text(encoding="utf-8")
        reader = csv.DictReader(io.StringIO(_whole_lines(text)))
        found = tuple(reader.fieldnames or self.fields)
        if found != self.fields:
            raise InputError(
                f"{self.path} must have the columns {', '.join(self.fields)}; "
                f"got {', '.join(found)}"
            )
        return list(reader)

    def done(self) -> set[Key]:
        """Return the keys of all trials on file."""
        return {self.key(row) for row in self.rows()}

    def key(self, row: Mapping[str, object]) -> Key:
        """Return which trial a row belongs to."""
        return tuple(str(row[name]) for name in self.keys)

    def prepare(self) -> None:
        """Make folder and heading, and take away half a line that an interrupted run left."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        whole = _whole_lines(text) or f"{','.join(self.fields)}\n"
        if whole != text:
            write_atomically(self.path, whole.encode("utf-8"))

    def add(self, rows: Iterable[Mapping[str, object]]) -> None:
        """Add the rows of one trial in one piece, or, where the disk is full, none of them."""
        if not self.path.exists():
            self.prepare()
        lines = io.StringIO()
        writer = csv.DictWriter(lines, self.fields, lineterminator="\n")
        writer.writerows(rows)
        whole = self.path.stat().st_size
        try:
            with self.path.open("ab") as file:
                file.write(lines.getvalue().encode("utf-8"))
        except OSError as error:
            # Half of a trial's rows would pass for all of them.
            os.truncate(self.path, whole)
            reason = f"{error.strerror}; the trial was not stored"
            raise OSError(error.errno, reason, str(self.path)) from error


def _whole_lines(text: str) -> str:
    """Return the text up to its last line break."""
    return text[: text.rfind("\n") + 1]


def markdown_table(rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as a Markdown table; the keys of the first are the heading.

    >>> print(markdown_table([{"n": 50, "power": 0.9}]))
    | n | power |
    |---|---|
    | 50 | 0.9 |
    """
    heading = list(rows[0])
    lines = [f"| {' | '.join(heading)} |", f"|{'---|' * len(heading)}"]
    lines += [f"| {' | '.join(str(row[key]) for key in heading)} |" for row in rows]
    return "\n".join(lines)
