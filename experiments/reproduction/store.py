"""Rows on file: what an experiment measured, added as it comes and never measured twice."""

from __future__ import annotations

import csv
import io
import os
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
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


# What an experiment is: a plan of trials, how one is measured, and how rows are drawn.


ALPHA = 0.05


@dataclass(frozen=True)
class Scale:
    """How much to measure.

    Attributes
    ----------
    quick : bool
        Tiny samples: to see that everything runs, not to learn anything.
    trials : int or None
        The most trials of any setting; None leaves it to the experiment.
    data : Path or None
        Folder of the real data; None takes what scikit-learn bundles.
    methods : tuple of str
        Only these methods; empty for all.
    """

    quick: bool = False
    trials: int | None = None
    data: Path | None = None
    methods: tuple[str, ...] = ()

    def count(self, full: int, quick: int = 2) -> int:
        """Return the number of trials: that of a full or of a quick run, at most `trials`."""
        wanted = quick if self.quick else full
        return wanted if self.trials is None else min(wanted, self.trials)

    def chosen(self, names: Iterable[str]) -> list[str]:
        """Return the names that were asked for, in their own order."""
        return [name for name in names if not self.methods or name in self.methods]


@dataclass(frozen=True)
class Experiment:
    """One table or figure.

    Attributes
    ----------
    name : str
        On the command line, and of the files.
    file : str
        Name of the file of rows, which two experiments may share.
    title : str
        What it shows, in a few words.
    keys, values : tuple of str
        Columns of the rows: which trial, and what was measured.
    plan : callable
        From a `Scale` to the keys of all trials, in the order to measure them.
    measure : callable
        From the keys of one trial and the folder of data to its rows. Runs in a process of its
        own, so it is a function of a module. A trial may give several rows, all with its keys.
    draw : callable
        From all rows and a folder to the files drawn there: figures, tables.
    """

    name: str
    file: str
    title: str
    keys: tuple[str, ...]
    values: tuple[str, ...]
    plan: Callable[[Scale], Iterable[Row]]
    measure: Callable[[Row, Path | None], list[Row]]
    draw: Callable[[Sequence[Row], Path], list[Path]]

    def store(self, folder: Path) -> Store:
        """Return the rows of this experiment in a folder of results."""
        return Store(folder / f"{self.file}.csv", self.keys, self.values)


def seed_of(*names: object) -> int:
    """Return the seed of a trial by what it is called: the same for every method.

    >>> seed_of("power", "laplace", 50, 0) == seed_of("power", "laplace", "50", "0")
    True
    """
    return zlib.crc32("/".join(map(str, names)).encode("utf-8"))
